package diffwrap

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// The reasons for which Put refuses a text. Each arrives wrapped in a *RefusedError; match with errors.Is.
var (
	// ErrAmbiguous: a literal delimiter would be read as markup, or would swallow the markup that is to be written.
	ErrAmbiguous = errors.New("a literal delimiter would be read as CriticMarkup")
	// ErrMark: the new text holds a whole mark, which would be a suggestion or a highlight as soon as it is accepted.
	ErrMark = errors.New("the text would be read as CriticMarkup")
	// ErrForeign: the change runs into a pending suggestion of another author.
	ErrForeign = errors.New("the change touches another author's pending suggestion")
	// ErrInvalidUTF8: the stored or the new text is not UTF-8.
	ErrInvalidUTF8 = errors.New("the text is not valid UTF-8")
	// ErrComment: a comment has several lines.
	ErrComment = errors.New("a comment has one line")
	// ErrSigned: a comment or a mark bears the name of somebody else.
	ErrSigned = errors.New("it is signed by somebody else")
	// ErrFrontMatter: the new front matter is not a YAML mapping, lacks a fence, or holds markup.
	ErrFrontMatter = errors.New("the front matter would become unreadable")
	// ErrFrontMatterRefused: the policy forbids changes of the front matter.
	ErrFrontMatterRefused = errors.New("front matter is not to be changed here")
)

// RefusedError says why Put wrote nothing. Line is the 1-based line of the text that the writer passed (for
// ErrForeign: of the view that the writer was shown). Literal is the text that is in the way.
type RefusedError struct {
	Line    int
	Literal string
	Err     error
	advice  string
}

// Error is one sentence that names the line, the literal and what to do next.
func (e *RefusedError) Error() string {
	const maxQuoted = 60 // characters
	literal := fmt.Sprintf("%.*q", maxQuoted, e.Literal)
	if utf8.RuneCountInString(e.Literal) > maxQuoted {
		literal += "..."
	}
	return fmt.Sprintf("line %d, %s: %v; %s", e.Line, literal, e.Err, e.advice)
}

func (e *RefusedError) Unwrap() error { return e.Err }
