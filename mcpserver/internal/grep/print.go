package grep

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

type Format struct {
	Before, After int  // number of context lines
	LineNumbers   bool // whether to print path:line:text instead of path:text
	OnlyMatching  bool // whether to print the matches instead of their lines
	MaxLine       int  // maximum number of bytes of a line before it is cut; 0 means no limit
	// From is an offset. Output that begins before it is skipped.
	From int
}

// Separator separates groups of lines if context is printed.
const Separator = "--"

// Entry is a printed line or match. Start and End are its offsets in the text without a byte order mark. If the entry
// extends to the end of its line, End includes the line break.
type Entry struct {
	Text       string
	Line       int // line number, from 1
	Start, End int
	Cut        bool // whether Text is only a part of the line or match
}

// Entries returns the lines to print. If limit is not negative, the search stops when there are more than limit
// entries; Entries may therefore return more.
func (p *Pattern) Entries(path, text string, f Format, limit int) []Entry {
	text = trimBOM(text)
	searched := p.searched(text)
	if len(searched) < len(text) {
		f.From -= strings.Count(text[:min(f.From, len(text))], "\r\n")
	}
	pr := printer{p: p, path: path, text: searched, f: f, line: 1}
	p.eachMatch(searched, func(m span) bool {
		pr.match(m)
		return limit < 0 || len(pr.out) <= limit
	})
	pr.flush()
	pr.trailing(len(pr.text))
	if len(searched) < len(text) {
		inSource(text, pr.out)
	}
	return pr.out
}

// inSource maps the offsets of entries from the text with LF line breaks to the original text.
func inSource(text string, entries []Entry) {
	at, plain := 0, 0 // an offset in text, and the same offset with LF line breaks
	place := func(off int) int {
		if off < plain { // matches on one line are in order, but a match may end after the next one starts
			at, plain = 0, 0
		}
		for plain < off {
			i := strings.Index(text[at:], "\r\n")
			if i < 0 || plain+i >= off {
				return at + off - plain
			}
			at, plain = at+i+len("\r\n"), plain+i+1
		}
		return at
	}
	for i := range entries {
		entries[i].Start, entries[i].End = place(entries[i].Start), place(entries[i].End)
	}
}

// printer joins matches that share lines into one block.
type printer struct {
	p    *Pattern
	path string
	text string
	f    Format
	out  []Entry

	block   span   // whole lines, without the last line break
	pending bool   // whether block is still to be printed
	matches []span // the matches in block if matches can cross lines

	done  int // all lines before this offset are printed or skipped
	after int // number of context lines that are still to be printed
	begun bool

	off  int // offset of a line start
	line int // number of that line
}

func (pr *printer) match(m span) {
	block := m
	if pr.p.multi {
		block.start = lineStart(pr.text, m.start)
		block.end = lineEnd(pr.text, max(m.start, m.end-1))
	}
	if !pr.pending || block.start > pr.block.end {
		pr.flush()
		pr.block, pr.pending, pr.matches = block, true, nil
	}
	pr.block.end = max(pr.block.end, block.end)
	if pr.p.multi {
		pr.matches = append(pr.matches, m)
	}
}

func lineStart(text string, off int) int { return strings.LastIndexByte(text[:off], '\n') + 1 }

func lineEnd(text string, off int) int {
	if i := strings.IndexByte(text[off:], '\n'); i >= 0 {
		return off + i
	}
	return len(text)
}

func (pr *printer) flush() {
	if !pr.pending {
		return
	}
	pr.pending = false
	pr.trailing(pr.block.start)
	from := pr.leading()
	if pr.begun && from > pr.done && pr.f.Before+pr.f.After > 0 && from >= pr.f.From {
		pr.out = append(pr.out, Entry{Text: Separator, Start: from, End: from})
	}
	for from < pr.block.start {
		from = pr.context(from)
	}
	for from <= pr.block.end {
		from = pr.matched(from)
		if from >= len(pr.text) {
			break
		}
	}
	pr.begun, pr.done, pr.after = true, from, pr.f.After
}

func (pr *printer) trailing(end int) {
	for ; pr.after > 0 && pr.done < end; pr.after-- {
		pr.done = pr.context(pr.done)
	}
}

func (pr *printer) leading() int {
	from := pr.block.start
	for n := pr.f.Before; n > 0 && from > pr.done; n-- {
		from = lineStart(pr.text, from-1)
	}
	return from
}

func (pr *printer) context(off int) int {
	end := lineEnd(pr.text, off)
	pr.add(off, span{off, end}, '-')
	return end + 1
}

// matched prints the line at off, or the matches in it, and returns the start of the next line.
func (pr *printer) matched(off int) int {
	l := span{off, lineEnd(pr.text, off)}
	switch {
	case !pr.f.OnlyMatching:
		pr.add(off, l, ':')
	case pr.p.multi:
		pr.parts(l)
	default:
		for _, m := range pr.p.inLine(pr.text, l) {
			pr.add(off, span{l.start + m[0], l.start + m[1]}, ':')
		}
	}
	return l.end + 1
}

func (pr *printer) parts(l span) {
	for len(pr.matches) > 0 && pr.matches[0].end <= l.start {
		pr.matches = pr.matches[1:]
	}
	for _, m := range pr.matches {
		if m.start >= l.end {
			return
		}
		if from, to := max(m.start, l.start), min(m.end, l.end); from < to {
			pr.add(l.start, span{from, to}, ':')
		}
	}
}

func (pr *printer) add(off int, part span, mark byte) {
	if part.start < pr.f.From {
		return
	}
	text := pr.text[part.start:part.end]
	long := pr.f.MaxLine > 0 && len(text) > pr.f.MaxLine
	if long {
		text = cut(text, pr.f.MaxLine)
	}
	pr.line += strings.Count(pr.text[pr.off:off], "\n")
	pr.off = off
	b := make([]byte, 0, len(pr.path)+len(text)+8)
	b = append(append(b, pr.path...), mark)
	if pr.f.LineNumbers {
		b = append(strconv.AppendInt(b, int64(pr.line), 10), mark)
	}
	end := part.end
	if end == lineEnd(pr.text, off) {
		end = min(end+1, len(pr.text))
	}
	pr.out = append(pr.out, Entry{string(append(b, text...)), pr.line, part.start, end, long})
}

func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "... [line cut, " + strconv.Itoa(len(s)) + " bytes]"
}
