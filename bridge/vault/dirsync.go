package vault

import (
	"sync"

	"github.com/relayfs/relayfs/bridge/disk"
)

// dirSyncs lets changes of names in one folder that are made at the same time
// share a sync. A sync keeps every change that came before it began, so who comes
// while one is going on waits for the next, together with everybody else.
type dirSyncs struct {
	mu     sync.Mutex // protects the following, and the rounds' fields
	last   map[fileID]*syncRound
	failed map[fileID]error // until somebody asks: not everybody who waits can tell
}

// syncRound is one sync of a folder.
type syncRound struct {
	before *syncRound // ends before this one begins; nil if it has ended
	begun  bool       // too late to join
	done   chan struct{}
	err    error // of the sync; read after done
}

// do makes the names in the folder id durable, for which sync does the work.
func (d *dirSyncs) do(id fileID, sync func() error) error {
	r, lead := d.join(id)
	if !lead {
		<-r.done
		return r.err
	}
	if r.before != nil {
		<-r.before.done
	}
	d.mu.Lock()
	r.begun, r.before = true, nil
	d.mu.Unlock()
	r.err = sync()
	d.mu.Lock()
	if d.last[id] == r {
		delete(d.last, id)
	}
	if r.err != nil {
		d.fail(id, r.err) // before anybody can begin the next round, which may not fail
	}
	d.mu.Unlock()
	close(r.done)
	return r.err
}

// fail remembers that a folder was not synced. mu is held.
func (d *dirSyncs) fail(id fileID, err error) {
	if d.failed == nil {
		d.failed = make(map[fileID]error)
	}
	d.failed[id] = err
}

// remember is fail for a folder that is open.
func (d *dirSyncs) remember(dir disk.Dir, err error) {
	id, statErr := idOfDir(dir)
	if statErr != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail(id, err)
}

// failure returns what fail remembers, once.
func (d *dirSyncs) failure(id fileID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.failed[id]
	delete(d.failed, id)
	return err
}

// join returns the round of the folder that is yet to begin, and whether the
// caller is the first in it, who leads it.
func (d *dirSyncs) join(id fileID) (r *syncRound, lead bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.last[id]
	if last != nil && !last.begun {
		return last, false
	}
	if d.last == nil {
		d.last = make(map[fileID]*syncRound)
	}
	r = &syncRound{before: last, done: make(chan struct{})}
	d.last[id] = r
	return r, true
}
