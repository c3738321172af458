package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
)

type LineSearch struct {
	Pattern  *grep.Pattern
	Under    model.Path
	Wanted   func(model.Path) bool // filter for documents at and below Under
	MaxLines int                   // maximum number of lines to return
	All      bool                  // whether to count all lines, including those that are not returned
	After    *result.SearchPos     // cursor of the search; nil at the beginning
}

// FoundLine is a matching line. The Range of its passage is empty if Text is only part of the line.
type FoundLine struct {
	session.Passage
	Number int
	Text   string // the line, or a part of a long line

	lines []string // lines of doc
	doc   string   // text of the document
	end   int      // end of the line in doc
}

type foundLines struct {
	lines []FoundLine
	total int
}

func (job LineSearch) run(ctx context.Context, x *Index) (found []FoundLine, total int, skipped []model.Path, err error) {
	wanted := func(p model.Path) bool { return job.Wanted(p) && (job.All || !job.isBefore(p)) }
	skipped, err = Scan(ctx, x, job.Pattern, job.Under, wanted, job.in, func(f foundLines) bool {
		found = append(found, f.lines[:min(len(f.lines), job.MaxLines-len(found))]...)
		total += f.total
		return job.All || len(found) < job.MaxLines
	})
	return found, total, skipped, err
}

func (job LineSearch) isBefore(p model.Path) bool {
	return job.After != nil && string(p) < job.After.Path
}

// in returns at most MaxLines lines after the cursor. With job.All it also counts all matching lines.
func (job LineSearch) in(pattern *grep.Pattern, d document.Document) (found foundLines) {
	p, text := d.Path, strings.TrimPrefix(d.Text, textrange.BOM)
	from, limit := 0, job.MaxLines
	if job.All {
		limit = -1
	}
	if job.After != nil && string(p) == job.After.Path {
		from = job.After.Pos.In(text)
	}
	f := grep.Format{MaxLine: 1}
	if !job.All {
		f.From = from
	}
	entries := pattern.Entries("", text, f, limit)
	if len(entries) == 0 {
		return found
	}
	lines := textrange.SplitLines(text)
	for _, e := range entries {
		n := e.Line
		if n > len(lines) {
			break // the match is after the last line break
		}
		if found.total++; e.Start < from || job.isBefore(p) || len(found.lines) >= job.MaxLines {
			continue
		}
		f := FoundLine{Passage: session.Passage{Path: p, Version: d.Version}, Number: n, Text: job.preview(lines[n-1]), lines: lines, doc: text, end: e.End}
		if f.Text == lines[n-1] {
			f.Range = textrange.Range{Start: e.Start, End: e.End}
		}
		found.lines = append(found.lines, f)
	}
	return found
}

func (job LineSearch) preview(line string) string {
	off := 0
	if len(line) > result.MaxLine {
		if m := job.Pattern.Entries("", line, grep.Format{OnlyMatching: true}, 1); len(m) > 0 {
			off = m[0].Start
		}
	}
	return Around(line, off)
}

// Around returns line if it is short, and otherwise the part around a byte offset.
func Around(line string, off int) string {
	return part(line, len(strings.ToValidUTF8(line[:max(0, off-result.MaxLine/2)], "")))
}

// part returns line if it is short. Otherwise it returns the part that begins at a byte offset (from), followed by the
// numbers of the shown characters.
func part(line string, from int) string {
	if len(line) <= result.MaxLine || utf8.RuneCountInString(line) <= result.MaxLine {
		return line
	}
	short := textrange.PartOf(line[from:], result.MaxLine, utf8.RuneCountInString)
	first := utf8.RuneCountInString(line[:from])
	return fmt.Sprintf("%s... [line cut: characters %d-%d of %d; read it with column to see more]",
		short, first+1, first+utf8.RuneCountInString(short), utf8.RuneCountInString(line))
}

// Context returns the lines before and after l that fit into result.MaxMatch. around is the maximum number of lines on
// each side. If some do not fit, the outermost item is the number of omitted lines. form formats a line.
func (l FoundLine) Context(around int, form func(n int, line string) string) (before, after []string) {
	left := result.MaxMatch - result.StructuredCost(l.Text)
	add := func(list []string, n, rest int) (_ []string, fits bool) {
		line := form(n, part(l.lines[n-1], 0))
		if left -= result.StructuredCost(line) + 4; left < 0 {
			return append(list, "["+result.Count(rest, "line")+" left out]"), false
		}
		return append(list, line), true
	}
	above, below := min(around, l.Number-1), min(around, len(l.lines)-l.Number)
	before, after = []string{}, []string{}
	up, down := true, true
	for d := 1; up && d <= above || down && d <= below; d++ {
		if up && d <= above {
			before, up = add(before, l.Number-d, above-d+1)
		}
		if down && d <= below {
			after, down = add(after, l.Number+d, below-d+1)
		}
	}
	slices.Reverse(before)
	return before, after
}

// Structured runs a search and records the returned lines as read. item converts a line. build receives the items that
// fit, the total number of matches (only with job.All), and whether there are more.
func Structured[T, R any](ctx context.Context, x *Index, s *session.Session, job LineSearch, after result.Listing, limit int, item func(FoundLine) T,
	build func(items []T, total int, more bool, skipped string, page result.Page) R) (res R, err error) {
	limit = min(limit, result.Max/20)
	job.MaxLines = limit + 1
	if job.After, err = after.SearchPos(); err != nil {
		return res, err
	}
	found, total, skipped, err := job.run(ctx, x)
	if err != nil {
		return res, err
	}
	shown := 0
	key := func(i int) any { return result.SearchPosAt(found[i].Path, found[i].doc, found[i].end) }
	res = result.FitList(after, found, limit, key, item, func(items []T, page result.Page) R {
		shown = len(items)
		return build(items, total, shown < len(found), Skipped(skipped), page)
	})
	session.RecordFound(s, found[:shown])
	return res, nil
}

const ByLine = "The search is line by line."

// NamedPattern returns an error of grep.Compile as an error that names the argument. hint is the next step after
// grep.ErrLineBreak.
func NamedPattern(argument, hint result.Words, err error) error {
	var syntax *grep.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return result.InvalidArgument("The argument %q is not a valid RE2 regular expression.\n%v", argument, syntax)
	case errors.Is(err, grep.ErrLineBreak):
		return result.InvalidArgument("The argument %q contains a line break. %s", argument, hint)
	}
	return err
}
