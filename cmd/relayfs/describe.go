package main

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/diffwrap"
)

// shorten keeps a side of a suggestion on one line of a terminal.
func shorten(s string) string {
	const limit = 60 // characters
	s = output.Printable(strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\t", " ").Replace(s))
	if r := []rune(s); len(r) > limit {
		return string(r[:limit/2]) + " … " + string(r[len(r)-limit/3:])
	}
	return s
}

// place is where the suggestion is, or what the proposal is about.
func (s *suggestion) place() string {
	if s.isProposal() {
		return s.Path
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Line)
}

// gist is what it would do, on one line.
func (s *suggestion) gist() string {
	if s.isProposal() {
		return s.proposed(shorten(s.New))
	}
	if s.Kind == diffwrap.Comment.String() {
		return "{>>" + shorten(s.New) + "<<}"
	}
	return marks(s.Old, s.New)
}

// proposed says what a proposal would do; to is the path that a rename leads to,
// as it is to be shown.
func (s *suggestion) proposed(to string) string {
	what := s.Kind
	if s.Dir {
		what += " the folder"
	}
	switch bridge.ProposalKind(s.Kind) {
	case bridge.ProposedRename:
		what += " to " + to
	case bridge.ProposedFile:
		if what = "write the file"; s.New != "" {
			what += ", " + output.Plural(len(s.New), "byte")
		}
	}
	if s.Stale {
		what += " (changed since)"
	}
	return what
}

// who is the suggestion's author and time, as far as they are known.
func (s *suggestion) who() string {
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
		b.WriteString("{--" + shorten(old) + "--}")
	}
	if new != "" {
		b.WriteString("{++" + shorten(new) + "++}")
	}
	return b.String()
}
