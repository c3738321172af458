package content

import (
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// A new text is stale even if it has the length of the evicted text, and its time is before the time that the inode
// shows: each failed write makes the name show the same text with a later time.
func TestEvictedTextIsStale(t *testing.T) {
	now := time.Now()
	first := model.NewVersion("one\n", diffwrap.AcceptedView, now)
	second := model.NewVersion("two\n", diffwrap.AcceptedView, model.NextModTime(now, now))
	var text Text
	for range 3 {
		text.SetLatest(first)
		text.Show()
		text = text.Next()
	}
	text.SetLatest(first)
	text.Show()
	text.Evict()
	text.SetLatest(first)
	if text.State() != Evicted || text.IsStale() {
		t.Fatalf("state %v, stale %v before the change", text.State(), text.IsStale())
	}
	second.SetSeq(1, 0)
	text.SetLatest(second)
	if !text.IsStale() {
		t.Error("the text is not stale after a change")
	}
}
