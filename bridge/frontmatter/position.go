package frontmatter

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// linesOf returns the start of each line of src. As in YAML 1.1 and go-yaml, NEL, LS and PS also end lines.
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

func (e *editor) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(e.lines) {
		return len(e.src)
	}
	column, at := 1, e.lines[n.Line-1]
	if c := e.cached; c.line == n.Line && c.column <= n.Column {
		column, at = c.column, c.at // without this cache a long line would cost quadratic time
	}
	for ; column < n.Column; column++ {
		_, size := utf8.DecodeRuneInString(e.src[at:])
		at += size
	}
	e.cached.line, e.cached.column, e.cached.at = n.Line, n.Column, at
	return at
}

func (e *editor) lineEnd(at int) int { return lineEnd(e.src, at) }

func (e *editor) contentLineEnd(at int) int {
	end := lineEnd(e.src, at)
	return at + len(strings.TrimRight(e.src[at:end], "\r\n"))
}

// contentEnd returns the end of the last line of src[from:limit] that is part of the content. Blank lines at the end
// are not part of the content. Comments indented by at most column are not part of it either, because they introduce
// the next entry.
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

// end returns the end of the node n, before limit. column is the column of the enclosing block; flow is set inside
// brackets.
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
		return Quoted(e.src, at)
	}
	return e.plainEnd(at, limit, flow), true
}

// skipProperties skips the anchor and the tag at the given offset, and returns the offset after them.
func (e *editor) skipProperties(at int) int {
	for at < len(e.src) && (e.src[at] == '&' || e.src[at] == '!') {
		at += strings.IndexAny(e.src[at:]+" ", " \t\r\n")
		at = e.skipBlank(at)
	}
	return at
}

func (e *editor) skipBlank(at int) int {
	return len(e.src) - len(strings.TrimLeft(e.src[at:], " \t\r\n"))
}

// Quoted returns the offset after a quoted scalar in a YAML text. at is the offset of its opening quote. ok is false if
// the scalar has no end.
func Quoted(yaml string, at int) (end int, ok bool) {
	for i := at + 1; i < len(yaml); i++ {
		switch quote := yaml[at]; {
		case quote == '"' && yaml[i] == '\\':
			i++
		case quote == '\'' && yaml[i] == quote && strings.HasPrefix(yaml[i+1:], "'"):
			i++
		case yaml[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

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
			end, ok := Quoted(e.src, i)
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

// plainEnd returns the end of the plain scalar that begins at the given offset: before a comment, before a separator of
// a flow collection, or at the end of its last line.
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

// plainLength returns the number of bytes of a line that a plain scalar can include.
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

func (e *editor) colon(at int) (int, bool) {
	at = e.skipBlank(at)
	return at + 1, strings.HasPrefix(e.src[at:], ":")
}
