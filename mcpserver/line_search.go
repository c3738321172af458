package mcpserver

import (
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// lineSearch is a search for lines, whose results are not text but structured.
type lineSearch struct {
	pattern *grep.Pattern
	under   bridge.Path
	around  int // lines of context
	keep    int // lines to return; the others are counted
	enough  int // lines after which the search may end; -1 for never
}

// foundLine is a line that matches, and those around it.
type foundLine struct {
	path          bridge.Path
	number        int
	text          string
	before, after []string
}

// foundLines are the first lines of one note that match, and how many there are.
type foundLines struct {
	lines []foundLine
	total int
}

// searchLines finds lines of notes in the order of paths.
func (s *Session) searchLines(ctx context.Context, job lineSearch) (found []foundLine, total int, err error) {
	x := s.server.index
	notes, err := x.below(ctx, job.under)
	if err != nil {
		return nil, 0, err
	}
	look := func(p bridge.Path, v *bridge.Version) foundLines {
		lines, total := job.in(p, v.Text(), job.keep)
		return foundLines{lines, total}
	}
	err = scan(ctx, x, notes, trigram.NewQuery(job.pattern.Clauses()), look, func(f foundLines) bool {
		found = append(found, f.lines[:min(len(f.lines), job.keep-len(found))]...)
		total += f.total
		return job.enough < 0 || total < job.enough
	})
	return found, total, err
}

// in finds the lines of one text: the first ones, at most keep, and how many
// there are, or how many are enough.
func (job lineSearch) in(p bridge.Path, text string, keep int) (found []foundLine, total int) {
	numbers := lineNumbers(job.pattern, text, job.enough)
	if len(numbers) == 0 {
		return nil, 0
	}
	lines := splitLines(text)
	for _, n := range numbers {
		if n > len(lines) {
			break // a match behind the last line break
		}
		if total++; total > keep {
			continue
		}
		found = append(found, foundLine{
			path: p, number: n, text: shortLine(lines[n-1]),
			before: shortLines(lines[max(0, n-1-job.around) : n-1]), after: shortLines(lines[n:min(len(lines), n+job.around)]),
		})
	}
	return found, total
}

func shortLine(line string) string {
	short, _ := cutLine(line)
	return short
}

func shortLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = shortLine(l)
	}
	return out
}

// passOver lets a search go on past a document that is gone or cannot be read.
func passOver(err error) error {
	for _, skip := range []error{fs.ErrNotExist, fs.ErrPermission, bridge.ErrOffline, bridge.ErrInvalidUTF8, bridge.ErrTooLarge} {
		if errors.Is(err, skip) {
			return nil
		}
	}
	return err
}

// namedPattern says which argument is not a pattern.
func namedPattern(argument string, err error) error {
	var syntax *grep.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return wrongArgument("The argument %q is not a valid RE2 regular expression.\n%v", argument, syntax)
	case errors.Is(err, grep.ErrLineBreak):
		return wrongArgument("The argument %q contains a line break. The search is line by line.", argument)
	}
	return err
}
