//go:build !windows

package fusefs

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"

	"github.com/relayfs/relayfs/bridge/model"
)

// notifications is the queue of the cached data that the kernel must forget. A notification can block: the kernel waits
// for pages and folders that requests hold, possibly for the same request whose handler wants to notify. So handlers
// only queue, and one goroutine that holds no lock notifies the kernel. The queue is unbounded, but has each entry only
// once.
type notifications struct {
	wake model.Signal // holds one token while the queue may not be empty

	mu     sync.Mutex // guards the fields below
	queue  []stale
	queued map[stale]bool
	calls  []func() // functions to call when the queue is empty
}

// stale is cached data of which the kernel may have an old copy: the content and attributes of an inode, or the entry
// of a folder if name is set.
type stale struct {
	inode *fs.Inode
	name  string
}

const (
	// If the kernel does not have an inode, a LOOKUP for that inode may be in progress, and its answer may be older
	// than the change. So the notification is repeated after renotifyDelay.
	renotifyDelay = 50 * time.Millisecond
	renotifyTimes = 3
)

func newNotifications() *notifications {
	return &notifications{wake: model.NewSignal(), queued: make(map[stale]bool)}
}

// content queues the pages and attributes of a file, or the listing of a folder.
func (q *notifications) content(n fs.InodeEmbedder) { q.add(stale{inode: n.EmbeddedInode()}) }

// entry queues a name in a folder and the folder's listing. The name may have existed or may have been missing.
func (q *notifications) entry(dir fs.InodeEmbedder, name string) {
	q.renamed(dir, name)
	q.content(dir)
}

// renamed queues an existing name that now belongs to another inode.
func (q *notifications) renamed(dir fs.InodeEmbedder, name string) {
	q.add(stale{dir.EmbeddedInode(), name})
}

func (q *notifications) add(s stale) {
	if !keepCaches { // the kernel accepts no notifications
		return
	}
	q.mu.Lock()
	if !q.queued[s] {
		q.queued[s] = true
		q.queue = append(q.queue, s)
	}
	q.mu.Unlock()
	q.wake.Set()
}

func (q *notifications) next() (s stale, ok bool, calls []func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		calls, q.calls = q.calls, nil
		return stale{}, false, calls
	}
	s, q.queue = q.queue[0], q.queue[1:]
	delete(q.queued, s)
	return s, true, nil
}

func (q *notifications) run(ctx context.Context) {
	var retells sync.WaitGroup
	defer retells.Wait()
	for {
		s, ok, calls := q.next()
		for _, call := range calls {
			call()
		}
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-q.wake:
				continue
			}
		}
		if s.notify() == syscall.ENOENT && s.name == "" {
			retells.Go(func() { s.renotify(ctx) })
		}
	}
}

// flush returns when all notifications queued before the call have been sent to the kernel, or when ctx has ended.
func (q *notifications) flush(ctx context.Context) {
	done := make(chan struct{})
	q.mu.Lock()
	q.calls = append(q.calls, func() { close(done) })
	q.mu.Unlock()
	q.wake.Set()
	select {
	case <-ctx.Done():
	case <-done:
	}
}

// attributesOnly is an offset that makes the kernel forget the attributes but no pages. Such a notification never
// waits.
const attributesOnly = -1

func (s stale) notify() syscall.Errno {
	if s.name != "" {
		return s.inode.NotifyEntry(s.name)
	}
	return s.inode.NotifyContent(0, 0)
}

func (s stale) renotify(ctx context.Context) {
	for range renotifyTimes {
		select {
		case <-ctx.Done():
			return
		case <-time.After(renotifyDelay):
		}
		if s.notify() != syscall.ENOENT {
			return
		}
	}
}
