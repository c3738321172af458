package links

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/diffwrap/block"
)

// Extract returns the links of a note's text in order. It skips:
//   - fenced, indented and inline code
//   - HTML comments
//   - text in front matter outside quoted strings
//   - Markdown links whose target is a URL or has an unescaped space
//
// It includes links in Obsidian's own comments (%%...%%) and in math. A reference definition counts as a link; its
// references do not. The result shares the memory of text.
func Extract(text string) []Link { return ExtractMarked(text, diffwrap.Known{}) }

func ExtractMarked(text string, known diffwrap.Known) []Link {
	if !strings.Contains(text, "[[") && !strings.Contains(text, "](") && !strings.Contains(text, "]:") {
		return nil
	}
	s := scanner{text: text}
	s.blocks(s.frontMatter())
	// The scan finds an image before the link that encloses it.
	slices.SortStableFunc(s.links, func(a, b Link) int { return cmp.Compare(a.Off, b.Off) })
	flagPending(text, known, s.links)
	return s.links
}

// scanner walks one text: blocks separates code from prose, inline (inline.go) finds the links in a run of prose.
type scanner struct {
	text  string
	links []Link

	// The fields below are the state of blocks.
	prose     int  // start of the current run of prose
	fence     byte // '`' or '~' in a fenced code block, else 0
	fenceLen  int
	fenceQuot bool // the fence was opened in a block quote
	blank     bool // the previous line was blank or code
	paragraph bool // a paragraph may continue on this line
	list      bool // an indented line continues a list item and is not code
}

// blocks scans text[off:] line by line. A run of prose, which one inline construct may span, ends at a blank line, at
// code, and before a list item, heading or table row.
func (s *scanner) blocks(off int) {
	s.prose, s.blank = off, true
	for off < len(s.text) {
		end := s.lineEnd(off)
		if s.fence == 0 {
			if next, ok := s.commentBlock(off); ok {
				off = next
				continue
			}
		}
		s.line(off, end)
		off = end
	}
	if s.fence == 0 {
		s.inline(s.prose, len(s.text))
	}
}

func (s *scanner) lineEnd(off int) int {
	if i := strings.IndexByte(s.text[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(s.text)
}

func (s *scanner) line(off, end int) {
	if s.fence != 0 && s.fenced(off, end) {
		return
	}
	l := parseLine(s.text[off:end])
	switch n := block.Fence(l.content); {
	case l.content == "":
		s.flush(off, end)
		s.blank, s.paragraph = true, false
		return
	case s.blank && !s.list && !l.item && l.indent >= 4:
		s.flush(off, end) // indented code; the next line may continue it
		return
	case n > 0:
		s.flush(off, end)
		s.fence, s.fenceLen, s.fenceQuot = l.content[0], n, l.quoted
		return
	case l.item || l.content[0] == '#' || l.content[0] == '|': // no construct continues into this line
		s.flush(off, off)
	}
	s.list = l.item || s.list && (l.indent > 0 || !s.blank)
	s.blank = false
	text := strings.TrimRight(s.text[off:end], " \t\r\n")
	if (l.item || !s.paragraph) && s.definition(off+len(text)-len(l.content), off+len(text)) {
		s.flush(off, end)
		s.paragraph = false
		return
	}
	s.paragraph = l.content[0] != '#' && strings.Trim(l.content, "-*_= \t") != "" // not a heading or a thematic break
}

// fenced handles a line after the line that opened a fence. It returns false if the block quote around the fence has
// ended, because that also ends the code.
func (s *scanner) fenced(off, end int) bool {
	content := strings.TrimSpace(s.text[off:end])
	if s.fenceQuot {
		if !strings.HasPrefix(content, ">") {
			s.endCode(off)
			return false
		}
		content = strings.TrimLeft(content, "> \t")
	}
	if n := block.Fence(content); n >= s.fenceLen && n == len(content) && content[0] == s.fence {
		s.endCode(end)
	}
	return true
}

func (s *scanner) flush(off, next int) {
	s.inline(s.prose, off)
	s.prose = next
}

func (s *scanner) endCode(off int) {
	s.fence, s.prose, s.blank, s.paragraph = 0, off, true, false
}

// commentBlock skips an HTML comment that begins the line at off. Unlike a comment inside prose it may contain blank
// lines, and without an end it extends to the end of the note.
func (s *scanner) commentBlock(off int) (next int, ok bool) {
	rest := s.text[off:]
	indent := len(rest) - len(strings.TrimLeft(rest, " "))
	if indent > 3 || !strings.HasPrefix(rest[indent:], "<!--") {
		return 0, false
	}
	next = len(s.text)
	if i := strings.Index(rest[indent+4:], "-->"); i >= 0 {
		next = off + indent + 4 + i + 3
	}
	s.flush(off, next)
	return next, true
}

type line struct {
	indent  int    // columns of white space at the start
	quoted  bool   // the line is in a block quote
	item    bool   // the line begins a list item
	content string // the line without indentation, quote and list marks, and trailing space
}

func parseLine(s string) line {
	var l line
	l.indent = columns(s)
	s = strings.TrimRight(s, " \t\r\n")
	for {
		s = strings.TrimLeft(s, " \t")
		if strings.HasPrefix(s, ">") {
			l.quoted, s = true, s[1:]
			continue
		}
		n := ListMark(s)
		if n == 0 {
			break
		}
		l.item, s = true, s[n:]
	}
	l.content = s
	return l
}

// columns counts the leading white space of s. Tab stops are four columns apart.
func columns(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

func ListMark[T string | []byte](s T) int {
	digits := 0
	for digits < len(s) && digits < 9 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	marks := "-*+"
	if digits > 0 {
		marks = ".)"
	}
	if digits == len(s) || strings.IndexByte(marks, s[digits]) < 0 || digits+1 < len(s) && strings.IndexByte(" \t\r\n\v\f", s[digits+1]) < 0 {
		return 0
	}
	return digits + 1
}
