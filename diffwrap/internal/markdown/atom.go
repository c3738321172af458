package markdown

import "strings"

// maxAtom bounds the length in bytes of an atom that needs a closing delimiter, and thereby the search for it.
const maxAtom = 512

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// atomLength returns the length of the atom at offset i of text, 0 when there is none. Atoms are constructs of one
// line that a mark inside would break: wikilinks and embeds, links and images, inline code, tags, math, %%comments%%, block
// ids, HTML, templates. URLs are found by word. from is the start of the line or piece.
func atomLength(text string, i, from int) int {
	rest := text[i:min(len(text), i+maxAtom)]
	switch text[i] {
	case '!':
		if n := bracketed(rest[1:]); n > 0 {
			return n + 1
		}
	case '[':
		return bracketed(rest)
	case '`':
		return codeSpan(rest)
	case '$':
		return mathSpan(rest)
	case '%':
		return enclosed(rest, "%%", "%%")
	case '{':
		return enclosed(rest, "{{", "}}")
	case '&':
		return entity(rest)
	case '<':
		return htmlTag(rest)
	case '#':
		if startsPiece(text, i, from) {
			return tag(text[i:])
		}
	case '^':
		if startsPiece(text, i, from) {
			return blockID(rest)
		}
	}
	return 0
}

func startsPiece(text string, i, from int) bool {
	return i == from || strings.IndexByte(" \t(", text[i-1]) >= 0
}

// enclosed returns the length of open, something on one line, close at the start of s.
func enclosed(s, open, close string) int {
	if !strings.HasPrefix(s, open) {
		return 0
	}
	end := strings.Index(s[len(open):], close)
	if end <= 0 || strings.IndexByte(s[:len(open)+end], '\n') >= 0 {
		return 0
	}
	return len(open) + end + len(close)
}

// bracketed returns the length of a [[wikilink]], a [link](destination) or a [^footnote] at the start of s.
func bracketed(s string) int {
	if n := enclosed(s, "[[", "]]"); n > 0 {
		return n
	}
	text := balanced(s, '[', ']')
	switch {
	case text == 0:
		return 0
	case strings.HasPrefix(s[text:], "("):
		if target := balanced(s[text:], '(', ')'); target > 0 {
			return text + target
		}
	case strings.HasPrefix(s, "[^"):
		return text
	}
	return 0
}

func balanced(s string, open, close byte) int {
	if s == "" || s[0] != open {
		return 0
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case open:
			depth++
		case close:
			if depth--; depth == 0 {
				return i + 1
			}
		case '\n':
			return 0
		}
	}
	return 0
}

// codeSpan returns the length of `inline code`, whose fences are equally long runs of backticks.
func codeSpan(s string) int {
	n := Skip(s, 0, "`")
	for i := n; i < len(s) && s[i] != '\n'; {
		if s[i] != '`' {
			i++
			continue
		}
		end := Skip(s, i, "`")
		if end-i == n {
			return end
		}
		i = end
	}
	return 0
}

// mathSpan returns the length of $math$ or $$math$$: no blank inside the dollars, no digit after a single one.
func mathSpan(s string) int {
	if n := enclosed(s, "$$", "$$"); n > 0 {
		return n
	}
	n := enclosed(s, "$", "$")
	if n == 0 || s[1] == ' ' || s[n-2] == ' ' || n < len(s) && isDigit(s[n]) {
		return 0
	}
	return n
}

func entity(s string) int {
	if n := Skip(s, 1, alphanumeric+"#"); n > 1 && strings.HasPrefix(s[n:], ";") {
		return n + 1
	}
	return 0
}

func htmlTag(s string) int {
	if n := enclosed(s, "<!--", "-->"); n > 0 {
		return n
	}
	if len(s) < 3 || !isLetter(s[1]) && s[1] != '/' {
		return 0
	}
	return enclosed(s, "<", ">")
}

// tag returns the length of #tag/subtag, which needs one character that is not a digit.
func tag(s string) int {
	n, named := 1, false
	for n < len(s) {
		size, class := character(s, n)
		if class != Word && class != Glyph && strings.IndexByte("_-/", s[n]) < 0 {
			break
		}
		named = named || !isDigit(s[n])
		n += size
	}
	if !named {
		return 0
	}
	return n
}

func blockID(s string) int {
	if n := Skip(s, 1, alphanumeric+"-"); n > 1 && (n == len(s) || s[n] == '\n' || s[n] == '\r') {
		return n
	}
	return 0
}

// urlLength returns the length of what follows the scheme of a URL at the start of s: up to a blank or a quoting
// character, without the punctuation of the sentence around it.
func urlLength(s string) int {
	end := strings.IndexAny(s, " \t\r\n<>\"`|")
	if end < 0 {
		end = len(s)
	}
	return len(strings.TrimRight(s[:end], ".,;:!?)]}'*_~="))
}
