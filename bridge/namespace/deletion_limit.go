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
	// Within limitWindow one author may propose to delete at most maxDeletions notes, or 1/maxShare of the root's notes
	// if that is less. But minDeletions are always allowed, so that a small vault can be tidied up.
	maxDeletions = 20
	maxShare     = 10
	minDeletions = 5
	// limitWindow is the time window of the limit: rm -rf takes milliseconds for each note, while an agent that deletes
	// notes one by one takes a few seconds for each.
	limitWindow = time.Minute
)

// deletionLimit returns the number of a root's notes that one author may propose to delete within limitWindow. notes is
// the number of notes in the root.
func deletionLimit(notes int) int { return max(minDeletions, min(maxDeletions, notes/maxShare)) }

// deletionLimiter records the deletions that were proposed within limitWindow.
type deletionLimiter struct {
	mu   sync.Mutex // guards the fields below
	list []recentDeletion
}

type recentDeletion struct {
	p      *tree.Proposal
	author model.Author
	time   time.Time
}

func (b *deletionLimiter) add(p *tree.Proposal, rec *model.ProposalRecord) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, recentDeletion{p, model.Author{Name: rec.Author, Session: rec.Session}, rec.Time})
}

// CheckDeletionLimit returns model.ErrDeletionLimit if the author may not remove another note now: within the last
// minute the author has proposed deletionLimit deletions on which no user has decided.
func (f *Root) CheckDeletionLimit(author model.Author) error {
	pending := f.Pending()
	f.deletions.mu.Lock()
	f.deletions.list = slices.DeleteFunc(f.deletions.list, func(d recentDeletion) bool { return time.Since(d.time) > limitWindow })
	n := 0
	for _, d := range f.deletions.list {
		if d.author.Is(author) && slices.Contains(pending, d.p) {
			n++
		}
	}
	f.deletions.mu.Unlock()
	if n < minDeletions {
		return nil
	}
	notes := f.CountNotes() + n
	if n < deletionLimit(notes) {
		return nil
	}
	return fmt.Errorf("%w: %d of %d notes of %q within a minute; ask the user to decide on them (relayfs suggestions list), "+
		"or wait a minute and continue, or confirm if the call allows it", model.ErrDeletionLimit, n, notes, f.Name)
}
