package critic

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// form is one of the five forms of CriticMarkup. Delimiters have three bytes.
type form struct {
	kind        Kind
	open, close string
}

var forms = [...]form{
	{Addition, "{++", "++}"},
	{Deletion, "{--", "--}"},
	{Substitution, "{~~", "~~}"},
	{Comment, "{>>", "<<}"},
	{HighlightOpen, "{==", "==}"},
}

const (
	arrow       = "~>" // between the halves of a substitution
	metadataEnd = "@@" // between Commentator's metadata and the text
)

func formOf(s string) (form, bool) {
	if len(s) < DelimiterLen || s[1] != s[2] { // most braces
		return form{}, false
	}
	for i := range forms {
		if strings.HasPrefix(s, forms[i].open) {
			return forms[i], true
		}
	}
	return form{}, false
}

func delimiterAt(s string) int {
	if s == "" || !startsDelimiter[s[0]] {
		return 0
	}
	if strings.HasPrefix(s, arrow) || strings.HasPrefix(s, metadataEnd) {
		return 2
	}
	for _, f := range forms {
		if strings.HasPrefix(s, f.open) || strings.HasPrefix(s, f.close) {
			return 3
		}
	}
	return 0
}

// CutsDelimiter reports whether an offset of s is inside a delimiter.
func CutsDelimiter(s string, at int) bool {
	return at > 0 && delimiterAt(s[at-1:]) > 1 || at > 1 && delimiterAt(s[at-2:]) > 2
}

// startsDelimiter is set for the possible first bytes of a delimiter.
var startsDelimiter = [256]bool{'{': true, '+': true, '-': true, '~': true, '<': true, '=': true, '@': true}

// FirstDelimiter returns the offset and the length of the first delimiter in s; n is 0 if there is none.
func FirstDelimiter(s string) (at, n int) {
	for at = range s {
		if n = delimiterAt(s[at:]); n > 0 {
			return at, n
		}
	}
	return 0, 0
}

func FirstOpener(s string) int {
	first := -1
	for _, f := range forms {
		if at := strings.Index(s, f.open); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// CutPoints returns the offsets at which to cut the content of a run, so that no piece contains an opener, the run's
// own closer, an arrow or a metadata separator. Each of these is cut in the middle. If all is set, the other closers
// are cut, too.
func CutPoints(content, close string, all bool) []int {
	var cuts []int
	for i := 0; i < len(content); {
		n := delimiterAt(content[i:])
		switch {
		case n == 0, n == 3 && content[i] != '{' && content[i:i+3] != close && !all:
			i++
			continue
		case n == 2:
			i++
		default:
			i += 2
		}
		cuts = append(cuts, i)
	}
	return cuts
}

// EndsOpen reports whether the end of text and the start of a run's closer together form an opener. plus is the
// repeated character of the closer.
func EndsOpen(text string, plus byte) bool {
	return strings.HasSuffix(text, "{") || strings.HasSuffix(text, "{"+string(plus))
}

// AgreesAs reports whether each form that agrees in the earlier document also agrees in d (see agrees).
func (d *Document) AgreesAs(before *Document) bool {
	return !slices.ContainsFunc(forms[:], func(f form) bool { return before.agrees(f) && !d.agrees(f) })
}

// agrees reports whether a parser of this form alone, from its opener to the next closer, finds the same marks as
// Parse. lens-editor and the npm parsers read each form by a separate pattern. agrees skips literal openers, as parsers
// that protect code do.
func (d *Document) agrees(f form) bool {
	next := 0
	for i := range d.Cells {
		c := &d.Cells[i]
		if c.Kind != f.kind || !strings.HasPrefix(d.Raw[c.Start:], f.open) {
			continue
		}
		found, ok := d.alone(f, next)
		if !ok || found.Start != c.Start {
			return false
		}
		next = found.End
	}
	_, more := d.alone(f, next)
	return !more
}

// alone finds the first mark of one form at or after an offset. It skips literal text.
func (d *Document) alone(f form, from int) (span.Span, bool) {
	for {
		start := strings.Index(d.Raw[from:], f.open)
		if start < 0 {
			return span.Span{}, false
		}
		start += from
		from = start + len(f.open)
		if _, literal := slices.BinarySearch(d.Literal, start); literal {
			continue
		}
		body := from
		if f.kind == Substitution {
			at := strings.Index(d.Raw[body:], arrow)
			if at < 0 {
				return span.Span{}, false
			}
			body += at + len(arrow)
		}
		end := strings.Index(d.Raw[body:], f.close)
		if end < 0 {
			return span.Span{}, false
		}
		return span.New(start, body+end+len(f.close)), true
	}
}
