package diffwrap

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Reasons why Put refuses a text, each wrapped in a *RefusedError. Match them with errors.Is.
var (
	// ErrAmbiguous: a literal delimiter would be read as markup, or would swallow markup that Put has to write.
	ErrAmbiguous = errors.New("a literal delimiter would be read as CriticMarkup")
	// ErrMark: the new text holds a whole new mark, which acceptance would turn into a suggestion or a highlight, or the
	// closer of a highlight in that highlight.
	ErrMark = errors.New("the text would be read as CriticMarkup")
	// ErrForeign: the change overlaps another author's pending suggestion, or a comment that awaits a decision.
	ErrForeign = errors.New("the change touches another author's pending suggestion")
	// ErrInvalidUTF8: the stored or the new text is not UTF-8.
	ErrInvalidUTF8 = errors.New("the text is not valid UTF-8")
	// ErrComment: a comment has several lines.
	ErrComment = errors.New("a comment must have one line")
	// ErrSigned: a comment has another author's name.
	ErrSigned = errors.New("it has another author's name")
	// ErrFrontMatter: the new front matter is not a YAML mapping with unique names, or lacks a fence, or a mark is or
	// would be in the front matter.
	ErrFrontMatter = errors.New("the front matter would become unreadable")
	// ErrFrontMatterRefused: the policy forbids changes of the front matter.
	ErrFrontMatterRefused = errors.New("front matter must not be changed here")
)

// RefusedError explains why Put wrote nothing. Line is the 1-based line, usually in the writer's text; for ErrForeign
// it is the line in the view that the writer had read. Literal is the offending text.
type RefusedError struct {
	Line    int
	Literal string
	Err     error
	advice  string
}

// Error returns one sentence with the line, the literal, the reason and the next step.
func (e *RefusedError) Error() string {
	const maxQuoted = 60 // characters
	literal := fmt.Sprintf("%.*q", maxQuoted, e.Literal)
	if utf8.RuneCountInString(e.Literal) > maxQuoted {
		literal += "..."
	}
	return fmt.Sprintf("line %d, %s: %v; %s", e.Line, literal, e.Err, e.advice)
}

func (e *RefusedError) Unwrap() error { return e.Err }
