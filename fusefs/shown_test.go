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
	check := func(what string, by process, own bool, want ...string) {
		t.Helper()
		if got, read := l.images(doc, by); !slices.Equal(texts(got), want) || read != own {
			t.Errorf("%s: got %q (read by itself: %v), want %q (%v)", what, texts(got), read, want, own)
		}
	}
	check("nobody was shown anything", cat, false)
	l.add(doc, cat, image{text: "one"})
	check("process", cat, true, "one")
	check("anyone", claude, false, "one")
	l.add(doc, claude, image{text: "one"})
	l.add(doc, claude, image{text: "two"})
	check("the last of several", claude, true, "two")
	check("the session's last", sed, false, "two")
	check("anyone's last", stranger, false, "two")
	l.add(doc, cat, image{text: "three"})
	check("anyone's last", stranger, false, "three")
	l.wrote(doc, sed, image{text: "four"})
	check("the writer", sed, false, "four")
	check("who read something itself", claude, true, "two")
	check("another session", cat, true, "three")
	l.add(doc, claude, image{text: "four"})
	check("who has read what its session wrote", claude, true, "four")
	check("who wrote, and whose session read since", sed, false, "four", "four")
	l.wrote(doc, claude, image{text: "five"})
	check("who wrote last", claude, true, "five")
	check("who wrote before its session did", sed, false, "four", "five")
	if got, _ := l.images(8, cat); got != nil {
		t.Errorf("another note: %q", texts(got))
	}
	if size := len("three" + "four" + "five"); l.bytes != size {
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
	if got, _ := l.images(99, process{id: 99}); len(got) != 1 {
		t.Errorf("after the oldest was forgotten: %q", texts(got))
	}
	big := strings.Repeat("x", maxShownBytes/4+1)
	for i := range 10 {
		l.add(uint64(i), process{id: 1}, image{text: big})
	}
	if l.bytes > maxShownBytes {
		t.Errorf("%d bytes, want at most %d", l.bytes, maxShownBytes)
	}
}
