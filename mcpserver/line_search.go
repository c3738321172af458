package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/cursor"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// lineSearch is a search for lines, whose results are not text but structured.
type lineSearch struct {
	pattern *grep.Pattern
	under   bridge.Path
	keep    int             // lines to return
	all     bool            // count those that are not returned, too
	after   *cursor.Reached // where the search goes on; nil for the beginning
}

// foundLine is a line that matches.
type foundLine struct {
	path   bridge.Path
	number int
	text   string

	lines []string // of the text that it is in
	doc   string   // that text
	end   int      // where it ends there
}

// reached is how far the search has come with l.
func (l foundLine) reached() cursor.Reached {
	return cursor.Reached{Path: string(l.path), Spot: cursor.SpotAt(l.doc, l.end)}
}

// foundLines are the first lines of one note that match, and how many there are.
type foundLines struct {
	lines []foundLine
	total int
}

// searchLines finds lines of notes in the order of paths.
func (s *Session) searchLines(ctx context.Context, job lineSearch) (found []foundLine, total int, err error) {
	ctx, pattern, cancel := bounded(ctx, job.pattern)
	defer cancel()
	job.pattern = pattern
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
	text = strings.TrimPrefix(text, passage.BOM)
	from, limit := 0, keep
	if job.all {
		limit = -1
	}
	if job.after != nil && string(p) == job.after.Path {
		from = job.after.Spot.In(text)
	}
	f := grep.Format{MaxLine: 1}
	if !job.all {
		f.From = from
	}
	entries := job.pattern.Entries("", text, f, limit)
	if len(entries) == 0 {
		return nil, 0
	}
	lines := passage.SplitLines(text)
	for _, e := range entries {
		n := e.Line
		if n > len(lines) {
			break // a match behind the last line break
		}
		if total++; e.Start < from || job.passed(p) || len(found) >= keep {
			continue
		}
		found = append(found, foundLine{
			path: p, number: n, text: job.preview(lines[n-1]), lines: lines, doc: text, end: e.End,
		})
	}
	return found, total
}

// preview is what is shown of a line that matches: of a long one the part where
// the first match is.
func (job lineSearch) preview(line string) string {
	from := 0
	if len(line) <= answer.MaxLine {
		return line
	}
	if m := job.pattern.Entries("", line, grep.Format{OnlyMatching: true}, 1); len(m) > 0 {
		from = len(strings.ToValidUTF8(line[:max(0, m[0].Start-answer.MaxLine/2)], ""))
	}
	return part(line, from)
}

// part is what is shown of a line from a byte on, and says what is left out.
func part(line string, from int) string {
	if len(line) <= answer.MaxLine || utf8.RuneCountInString(line) <= answer.MaxLine {
		return line
	}
	short := passage.PartOf(line[from:], answer.MaxLine, utf8.RuneCountInString)
	first := utf8.RuneCountInString(line[:from])
	return fmt.Sprintf("%s... [line cut: characters %d-%d of %d; read it with column to see more]",
		short, first+1, first+utf8.RuneCountInString(short), utf8.RuneCountInString(line))
}

// context are the lines around the found one, at most so many on either side and as
// many as fit into an answer, the nearest first; as form shows a line.
func (l foundLine) context(around int, form func(n int, line string) string) (before, after []string) {
	left := answer.MaxMatch - answer.BothCost(l.text)
	take := func(n int) (string, bool) {
		line := form(n, part(l.lines[n-1], 0))
		left -= answer.BothCost(line) + 4
		return line, left >= 0
	}
	first, last := max(1, l.number-around), min(len(l.lines), l.number+around)
	before, after = []string{}, []string{}
	for d := 1; d <= around; d++ {
		up, down := l.number-d, l.number+d
		if up < first && down > last {
			break
		}
		if up >= first {
			line, fits := take(up)
			if !fits {
				before = append(before, "["+answer.Count(up-first+1, "line")+" left out]")
				first = up + 1
			} else {
				before = append(before, line)
			}
		}
		if down <= last {
			line, fits := take(down)
			if !fits {
				after = append(after, "["+answer.Count(last-down+1, "line")+" left out]")
				last = down - 1
			} else {
				after = append(after, line)
			}
		}
	}
	slices.Reverse(before)
	return before, after
}

// plainLine shows a line of context as it is, numberedLine as "40: text".
func plainLine(_ int, line string) string    { return line }
func numberedLine(n int, line string) string { return strconv.Itoa(n) + ": " + line }

// whileTheyFit makes items of found lines, at most limit and no more than may fit
// into an answer.
func whileTheyFit[T any](found []foundLine, limit int, item func(foundLine) T) []T {
	items := []T{}
	for cost := 0; len(items) < min(limit, len(found)) && cost <= answer.Max; {
		it := item(found[len(items)])
		items, cost = append(items, it), cost+answer.BothCost(it)
	}
	return items
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
		return answer.WrongArgument("The argument %q is not a valid RE2 regular expression.\n%v", argument, syntax)
	case errors.Is(err, grep.ErrLineBreak):
		return answer.WrongArgument("The argument %q contains a line break. The search is line by line.", argument)
	}
	return err
}
