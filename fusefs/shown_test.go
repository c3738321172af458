package fusefs

import (
	"slices"
	"strings"
	"testing"
)

func texts(images []image) []string {
	var out []string
	for _, im := range images {
		out = append(out, im.text)
	}
	return out
}

func TestShownLog(t *testing.T) {
	const doc = 7
	cat := process{id: 10, session: 1}
	claude := process{id: 20, session: 2}
	sed := process{id: 30, session: 2}
	stranger := process{id: 40, session: 4}
	l := &shownLog{}
	check := func(what string, by process, want ...string) {
		t.Helper()
		if got := texts(l.images(doc, by)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	check("nobody was shown anything", cat)
	l.add(doc, cat, image{text: "one"})
	check("process", cat, "one")
	check("anyone", claude, "one")
	l.add(doc, claude, image{text: "one"})
	l.add(doc, claude, image{text: "two"})
	l.add(doc, claude, image{text: "two"})
	check("several", claude, "one", "two")
	check("the session's last", sed, "two")
	check("anyone's last", stranger, "two")
	l.add(doc, cat, image{text: "two"})
	l.add(doc, cat, image{text: "three"})
	check("anyone's last", stranger, "three")
	l.wrote(doc, sed, image{text: "four"})
	check("the writer", sed, "four")
	check("who read something itself", claude, "one", "two")
	check("another session", cat, "one", "two", "three")
	l.add(doc, claude, image{text: "four"})
	check("who has read what its session wrote", claude, "four")
	check("who wrote, and whose session read since", sed, "four", "four")
	l.wrote(doc, claude, image{text: "five"})
	check("who wrote last", claude, "five")
	check("who wrote before its session did", sed, "four", "five")
	if got := l.images(8, cat); got != nil {
		t.Errorf("another note: %q", texts(got))
	}
}

func TestShownLogKeepsTheLatestOfAProcess(t *testing.T) {
	l := &shownLog{}
	var want []string
	for i := range maxImages + 3 {
		text := string(rune('a' + i))
		l.add(1, process{id: 1}, image{text: text})
		want = append(want, text)
	}
	want = want[3:]
	if got := texts(l.images(1, process{id: 1})); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if size := len(strings.Join(want, "")); l.bytes != size {
		t.Errorf("%d bytes accounted, want %d", l.bytes, size)
	}
}

func TestShownLogIsBounded(t *testing.T) {
	l := &shownLog{}
	for i := range maxShown + 100 {
		l.add(uint64(i%5000), process{id: i}, image{text: "x"})
	}
	if l.order.Len() != maxShown || l.bytes != maxShown {
		t.Errorf("%d entries of %d bytes, want %d each", l.order.Len(), l.bytes, maxShown)
	}
	if got := texts(l.images(99, process{id: 99})); len(got) != 1 {
		t.Errorf("after the oldest was forgotten: %q", got)
	}
	big := strings.Repeat("x", maxShownBytes/4+1)
	for i := range 10 {
		l.add(uint64(i), process{id: 1}, image{text: big})
	}
	if l.bytes > maxShownBytes {
		t.Errorf("%d bytes, want at most %d", l.bytes, maxShownBytes)
	}
}
