package critic

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// AgreesAs reports whether a document is read alike form by form and mark by mark, for each form of which that was so
// before.
func (d *Document) AgreesAs(before *Document) bool {
	return !slices.ContainsFunc(forms[:], func(f form) bool { return before.agrees(f) && !d.agrees(f) })
}

// agrees reports whether a reader that looks for one form alone, from opener to next closer, finds the marks that
// parse found. lens-editor and the npm parsers read like that, each form by a pattern of its own.
func (d *Document) agrees(f form) bool {
	next := 0
	for i := range d.Cells {
		c := &d.Cells[i]
		if c.Kind != f.kind || !strings.HasPrefix(d.Raw[c.Start:], f.open) {
			continue
		}
		found, ok := alone(d.Raw, f, next)
		if !ok || found.Start != c.Start {
			return false
		}
		next = found.End
	}
	_, more := alone(d.Raw, f, next)
	return !more
}

// alone finds the first mark of one form at or after offset from.
func alone(raw string, f form, from int) (span.Span, bool) {
	start := strings.Index(raw[from:], f.open)
	if start < 0 {
		return span.Span{}, false
	}
	start += from
	body := start + len(f.open)
	if f.kind == Substitution {
		at := strings.Index(raw[body:], arrow)
		if at < 0 {
			return span.Span{}, false
		}
		body += at + len(arrow)
	}
	end := strings.Index(raw[body:], f.close)
	if end < 0 {
		return span.Span{}, false
	}
	return span.New(start, body+end+len(f.close)), true
}
