package frontmatter

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// linesOf is where each line of src begins. Lines end as YAML 1.1 has it, which
// the library counts by: also with NEL, LS and PS.
func linesOf(src string) []int {
	lines := []int{0}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == '\r' && strings.HasPrefix(src[i+1:], "\n") {
			n = 2
		}
		i += n
		switch r {
		case '\n', '\r', '\u0085', '\u2028', '\u2029':
			lines = append(lines, i)
		}
	}
	return lines
}

// offset is where a node begins, its anchor and tag included.
func (e *editor) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(e.lines) {
		return len(e.src)
	}
	column, at := 1, e.lines[n.Line-1]
	if k := e.known; k.line == n.Line && k.column <= n.Column {
		column, at = k.column, k.at // a long line is not counted again for each of its nodes
	}
	for ; column < n.Column; column++ {
		_, size := utf8.DecodeRuneInString(e.src[at:])
		at += size
	}
	e.known.line, e.known.column, e.known.at = n.Line, n.Column, at
	return at
}

// lineStart is where the line with the offset at begins.
func (e *editor) lineStart(at int) int { return 1 + strings.LastIndexByte(e.src[:at], '\n') }

// lineEnd is the offset behind the line's break.
func (e *editor) lineEnd(at int) int { return lineEnd(e.src, at) }

// contentLineEnd is the offset before the line's break.
func (e *editor) contentLineEnd(at int) int {
	end := lineEnd(e.src, at)
	return at + len(strings.TrimRight(e.src[at:end], "\r\n"))
}

// skipBlankLines is where the first line from at on begins that is not blank.
func (e *editor) skipBlankLines(at int) int {
	for at < len(e.src) && strings.TrimSpace(e.src[at:e.lineEnd(at)]) == "" {
		at = e.lineEnd(at)
	}
	return at
}

// contentEnd is where the last line of src[from:limit] ends that is neither blank
// nor a comment at column or left of it: those lead in what follows.
func (e *editor) contentEnd(from, limit, column int) int {
	end := e.contentLineEnd(from)
	for at := e.lineEnd(from); at < limit; at = e.lineEnd(at) {
		line := strings.TrimRight(e.src[at:e.lineEnd(at)], " \t\r\n")
		text := strings.TrimLeft(line, " \t")
		if text == "" || text[0] == '#' && len(line)-len(text) <= column {
			continue
		}
		end = e.contentLineEnd(at)
	}
	return end
}

// end is where the node n ends, before limit. column is that of the block it
// stands in; flow says that brackets are around it.
func (e *editor) end(n *yaml.Node, limit, column int, flow bool) (int, bool) {
	from := e.offset(n)
	if isEmpty(n) {
		return from, n.Anchor == "" && n.Style&yaml.TaggedStyle == 0
	}
	if n.Kind == yaml.AliasNode {
		return from + strings.IndexAny(e.src[from:]+" ", " \t\r\n,]}"), true
	}
	if !flow && !isFlow(n) && (n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0) {
		return e.contentEnd(from, limit, column), true
	}
	at := e.skipProperties(from)
	switch {
	case n.Kind != yaml.ScalarNode:
		return e.closing(at)
	case n.Style&yaml.DoubleQuotedStyle != 0, n.Style&yaml.SingleQuotedStyle != 0:
		return e.quoted(at)
	}
	return e.plainEnd(at, limit, flow), true
}

// skipProperties is the offset behind the anchor and the tag at at.
func (e *editor) skipProperties(at int) int {
	for at < len(e.src) && (e.src[at] == '&' || e.src[at] == '!') {
		at += strings.IndexAny(e.src[at:]+" ", " \t\r\n")
		at = e.skipBlank(at)
	}
	return at
}

// skipBlank is the offset of the next character that is no white space.
func (e *editor) skipBlank(at int) int {
	return len(e.src) - len(strings.TrimLeft(e.src[at:], " \t\r\n"))
}

// quoted is the offset behind the quoted scalar at at.
func (e *editor) quoted(at int) (int, bool) {
	if at >= len(e.src) {
		return 0, false
	}
	quote := e.src[at]
	for i := at + 1; i < len(e.src); i++ {
		switch {
		case quote == '"' && e.src[i] == '\\':
			i++
		case quote == '\'' && e.src[i] == quote && strings.HasPrefix(e.src[i+1:], "'"):
			i++
		case e.src[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

// closing is the offset behind the bracket that closes the one at at.
func (e *editor) closing(at int) (int, bool) {
	depth := 0
	for i := at; i < len(e.src); i++ {
		switch c := e.src[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case (c == '"' || c == '\'') && i > 0 && strings.IndexByte(" \t\n,[{:", e.src[i-1]) >= 0:
			end, ok := e.quoted(i)
			if !ok {
				return 0, false
			}
			i = end - 1
		case c == '#' && i > 0 && strings.IndexByte(" \t\n", e.src[i-1]) >= 0:
			i = e.lineEnd(i) - 1
		}
	}
	return 0, false
}

// plainEnd is where the plain scalar at at ends: before a comment, before what
// separates the items of a flow collection, or with its last line.
func (e *editor) plainEnd(at, limit int, flow bool) int {
	end := at
	for line := at; line < limit; line = e.lineEnd(line) {
		text := e.src[line:e.contentLineEnd(line)]
		if line != at && strings.HasPrefix(strings.TrimLeft(text, " \t"), "#") {
			return end
		}
		cut := plainLength(text, flow)
		if trimmed := strings.TrimRight(text[:cut], " \t"); strings.TrimSpace(trimmed) != "" {
			end = line + len(trimmed)
		}
		if cut < len(text) {
			return end
		}
	}
	return end
}

// plainLength is how much of a line a plain scalar may take.
func plainLength(line string, flow bool) int {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '#' && i > 0 && (line[i-1] == ' ' || line[i-1] == '\t'):
			return i - 1
		case flow && strings.IndexByte(",[]{}", c) >= 0:
			return i
		case flow && c == ':' && (i+1 == len(line) || strings.IndexByte(" \t,[]{}", line[i+1]) >= 0):
			return i
		}
	}
	return len(line)
}

// keyEnd is where the key of an entry ends.
func (e *editor) keyEnd(n *yaml.Node, limit int) (int, bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 {
		return e.end(n, limit, 0, true)
	}
	at := e.skipProperties(e.offset(n))
	line := e.src[at:e.contentLineEnd(at)]
	for i := range len(line) {
		if line[i] == ':' && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t') {
			return at + i, true
		}
	}
	return at + len(strings.TrimRight(line, " \t")), true // an explicit key: its colon is on the next line
}

// colon is the offset behind the colon that follows a key's end.
func (e *editor) colon(at int) (int, bool) {
	at = e.skipBlank(at)
	return at + 1, strings.HasPrefix(e.src[at:], ":")
}
