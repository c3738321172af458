package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// lineSearch is a search for lines, whose results are not text but structured.
type lineSearch struct {
	pattern *grep.Pattern
	under   bridge.Path
	around  int      // lines of context
	keep    int      // lines to return
	all     bool     // count those that are not returned, too
	after   *reached // where the search goes on; nil for the beginning
}

// foundLine is a line that matches, and those around it.
type foundLine struct {
	path          bridge.Path
	number        int
	text          string
	before, after []string

	doc string // the text that it is in
	end int    // where it ends there
}

// reached is how far the search has come with l.
func (l foundLine) reached() reached { return reached{string(l.path), spotAt(l.doc, l.end)} }

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
	if !job.all {
		notes = slices.DeleteFunc(slices.Clone(notes), func(n *indexed) bool { return job.passed(n.path) })
	}
	look := func(p bridge.Path, v *bridge.Version) foundLines {
		lines, total := job.in(p, v.Text(), job.keep)
		return foundLines{lines, total}
	}
	err = scan(ctx, x, notes, trigram.NewQuery(job.pattern.Clauses()), look, func(f foundLines) bool {
		found = append(found, f.lines[:min(len(f.lines), job.keep-len(found))]...)
		total += f.total
		return job.all || len(found) < job.keep
	})
	return found, total, err
}

// passed says that the search is past the document at p.
func (job lineSearch) passed(p bridge.Path) bool {
	return job.after != nil && string(p) < job.after.Path
}

// in finds the lines of one text: the first ones that are not passed, at most keep,
// and how many there are.
func (job lineSearch) in(p bridge.Path, text string, keep int) (found []foundLine, total int) {
	text = strings.TrimPrefix(text, bom)
	from, limit := 0, keep
	if job.all {
		limit = -1
	}
	if job.after != nil && string(p) == job.after.Path {
		from = job.after.Spot.in(text)
	}
	f := grep.Format{MaxLine: 1}
	if !job.all {
		f.From = from
	}
	entries := job.pattern.Entries("", text, f, limit)
	if len(entries) == 0 {
		return nil, 0
	}
	lines := splitLines(text)
	for _, e := range entries {
		n := e.Line
		if n > len(lines) {
			break // a match behind the last line break
		}
		if total++; e.Start < from || job.passed(p) || len(found) >= keep {
			continue
		}
		found = append(found, foundLine{
			path: p, number: n, text: job.preview(lines[n-1]), doc: text, end: e.End,
			before: shortLines(lines[max(0, n-1-job.around) : n-1]), after: shortLines(lines[n:min(len(lines), n+job.around)]),
		})
	}
	return found, total
}

// preview is what is shown of a line that matches: of a long one the part where
// the first match is.
func (job lineSearch) preview(line string) string {
	from := 0
	if len(line) <= maxLine {
		return line
	}
	if m := job.pattern.Entries("", line, grep.Format{OnlyMatching: true}, 1); len(m) > 0 {
		from = len(strings.ToValidUTF8(line[:max(0, m[0].Start-maxLine/2)], ""))
	}
	return part(line, from)
}

// part is what is shown of a line from a byte on, and says what is left out.
func part(line string, from int) string {
	if len(line) <= maxLine || utf8.RuneCountInString(line) <= maxLine {
		return line
	}
	short := partOf(line[from:], maxLine, utf8.RuneCountInString)
	first := utf8.RuneCountInString(line[:from])
	return fmt.Sprintf("%s... [line cut: characters %d-%d of %d; read it with column to see more]",
		short, first+1, first+utf8.RuneCountInString(short), utf8.RuneCountInString(line))
}

func shortLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = part(l, 0)
	}
	return out
}

// maxMatch bounds one match in an answer, with the lines around it.
const maxMatch = 30_000

// fitContext leaves out as many of the outermost lines of context as a match must
// lose to fit into an answer.
func fitContext(text string, before, after []string) (_, _ []string) {
	left := maxMatch - bothCost(text)
	dropped := [2]int{}
	for bothCost(before)+bothCost(after) > left {
		if bothCost(before) > bothCost(after) {
			before, dropped[0] = before[1:], dropped[0]+1
		} else {
			after, dropped[1] = after[:len(after)-1], dropped[1]+1
		}
	}
	mark := func(n int) string { return "[" + count(n, "line") + " left out]" }
	if dropped[0] > 0 {
		before = append([]string{mark(dropped[0])}, before...)
	}
	if dropped[1] > 0 {
		after = append(after, mark(dropped[1]))
	}
	return before, after
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
