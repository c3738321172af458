package main

import (
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// The hook reports each decision once, also if the clock was set back between two of them.
func TestNewsAfterTheClockWasSetBack(t *testing.T) {
	now := time.Now()
	entry := func(path string, order uint64, at time.Time) reviewqueue.LogEntry {
		item := reviewqueue.LogItem{DecidedItem: model.DecidedItem{Session: "s", New: "new"}}
		return reviewqueue.LogEntry{Batch: path, Path: path, Order: order, Time: at, Action: string(model.Accepted), Suggestions: []reviewqueue.LogItem{item}}
	}
	log := []reviewqueue.LogEntry{entry("Notes/B.md", 2, now.AddDate(0, 0, -1)), entry("Notes/A.md", 1, now)}
	for after, want := range map[uint64][]string{0: {"A.md", "B.md"}, 1: {"B.md"}, 2: nil} {
		lines := newsIn(log, []string{"s"}, after)
		if len(lines) != len(want) {
			t.Fatalf("after %d: %q, want %q", after, lines, want)
		}
		for i, line := range lines {
			if !strings.Contains(line, want[i]) {
				t.Errorf("after %d: %q, want %q", after, lines, want)
			}
		}
	}
}
