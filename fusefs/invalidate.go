//go:build !windows

package fusefs

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
)

// invalidator tells the kernel what to forget. Telling it can block: it waits
// for the pages and folders that requests hold, and such a request may be the
// very one whose handler wants to tell. So handlers only queue, and one
// goroutine that holds no lock does the telling. The queue is unbounded, but
// holds each thing once.
type invalidator struct {
	wake chan struct{} // holds one token while the queue may not be empty

	names nameRequests

	mu     sync.Mutex // protects the following
	queue  []stale
	queued map[stale]bool
	calls  []func() // to be made when the queue is empty
}

// stale is something the kernel may hold an old copy of: the content and
// attributes of an inode, or, with a name, an entry of a folder.
type stale struct {
	inode *fs.Inode
	name  string
}

const (
	// An inode that the kernel does not know may be in a LOOKUP whose answer is
	// still under way and older than the change. Telling it again covers that.
	retellDelay = 50 * time.Millisecond
	retellTimes = 3
)

func newInvalidator() *invalidator {
	return &invalidator{wake: make(chan struct{}, 1), queued: make(map[stale]bool)}
}

// content queues the pages and attributes of a file, or the listing of a folder.
func (q *invalidator) content(n fs.InodeEmbedder) { q.add(stale{inode: n.EmbeddedInode()}) }

// entry queues a name in a folder, whether it was there or was missing, and the
// folder's listing.
func (q *invalidator) entry(dir fs.InodeEmbedder, name string) {
	q.name(dir, name)
	q.content(dir)
}

// name queues a name that stays, but names another inode.
func (q *invalidator) name(dir fs.InodeEmbedder, name string) {
	q.add(stale{dir.EmbeddedInode(), name})
}

func (q *invalidator) add(s stale) {
	q.mu.Lock()
	if !q.queued[s] {
		q.queued[s] = true
		q.queue = append(q.queue, s)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *invalidator) next() (s stale, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return stale{}, false
	}
	s, q.queue = q.queue[0], q.queue[1:]
	delete(q.queued, s)
	return s, true
}

// run tells the kernel what is queued until ctx ends.
func (q *invalidator) run(ctx context.Context) {
	var retells sync.WaitGroup
	defer retells.Wait()
	for {
		s, ok := q.next()
		if !ok {
			for _, call := range q.takeCalls() {
				call()
			}
			select {
			case <-ctx.Done():
				return
			case <-q.wake:
				continue
			}
		}
		if s.name != "" {
			q.names.await(s.inode)
		}
		if s.tell() == syscall.ENOENT && s.name == "" {
			retells.Go(func() { s.retell(ctx) })
		}
	}
}

// told returns when the kernel has been told of everything that is queued now, or
// ctx has ended.
func (q *invalidator) told(ctx context.Context) {
	done := make(chan struct{})
	q.mu.Lock()
	q.calls = append(q.calls, func() { close(done) })
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	select {
	case <-ctx.Done():
	case <-done:
	}
}

func (q *invalidator) takeCalls() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	calls := q.calls
	q.calls = nil
	return calls
}

// attributesOnly is the offset by which the kernel is to forget attributes and no
// page, which never waits.
const attributesOnly = -1

// tell notifies the kernel, which answers ENOENT if it holds no copy.
func (s stale) tell() syscall.Errno {
	if s.name != "" {
		return s.inode.NotifyEntry(s.name)
	}
	return s.inode.NotifyContent(0, 0)
}

func (s stale) retell(ctx context.Context) {
	for range retellTimes {
		select {
		case <-ctx.Done():
			return
		case <-time.After(retellDelay):
		}
		if s.tell() != syscall.ENOENT {
			return
		}
	}
}
