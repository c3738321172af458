//go:build !windows

package fusefs

import (
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
)

// While a program looks up or changes a name, the kernel holds the lock of the
// folder until we answer. Telling the kernel of a stale name waits for that
// lock, in a wait that no signal ends, not even SIGKILL: a process killed just
// then can neither answer nor die, and the mount stays wedged until somebody
// aborts it. So the invalidator does not tell of a name while an answer about
// its folder is due. A request that comes in during the few microseconds of
// telling remains possible.

// nameRequests counts, for each folder, the requests whose program holds the
// folder's lock.
type nameRequests struct {
	mu    sync.Mutex // protects the following
	under map[*fs.Inode]int
}

// begin counts a request about names in dirs until end is called.
func (r *nameRequests) begin(dirs ...fs.InodeEmbedder) (end func()) {
	r.count(1, dirs)
	return func() { r.count(-1, dirs) }
}

func (r *nameRequests) count(by int, dirs []fs.InodeEmbedder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.under == nil {
		r.under = make(map[*fs.Inode]int)
	}
	for _, d := range dirs {
		n := d.EmbeddedInode()
		if r.under[n] += by; r.under[n] == 0 {
			delete(r.under, n)
		}
	}
}

func (r *nameRequests) none(dir *fs.Inode) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.under[dir] == 0
}

const (
	// answerGrace lets the kernel take an answer that a handler has just given.
	answerGrace = 200 * time.Microsecond
	// maxHoldOff bounds the wait in a folder that is never left alone: a save by
	// rename takes some milliseconds of it.
	maxHoldOff = 100 * time.Millisecond
)

// await returns once no answer about names in dir is due, or after maxHoldOff.
func (r *nameRequests) await(dir *fs.Inode) {
	for until := time.Now().Add(maxHoldOff); time.Now().Before(until); {
		if r.none(dir) {
			return
		}
		time.Sleep(answerGrace)
	}
}
