package links

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxDestination is the maximum length of the parenthesised part of a Markdown link, in bytes. A path has at most 4,096
// bytes, and each may be written as "%XX".
const maxDestination = 16 << 10

// maxParens is the maximum depth of parentheses in a destination, as in cmark.
const maxParens = 32

// close handles the ']' at i. A destination after it completes a Markdown link (CommonMark 0.31, "inline link").
func (in *inline) close(i int) int {
	top := len(in.brackets) - 1
	if top < 0 {
		return i + 1
	}
	open := in.brackets[top]
	live := open.image || top >= in.imagesOnly
	in.brackets = in.brackets[:top]
	in.imagesOnly = min(in.imagesOnly, top)
	if !live || i+1 >= in.to || in.text[i+1] != '(' {
		return i + 1
	}
	dest, ok := parseDestination(in.text[:in.to], i+2)
	if !ok {
		return i + 1
	}
	if !open.image {
		in.imagesOnly = top // links cannot contain links
	}
	if l, ok := dest.link(in.text, open); ok {
		in.links = append(in.links, l)
	}
	return dest.end
}

type destination struct {
	off, len int // range of the destination without "<" and ">"
	end      int // offset after the ')', or after the title of a definition
}

func parseDestination(text string, off int) (destination, bool) {
	text = text[:min(len(text), off+maxDestination)]
	d, ok := destinationAndTitle(text, off)
	d.end++
	return d, ok && d.end <= len(text) && text[d.end-1] == ')'
}

// destinationAndTitle parses a destination and a title, with the white space around them.
func destinationAndTitle(text string, off int) (d destination, ok bool) {
	i := skipSpace(text, off)
	d.off = i
	if strings.HasPrefix(text[i:], "<") {
		n := strings.IndexAny(text[i+1:], ">\n<")
		if n < 0 || text[i+1+n] != '>' {
			return d, false
		}
		d.off, d.len = i+1, n
		i += n + 2
	} else {
		d.len = bareDestination(text[i:])
		i += d.len
	}
	d.end = skipSpace(text, i)
	if d.end > i {
		d.end = skipSpace(text, skipTitle(text, d.end))
	}
	return d, true
}

// definition adds the link of the reference definition on the first line of text[off:end] (CommonMark 0.31, "link
// reference definition"), and returns the offset of the next line. If there is no definition, it returns off. A footnote
// is not a definition.
func (s *scanner) definition(off, end int) (next int, ok bool) {
	if !strings.HasPrefix(s.text[off:end], "[") || strings.HasPrefix(s.text[off:end], "[^") {
		return off, false
	}
	next = min(end, s.lineEnd(off))
	text := strings.TrimRight(s.text[:next], " \t\r\n")
	end = len(text)
	label := off + 1
	for label < end && text[label] != ']' && text[label] != '[' {
		if text[label] == '\\' {
			label++
		}
		label++
	}
	if !strings.HasPrefix(text[min(label, end):], "]:") || strings.TrimSpace(text[off+1:label]) == "" {
		return off, false
	}
	d, ok := destinationAndTitle(text[:min(end, label+maxDestination)], label+2)
	if !ok || d.end != end || d.len == 0 {
		return off, false
	}
	if l, ok := d.link(s.text, bracket{off: off}); ok {
		l.Kind = Definition
		s.links = append(s.links, l)
	}
	return next, true
}

// bareDestination returns the length of the destination at the start of s. The destination ends before white space, a
// control character, an unmatched ')' or a '(' that is nested too deeply.
func bareDestination(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c <= ' ':
			return i
		case c == '(':
			if depth++; depth > maxParens {
				return i
			}
		case c == ')':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(s)
}

func skipTitle(text string, off int) int {
	if off >= len(text) {
		return off
	}
	i := strings.IndexByte(`"'(`, text[off])
	if i < 0 {
		return off
	}
	end := `"')`[i]
	for j := off + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case end:
			return j + 1
		}
	}
	return off
}

func skipSpace(text string, off int) int {
	for off < len(text) && strings.IndexByte(" \t\r\n", text[off]) >= 0 {
		off++
	}
	return off
}

// link returns the Link that begins at the given opening bracket. ok is false if the link leaves the workspace or has no
// target.
func (d destination) link(text string, open bracket) (Link, bool) {
	raw := text[d.off : d.off+d.len]
	if strings.HasPrefix(raw, "//") || strings.IndexByte(raw, ':') > 0 && urlScheme.MatchString(raw) {
		return Link{}, false
	}
	linkpath, _, _ := strings.Cut(raw, "#")
	l := Link{
		Kind:      Markdown,
		Target:    cleanSpace(decode(linkpath)),
		Subpath:   decode(raw[len(linkpath):]),
		Off:       open.off,
		Len:       d.end - open.off,
		TargetOff: d.off,
		TargetLen: len(linkpath),
	}
	if open.image {
		l.Kind, l.Off, l.Len = MarkdownEmbed, l.Off-1, l.Len+1
	}
	return l, l.Target != "" || len(l.Subpath) > 1
}

var urlScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// escaped matches a backslash escape of ASCII punctuation.
var escaped = regexp.MustCompile("\\\\([!-/:-@[-`{-~])")

// decode resolves backslash and percent escapes. It keeps percent escapes that do not decode to UTF-8.
func decode(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		s = escaped.ReplaceAllString(s, "$1")
	}
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	d, err := url.PathUnescape(s)
	if err != nil || !utf8.ValidString(d) {
		return s
	}
	return d
}
