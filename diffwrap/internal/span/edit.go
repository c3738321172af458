package span

import (
	"strings"
)

// Edit replaces Len bytes at Off by New.
type Edit struct {
	Off, Len int
	New      string
}

func Apply(text string, edits []Edit) string {
	if len(edits) == 0 {
		return text
	}
	var b strings.Builder
	grow := len(text)
	for _, e := range edits {
		grow += len(e.New) - e.Len
	}
	b.Grow(grow)
	pos := 0
	for _, e := range edits {
		b.WriteString(text[pos:e.Off])
		b.WriteString(e.New)
		pos = e.Off + e.Len
	}
	b.WriteString(text[pos:])
	return b.String()
}

// Append adds an edit to a script. It merges the edit with the last one if the two touch, and ignores an empty edit.
func Append(script []Edit, e Edit) []Edit {
	if e.Len == 0 && e.New == "" {
		return script
	}
	if n := len(script); n > 0 {
		if last := &script[n-1]; last.Off+last.Len == e.Off {
			last.Len += e.Len
			last.New += e.New
			return script
		}
	}
	return append(script, e)
}

// Compose returns one script with the effect of first and then second; see diffwrap.Compose.
func Compose(size int, first, second []Edit) []Edit {
	if len(first) == 0 {
		return second
	}
	between := stretches(size, first)
	var out []Edit
	off := 0 // offset in the text before first
	take := func(n int, keep bool) {
		for n > 0 {
			s := &between[0]
			m := min(n, s.Len())
			if s.new == "" {
				out = Append(out, Edit{Off: off, Len: s.Start - off})
				off = s.Start + m
				if !keep {
					out = Append(out, Edit{Off: s.Start, Len: m})
				}
			} else if keep {
				out = Append(out, Edit{Off: off, New: s.new[s.Start : s.Start+m]})
			}
			n -= m
			if s.Start += m; s.Empty() {
				between = between[1:]
			}
		}
	}
	at := 0 // offset in the text between first and second
	for _, e := range second {
		take(e.Off-at, true)
		take(e.Len, false)
		out = Append(out, Edit{Off: off, New: e.New})
		at = e.Off + e.Len
	}
	for len(between) > 0 {
		take(between[0].Len(), true)
	}
	return Append(out, Edit{Off: off, Len: size - off})
}

// stretch is a piece of an edited text: a range of the old text or, if new is not empty, a range of new.
type stretch struct {
	Span
	new string
}

// stretches lists the pieces that a script keeps and inserts.
func stretches(size int, edits []Edit) (list []stretch) {
	at := 0
	for _, e := range append(edits[:len(edits):len(edits)], Edit{Off: size}) {
		if e.Off > at {
			list = append(list, stretch{Span: New(at, e.Off)})
		}
		if e.New != "" {
			list = append(list, stretch{New(0, len(e.New)), e.New})
		}
		at = e.Off + e.Len
	}
	return list
}
