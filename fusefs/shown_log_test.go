package fusefs

import (
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

func textsOf(images []content.Image) []string {
	var out []string
	for _, im := range images {
		out = append(out, im.Text)
	}
	return out
}

func TestShownLog(t *testing.T) {
	t.Parallel()
	const doc = 7
	cat := program.Program{Identity: program.Identity{PID: 10}, Run: program.Identity{PID: 1}}
	claude := program.Program{Identity: program.Identity{PID: 20}, Run: program.Identity{PID: 2}}
	sed := program.Program{Identity: program.Identity{PID: 30}, Run: program.Identity{PID: 2}}
	stranger := program.Program{Identity: program.Identity{PID: 40}, Run: program.Identity{PID: 4}}
	l := &shownLog{}
	check := func(what string, prog program.Program, own bool, want ...string) {
		t.Helper()
		if got, read := l.images(doc, prog); !slices.Equal(textsOf(got), want) || read != own {
			t.Errorf("%s: got %q (read by itself: %v), want %q (%v)", what, textsOf(got), read, want, own)
		}
	}
	check("nobody was shown anything", cat, false)
	l.add(doc, cat, content.Image{Text: "one"}, true)
	check("process", cat, true, "one")
	check("anyone", claude, false, "one")
	l.add(doc, claude, content.Image{Text: "one"}, true)
	l.add(doc, claude, content.Image{Text: "two"}, true)
	check("the last of several", claude, true, "two")
	check("the session's last", sed, false, "two")
	check("anyone's last", stranger, false, "two")
	l.add(doc, cat, content.Image{Text: "three"}, true)
	check("anyone's last", stranger, false, "three")
	l.add(doc, sed, content.Image{Text: "four"}, false)
	check("the writer", sed, false, "four")
	check("who read something itself", claude, true, "two")
	check("another session", cat, true, "three")
	l.add(doc, claude, content.Image{Text: "four"}, true)
	check("who has read what its session wrote", claude, true, "four")
	check("who wrote, and whose session read since", sed, false, "four", "four")
	l.add(doc, claude, content.Image{Text: "five"}, false)
	check("who wrote last", claude, true, "five")
	check("who wrote before its session did", sed, false, "five")
	if got, _ := l.images(8, cat); got != nil {
		t.Errorf("another note: %q", textsOf(got))
	}
	if size := len("three" + "four" + "five"); l.bytes != size {
		t.Errorf("%d bytes accounted, want %d", l.bytes, size)
	}
}

func TestShownLogIsBounded(t *testing.T) {
	t.Parallel()
	l := &shownLog{}
	for i := range maxShown + 100 {
		l.add(uint64(i%5000), program.Program{Identity: program.Identity{PID: i}}, content.Image{Text: "x"}, true)
	}
	if l.order.Len() != maxShown || l.bytes != maxShown {
		t.Errorf("%d entries of %d bytes, want %d each", l.order.Len(), l.bytes, maxShown)
	}
	if got, _ := l.images(99, program.Program{Identity: program.Identity{PID: 99}}); len(got) != 1 {
		t.Errorf("after the oldest was forgotten: %q", textsOf(got))
	}
	big := strings.Repeat("x", maxShownBytes/4+1)
	for i := range 10 {
		l.add(uint64(i), program.Program{Identity: program.Identity{PID: 1}}, content.Image{Text: big}, true)
	}
	if l.bytes > maxShownBytes {
		t.Errorf("%d bytes, want at most %d", l.bytes, maxShownBytes)
	}
}
