package model

// Keys of log attributes. Note text and tokens are never logged.
const (
	LogPath   = "path"
	LogFolder = "folder"
	LogDoc    = "doc"
	LogAuthor = "author"
	LogEdits  = "edits"
	LogErr    = "err"
	LogHint   = "hint" // next step for LogErr
)
