package model

// Keys of log attributes, so that every package names a fact the same way.
// Note text and tokens are never logged.
const (
	LogPath   = "path"
	LogFolder = "folder"
	LogDoc    = "doc"
	LogAuthor = "author"
	LogEdits  = "edits"
	LogErr    = "err"
	LogHint   = "hint" // what to do about LogErr
)
