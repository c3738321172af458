package model

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SessionNote is an agent's description of its session. Each field is one line of text and must not be interpreted as
// markup.
type SessionNote struct {
	Name    string `json:"name,omitempty"`
	Purpose string `json:"purpose,omitempty"`
}

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

// These are the maximum lengths of a SessionNote's fields, in characters.
const (
	MaxSessionName    = 60
	MaxSessionPurpose = 300
)

// IsLine reports whether s is one line of text, or empty, with at most the given number of characters. Control
// characters, characters that change the direction of text, and white space other than ASCII spaces are not allowed.
func IsLine(s string, most int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= most &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// Answer is a user's answer to a question about a change.
type Answer string

const (
	AnswerAllowed        Answer = "allowed"
	AnswerAllowedSession Answer = "allowed for the session" // this kind of change, for the rest of the session
	AnswerDeclined       Answer = "declined"
	AnswerCancelled      Answer = "cancelled" // the user closed the question without an answer
)

// Approval is the journal's record of a question that a user was asked before a change.
type Approval struct {
	Operation string `json:"operation"` // "create", "update" or "delete"
	Question  string `json:"question"`
	Answer    Answer `json:"answer"`
}
