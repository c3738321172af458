package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/tests/need"
)

// withCache is a workspace with a plan of text, another note, and room for size
// bytes of notes.
func withCache(t *testing.T, text string, size int) *bridgetest.Fixture {
	t.Helper()
	files := map[string]string{plan: text, other: "other\n"}
	return bridgetest.New(t, files, func(o *bridge.Options) { o.CacheBytes = size })
}

const other = "Notes/Other.md"

// What is read and does not fit is dropped, the oldest first, and read again.
func TestLargeNotesAreEvicted(t *testing.T) {
	f := withCache(t, strings.Repeat("x", 1000)+"\n", 1000)
	large := open(t, f.Workspace, plan)
	small := open(t, f.Workspace, other)
	again := open(t, f.Workspace, plan)
	if again == large || again.Text() != large.Text() {
		t.Errorf("a note beyond the budget: kept %v, text %q", again == large, again.Text())
	}
	if open(t, f.Workspace, other) == small {
		t.Error("the other note is kept beside one that takes all the room")
	}
}

// A note that was written a little at a time takes the room of that, not of its text.
func TestLongHistoriesAreEvicted(t *testing.T) {
	need.Plain(t)
	const room = 64 << 10
	f := withCache(t, "one\n", room)
	text := "one\n"
	grow := func(n int) {
		for i := range n {
			text = fmt.Sprintf("%c%s", 'a'+i%26, text)
			write(t, f.Workspace, plan, bridge.Write{By: ann, Text: text})
		}
	}
	grow(100)
	long := open(t, f.Workspace, plan)
	open(t, f.Workspace, other)
	before := open(t, f.Workspace, plan)
	if before != long {
		t.Fatalf("a history of 100 changes does not fit into %d bytes", room)
	}
	grow(1000)
	long = open(t, f.Workspace, plan)
	open(t, f.Workspace, other)
	again := open(t, f.Workspace, plan)
	if again == long || again.Text() != long.Text() {
		t.Errorf("a note with a long history: kept %v, text %q", again == long, again.Text())
	}
	res := write(t, f.Workspace, plan, bridge.Write{Base: long, Text: long.Text() + "more\n"})
	if want := long.Text() + "more\n"; res.Version.Text() != want {
		t.Errorf("a write from before the eviction led to %q, want %q", res.Version.Text(), want)
	}
}
