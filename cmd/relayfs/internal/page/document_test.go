package page

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What a page makes of its version and of what it is sent is the document, whatever has changed; and a block more
// or less sends little.
func TestDocumentsAddUp(t *testing.T) {
	document := rapid.SliceOfN(rapid.SampledFrom([]string{`"a"`, `"b"`, `"c"`, `"d"`, `"e"`, `"-"`}), 0, 30)
	raw := func(texts []string) []json.RawMessage {
		out := make([]json.RawMessage, len(texts))
		for i, s := range texts {
			out[i] = json.RawMessage(s)
		}
		return out
	}
	rapid.Check(t, func(r *rapid.T) {
		s := newSent()
		old, now := document.Draw(r, "old"), document.Draw(r, "new")
		if rapid.Bool().Draw(r, "edit") {
			at := rapid.IntRange(0, len(old)).Draw(r, "at")
			now = slices.Insert(slices.Clone(old), at, `"new"`)
		}
		have, _ := s.since("", raw(old))
		_, list := s.since(have, raw(now))
		var got []string
		last := 0
		for _, x := range list {
			switch x := x.(type) {
			case same:
				if x.Same[0] < last || x.Same[1] <= x.Same[0] {
					r.Fatalf("%v stands out of order", x)
				}
				last = x.Same[1]
				got = append(got, old[x.Same[0]:x.Same[1]]...)
			case json.RawMessage:
				got = append(got, string(x))
			}
		}
		if !slices.Equal(got, now) {
			r.Fatalf("the page makes %q of %q, want %q", got, old, now)
		}
		if at := slices.Index(now, `"new"`); at >= 0 && len(list) > 3 {
			r.Fatalf("a block is new, and %d things are sent", len(list))
		}
	})
	s := newSent()
	for range maxSent + 10 {
		s.since("", raw([]string{`"` + rapid.StringN(5, 9, -1).Example() + `"`}))
	}
	if len(s.versions) > maxSent || len(s.order) != len(s.versions) {
		t.Errorf("%d documents are remembered, %d in order, want %d", len(s.versions), len(s.order), maxSent)
	}
}
