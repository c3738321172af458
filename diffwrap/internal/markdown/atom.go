package markdown

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// maxAtom is the maximum length in bytes of an atom with a closing delimiter. It limits the search for that delimiter.
const maxAtom = 512

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Construct is a rule about a token with a distinctive first character.
type Construct struct {
	Name   string
	first  string // possible first characters, all ASCII
	class  Class
	length length
}

// length returns the length of the construct at offset i of text, or 0. from is the offset at which the line or piece
// starts.
type length = func(text string, i, from int) int

// Constructs are the rules about tokens other than words and single characters. URLs are not among them, because URLs
// start as words. A mark inside an Atom would break it; Wrapped finds atoms that span lines.
var Constructs = []Construct{
	{"line break", "\r\n", Space, lineBreak},
	{"literal delimiter", "{+-~=<", Symbol, literalDelimiter},
	{"emphasis", "*_~=", Symbol, run},
	{"escape", "\\", Symbol, escape},
	{"embed", "!", Atom, embed},
	{"wikilink", "[", Atom, bounded(wikilink)},
	{"link", "[", Atom, bounded(link)},
	{"reference", "[", Atom, bounded(reference)},
	{"footnote label", "[", Atom, bounded(label)},
	{"inline code", "`", Atom, bounded(codeSpan)},
	{"inline formula", "$", Atom, bounded(mathSpan)},
	{"hidden text", "%", Atom, bounded(hidden)},
	{"template", "{", Atom, bounded(template)},
	{"entity", "&", Atom, bounded(entity)},
	{"inline HTML", "<", Atom, bounded(htmlTag)},
	{"tag", "#", Atom, atStart(tag)},
	{"id of a block", "^", Atom, atStart(bounded(blockID))},
}

// Destinations are the rules about what follows the label of a link reference definition.
var Destinations = []Construct{
	{"destination", "", Atom, destination},
}

// mayStart has the characters that can start a construct.
var mayStart = func() (t [256]bool) {
	for _, c := range Constructs {
		for i := range len(c.first) {
			t[c.first[i]] = true
		}
	}
	return t
}()

func construct(text string, i, from int) (t Token, ok bool) {
	for k := range Constructs {
		if c := &Constructs[k]; strings.IndexByte(c.first, text[i]) >= 0 {
			if n := c.length(text, i, from); n > 0 {
				return Token{span.New(i, i+n), c.class}, true
			}
		}
	}
	return Token{}, false
}

// literalDelimiter is a delimiter of a mark that is text, as in code: a change that cut it could make a mark of its parts.
func literalDelimiter(text string, i, _ int) int {
	if i+3 <= len(text) && slices.Contains(delimiters, text[i:i+3]) {
		return 3
	}
	return 0
}

var delimiters = []string{"{++", "{--", "{~~", "{==", "{>>", "++}", "--}", "~~}", "==}", "<<}"}

// bounded limits the search for the closing delimiter of a construct to maxAtom bytes.
func bounded(f func(s string) int) length {
	return func(text string, i, _ int) int { return f(text[i:min(len(text), i+maxAtom)]) }
}

// atStart restricts a construct to the start of a line or piece, and to places after a blank or bracket.
func atStart(f length) length {
	return func(text string, i, from int) int {
		if i > from && strings.IndexByte(" \t(", text[i-1]) < 0 {
			return 0
		}
		return f(text, i, from)
	}
}

func lineBreak(text string, i, _ int) int { return max(1, span.BreakLen(text[i:])) }

func run(text string, i, _ int) int { return span.Skip(text, i, text[i:i+1]) - i }

func escape(text string, i, _ int) int {
	n, _ := character(text, i)
	if end := i + n; end == len(text) || text[end] >= utf8.RuneSelf || text[end] <= ' ' {
		return 0
	}
	return n + 1
}

func embed(text string, i, _ int) int {
	rest := text[i+1 : min(len(text), i+maxAtom)]
	if n := cmp.Or(wikilink(rest), link(rest), reference(rest), label(rest)); n > 0 {
		return n + 1
	}
	return 0
}

// enclosed returns the length of a construct at the start of s, or 0 if there is none. The construct starts with open
// and ends with close; the text between them is not empty and has no line break.
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

func wikilink(s string) int { return enclosed(s, "[[", "]]") }

func link(s string) int {
	text := balanced(s, '[', ']')
	if text == 0 {
		return 0
	}
	if target := balanced(s[text:], '(', ')'); target > 0 {
		return text + target
	}
	return 0
}

func reference(s string) int {
	text := balanced(s, '[', ']')
	if text == 0 || strings.HasPrefix(s, "[^") {
		return 0
	}
	if label := balanced(s[text:], '[', ']'); label > 0 {
		return text + label
	}
	return 0
}

// followsLabel reports whether offset i follows what may be the label of a link reference definition.
func followsLabel(text string, i int) bool {
	if text[i] <= ' ' {
		return false
	}
	for i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
		i--
	}
	return strings.HasSuffix(text[:i], "]:")
}

func destination(text string, i, _ int) int {
	start := max(0, i-maxAtom) // of a long line, which defines no link
	line := strings.TrimRight(text[start+span.LineStart(text[start:], i-start):i], " \t")
	open := strings.IndexByte(line, '[')
	if open < 0 || strings.Trim(line[:open], " \t>-*+0123456789.)") != "" || strings.ContainsAny(line[open+1:len(line)-2], "[]") {
		return 0
	}
	rest := text[i:min(len(text), i+maxAtom)]
	if end := strings.IndexAny(rest, " \t\r\n"); end >= 0 {
		return end
	}
	return len(rest)
}

func label(s string) int {
	if n := balanced(s, '[', ']'); strings.HasPrefix(s, "[^") && !strings.HasPrefix(s[n:], "(") {
		return n
	}
	return 0
}

func hidden(s string) int   { return enclosed(s, "%%", "%%") }
func template(s string) int { return enclosed(s, "{{", "}}") }

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

// codeSpan returns the length of `inline code`, delimited by equal runs of backticks.
func codeSpan(s string) int {
	n := span.Skip(s, 0, "`")
	for i := n; i < len(s) && s[i] != '\n'; {
		if s[i] != '`' {
			i++
			continue
		}
		end := span.Skip(s, i, "`")
		if end-i == n {
			return end
		}
		i = end
	}
	return 0
}

// mathSpan returns the length of $math$ or $$math$$. With single dollars there must be no blank directly inside them,
// and no digit after the closing one.
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
	if n := span.Skip(s, 1, alphanumeric+"#"); n > 1 && strings.HasPrefix(s[n:], ";") {
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

// tag returns the length of #tag/subtag, which needs at least one character that is not a digit.
func tag(text string, i, _ int) int {
	n, named := i+1, false
	for n < len(text) {
		size, class := character(text, n)
		if class != Word && class != Glyph && strings.IndexByte("_-/", text[n]) < 0 {
			break
		}
		named = named || !isDigit(text[n])
		n += size
	}
	if !named {
		return 0
	}
	return n - i
}

func blockID(s string) int {
	if n := span.Skip(s, 1, alphanumeric+"-"); n > 1 && (n == len(s) || s[n] == '\n' || s[n] == '\r') {
		return n
	}
	return 0
}

// BlockID returns the offset of the block ID at the end of the line at an offset. Without an ID, it returns an offset
// after the text.
func BlockID(text string, at int) int {
	start := span.LineStart(text, at)
	line := strings.TrimRight(text[start:span.LineEnd(text, at)], " \t\r\n")
	i := strings.LastIndexByte(line, '^')
	if i < 0 || blockID(line[i:]) == 0 || i > 0 && !isBlank(line[i-1]) {
		return len(text) + 1
	}
	return start + i
}

// urlLength returns the length of the rest of a URL after its scheme. The URL ends at a blank or quoting character, and
// does not include the sentence's punctuation at the end.
func urlLength(s string) int {
	end := strings.IndexAny(s, " \t\r\n<>\"`|")
	if end < 0 {
		end = len(s)
	}
	return len(strings.TrimRight(s[:end], ".,;:!?)]}'*_~="))
}
