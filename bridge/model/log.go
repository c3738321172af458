package model

// Keys of log attributes, so that every package names a fact the same way.
// Note text and tokens are never logged.
const (
	LogPath    = "path"
	LogOldPath = "old_path"
	LogFolder  = "folder"
	LogDoc     = "doc"
	LogAuthor  = "author"
	LogBytes   = "bytes"
	LogEdits   = "edits"
	LogErr     = "err"
)
