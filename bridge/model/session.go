package model

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SessionNote is what an agent says of its session. The text is an agent's: it is one line, and no part of any
// markup.
type SessionNote struct {
	Name    string `json:"name,omitempty"`
	Purpose string `json:"purpose,omitempty"`
}

// String is the name in quotation marks and the purpose, as far as they are known.
func (n SessionNote) String() string {
	var parts []string
	if n.Name != "" {
		parts = append(parts, "\""+n.Name+"\"")
	}
	if n.Purpose != "" {
		parts = append(parts, n.Purpose)
	}
	return strings.Join(parts, ": ")
}

// How many characters the parts of a SessionNote may have.
const (
	MaxSessionName    = 60
	MaxSessionPurpose = 300
)

// IsLine says whether s is one line of at most most characters that people see: no control characters, none
// that change the direction of text.
func IsLine(s string, most int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= most &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// Answer is what a user answered who was asked before a change.
type Answer string

const (
	AnswerAllowed        Answer = "allowed"
	AnswerAllowedSession Answer = "allowed for the session" // this kind of change, for the rest of the session
	AnswerDeclined       Answer = "declined"
	AnswerCancelled      Answer = "cancelled" // the person closed the question without an answer
)

// Approval is the journal's account of a question to a user before a change, and of the answer.
type Approval struct {
	Operation string `json:"operation"` // create, update or delete
	Question  string `json:"question"`
	Answer    Answer `json:"answer"`
}
