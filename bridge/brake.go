package bridge

import (
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	// mostBrake and brakeShare are how many notes may go at once: so many, or such
	// a part of the Folder. leastBrake lets a small vault be tidied up.
	mostBrake  = 20
	brakeShare = 10
	leastBrake = 5
	// atOnce is what counts as at once: rm -rf takes milliseconds for each note, an
	// agent that asks for each one a few seconds.
	atOnce = time.Minute
)

// brakeLimit is how many of a Folder's notes may go at once.
func brakeLimit(notes int) int { return max(leastBrake, min(mostBrake, notes/brakeShare)) }

// brake remembers what was proposed to be deleted a moment ago.
type brake struct {
	mu   sync.Mutex // protects the following
	list []braked
}

// braked is a deletion, by whom and when.
type braked struct {
	p    *proposal
	by   model.Author
	time time.Time
}

func (b *brake) note(p *proposal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, braked{p, model.Author{Name: p.rec.Author, Session: p.rec.Session}, p.rec.Time})
}

// recent counts the author's deletions of this sitting that are young and still
// wait.
func (b *brake) recent(by model.Author, waits func(*proposal) bool) int {
	b.mu.Lock()
	b.list = slices.DeleteFunc(b.list, func(d braked) bool { return time.Since(d.time) > atOnce })
	list := slices.Clone(b.list)
	b.mu.Unlock()
	n := 0
	for _, d := range list {
		if d.by.Is(by) && waits(d.p) {
			n++
		}
	}
	return n
}
