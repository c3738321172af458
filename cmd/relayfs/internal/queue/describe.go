package queue

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/diffwrap"
)

// Shorten keeps a side of a suggestion on one line of a terminal.
func Shorten(s string) string {
	const limit = 60 // characters
	s = output.Printable(strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\t", " ").Replace(s))
	if r := []rune(s); len(r) > limit {
		return string(r[:limit/2]) + " … " + string(r[len(r)-limit/3:])
	}
	return s
}

// Place is where the suggestion is, or what the proposal is about.
func (s *Suggestion) Place() string {
	if s.IsProposal() {
		return s.Path
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Line)
}

// Gist is what it would do, on one line.
func (s *Suggestion) Gist() string {
	if s.IsProposal() {
		return s.proposed(Shorten(s.New))
	}
	if s.Kind == diffwrap.Comment.String() {
		return "{>>" + Shorten(s.New) + "<<}"
	}
	return marks(s.Old, s.New)
}

// proposed says what a proposal would do; to is the path that a rename leads to,
// as it is to be shown.
func (s *Suggestion) proposed(to string) string {
	what := s.Kind
	if s.Dir {
		what += " the folder"
	}
	switch model.ProposalKind(s.Kind) {
	case model.ProposedRename:
		what += " to " + to
	case model.ProposedFile:
		if what = "write the file"; s.New != "" {
			what += ", " + output.Plural(len(s.New), "byte")
		}
	}
	if s.Stale {
		what += " (changed since)"
	}
	return what
}

// Who is the suggestion's author and time, as far as they are known.
func (s *Suggestion) Who() string {
	who := s.Author
	if !s.Time.IsZero() {
		who += ", " + s.Time.Local().Format("2006-01-02 15:04")
	}
	return who
}

// marks shows a suggestion on one line, as it stands in the note.
func marks(old, new string) string {
	var b strings.Builder
	if old != "" {
		b.WriteString("{--" + Shorten(old) + "--}")
	}
	if new != "" {
		b.WriteString("{++" + Shorten(new) + "++}")
	}
	return b.String()
}
