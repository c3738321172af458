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

// Brake says, as model.ErrDeletionLimit, whether the removal of a note by the author
// would be one too many: more than brakeLimit go atOnce, and no person has decided on any of them.
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
	return fmt.Errorf("%w: %d of %d notes of %q within a minute; have a person decide on them (relayfs suggestions list), "+
		"or wait a minute and go on, or confirm where that can be said", model.ErrDeletionLimit, n, notes, f.Name)
}
