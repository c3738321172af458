// Package textrange works with ranges of a text ([Range], in bytes). It has sets of ranges that survive edits
// ([RangeSet]), positions in lines and characters ([Position]), and windows that fit into a result ([WindowOf]). It
// finds and replaces text that a model quotes. The text may differ from the model's quote in quotation marks and line
// breaks (find.go), and also in blanks (near.go). The package refuses new text with marks ([CheckMarkup]). All
// functions are pure. Package session records which ranges a client has read.
package textrange

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

type Range struct{ Start, End int }

// Position is a line and a column in characters, both from 1.
type Position struct{ Line, Column int }

// Arguments returns the position in the form of tool arguments. line is the name of the line argument.
func (at Position) Arguments(line string) string {
	s := fmt.Sprintf("%s: %d", line, at.Line)
	if at.Column > 1 {
		s += fmt.Sprintf(", column: %d", at.Column)
	}
	return s
}

func PositionAt(text string, off int) Position {
	start := strings.LastIndexByte(text[:off], '\n') + 1
	line := strings.TrimPrefix(text[start:off], BOM)
	return Position{LineOf(text, off), utf8.RuneCountInString(line) + 1}
}

func LineOf(doc string, off int) int { return 1 + strings.Count(doc[:off], "\n") }

func NameLines(doc string, places []Range) string {
	var lines []string
	line, done := 1, 0
	for _, p := range places {
		line += strings.Count(doc[done:p.Start], "\n")
		done = p.Start
		if n := strconv.Itoa(line); len(lines) == 0 || lines[len(lines)-1] != n {
			lines = append(lines, n)
		}
	}
	if len(lines) == 1 {
		return "line " + lines[0]
	}
	if len(lines) > MaxNamed {
		lines = append(lines[:MaxNamed], "...")
	}
	return "lines " + strings.Join(lines, ", ")
}

const MaxNamed = 20

const BOM = diffwrap.ByteOrderMark

func CountLines(text string) int {
	text = strings.TrimPrefix(text, BOM)
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func lineAt(text string, off int) (line string, length int) {
	i := strings.IndexByte(text[off:], '\n')
	if i < 0 {
		return text[off:], len(text) - off
	}
	return strings.TrimSuffix(text[off:off+i], "\r"), i + 1
}

func SplitLines(doc string) []string {
	doc = strings.TrimPrefix(doc, BOM)
	var lines []string
	for off := 0; off < len(doc); {
		line, length := lineAt(doc, off)
		lines = append(lines, line)
		off += length
	}
	return lines
}

func Lines(text string) []Range {
	var lines []Range
	for off := 0; off < len(text); {
		_, length := lineAt(text, off)
		lines = append(lines, Range{off, off + length})
		off += length
	}
	return lines
}

func LineAround(doc string, off int) string {
	line := doc[strings.LastIndexByte(doc[:off], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	return line
}

// prefixLen returns the length in bytes of the first n characters of s. ok is false if s is shorter.
func prefixLen(s string, n int) (size int, ok bool) {
	for ; n > 0 && size < len(s); n-- {
		_, c := utf8.DecodeRuneInString(s[size:])
		size += c
	}
	return size, n == 0
}

// RangeSet is a set of bytes of a text. It consists of sorted ranges that do not touch.
type RangeSet []Range

func All(text string) RangeSet {
	if text == "" {
		return nil
	}
	return RangeSet{{0, len(text)}}
}

func (s RangeSet) With(p Range) RangeSet {
	if p.Start >= p.End {
		return s
	}
	out := make(RangeSet, 0, len(s)+1)
	for _, q := range s {
		if q.End < p.Start || p.End < q.Start {
			out = append(out, q)
			continue
		}
		p = Range{min(p.Start, q.Start), max(p.End, q.End)}
	}
	out = append(out, p)
	slices.SortFunc(out, func(a, b Range) int { return a.Start - b.Start })
	return out
}

func (s RangeSet) FirstMissing(p Range) (part Range, missing bool) {
	for _, q := range s {
		switch {
		case q.End <= p.Start:
			continue
		case q.Start > p.Start:
			return Range{p.Start, min(p.End, q.Start)}, p.Start < p.End
		}
		p.Start = q.End
	}
	return p, p.Start < p.End
}

// AfterEdits returns the set s after edits. If own is set, the result includes the inserted text.
func (s RangeSet) AfterEdits(edits []diffwrap.Edit, own bool) RangeSet {
	if len(edits) == 0 {
		return s
	}
	var out RangeSet
	add := func(p Range) {
		if p.Start >= p.End {
			return
		}
		if n := len(out); n > 0 && out[n-1].End == p.Start {
			out[n-1].End = p.End
			return
		}
		out = append(out, p)
	}
	shift, from := 0, 0
	keep := func(to int) {
		for _, p := range s {
			add(Range{max(p.Start, from) + shift, min(p.End, to) + shift})
		}
	}
	for _, e := range edits {
		keep(e.Off)
		if own {
			add(Range{e.Off + shift, e.Off + shift + len(e.New)})
		}
		from = e.Off + e.Len
		shift += len(e.New) - e.Len
	}
	keep(math.MaxInt)
	return out
}

// Rebase converts s, a set of bytes of an earlier text (old), to a set of bytes of a later text (new). The result does
// not include the inserted text.
func (s RangeSet) Rebase(old, new string) RangeSet {
	if old == new || len(s) == 0 {
		return s
	}
	return s.AfterEdits(diffwrap.Diff(old, new), false)
}
