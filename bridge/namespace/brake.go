package namespace

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

const (
	// Within atOnce at most mostBrake notes may be deleted, or 1/brakeShare of the Folder's if that
	// is less, but always leastBrake, so that a small vault can be tidied up.
	mostBrake  = 20
	brakeShare = 10
	leastBrake = 5
	// atOnce is the time window of the limit: rm -rf takes milliseconds for each note,
	// an agent that asks for each one a few seconds.
	atOnce = time.Minute
)

// brakeLimit returns how many of a Folder's notes may be deleted within atOnce.
func brakeLimit(notes int) int { return max(leastBrake, min(mostBrake, notes/brakeShare)) }

// brake records the deletions that were proposed within atOnce.
type brake struct {
	mu   sync.Mutex // guards the fields below
	list []braked
}

type braked struct {
	p    *tree.Proposal
	by   model.Author
	time time.Time
}

func (b *brake) note(p *tree.Proposal, rec *model.ProposalRecord) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, braked{p, model.Author{Name: rec.Author, Session: rec.Session}, rec.Time})
}

// Brake returns model.ErrDeletionLimit if the author may not remove another note now: it has
// brakeLimit deletions from the last minute that no user has decided on.
func (f *Folder) Brake(by model.Author) error {
	pending := f.Pending()
	f.brake.mu.Lock()
	f.brake.list = slices.DeleteFunc(f.brake.list, func(d braked) bool { return time.Since(d.time) > atOnce })
	n := 0
	for _, d := range f.brake.list {
		if d.by.Is(by) && slices.Contains(pending, d.p) {
			n++
		}
	}
	f.brake.mu.Unlock()
	if n < leastBrake {
		return nil
	}
	notes := f.CountNotes() + n
	if n < brakeLimit(notes) {
		return nil
	}
	return fmt.Errorf("%w: %d of %d notes of %q within a minute; ask the user to decide on them (relayfs suggestions list), "+
		"or wait a minute and continue, or confirm if the call allows it", model.ErrDeletionLimit, n, notes, f.Name)
}
