package model

// These are the keys of log attributes. Tokens and the text of notes are never logged.
const (
	LogPath   = "path"
	LogFolder = "folder"
	LogDoc    = "doc"
	LogAuthor = "author"
	LogEdits  = "edits"
	LogErr    = "err"
	LogHint   = "hint" // next step for the error of LogErr
)
