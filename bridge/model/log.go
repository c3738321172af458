package model

// These are the keys of log attributes. The text of notes and tokens are never logged.
const (
	LogPath   = "path"
	LogFolder = "folder"
	LogDoc    = "doc"
	LogAuthor = "author"
	LogEdits  = "edits"
	LogErr    = "err"
	LogHint   = "hint" // next step for the error of LogErr
)
