package namespace

import (
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
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

// CheckDeletionLimit returns model.ErrDeletionLimit if the author may not remove another note now: within the last
// minute the author has proposed as many deletions as are allowed, on which no user has decided.
func (f *Root) CheckDeletionLimit(author model.Author) error {
	n := 0
	for _, p := range f.Pending() {
		rec := p.Record()
		if rec.Kind == model.ProposedDelete && p.Node.Kind == model.KindNote && author.Is(model.Author{Name: rec.Author, Session: rec.Session}) && time.Since(rec.Time) <= limitWindow {
			n++
		}
	}
	if n < minDeletions {
		return nil
	}
	notes := f.CountNotes() + n
	if n < max(minDeletions, min(maxDeletions, notes/maxShare)) {
		return nil
	}
	return fmt.Errorf("%w: %d of %d notes of %q within a minute; ask the user to decide on them (relayfs suggestions list), "+
		"or wait a minute and continue", model.ErrDeletionLimit, n, notes, f.Name)
}
