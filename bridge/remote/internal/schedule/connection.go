package schedule

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

const (
	backoffBase   = 300 * time.Millisecond
	backoffCap    = 30 * time.Second
	backoffStable = 30 * time.Second // after a connection of this length, the backoff starts again
)

// backoff computes the delay before the next attempt. The delay is a random part of a time that doubles after each
// failure up to backoffCap, so that clients that lost a server at the same time do not reconnect at the same time.
type backoff struct{ failures int }

// next returns the delay after an attempt whose connection lasted for the given time.
func (b *backoff) next(lasted time.Duration) time.Duration {
	if lasted >= backoffStable {
		b.failures = 0
	}
	limit := min(backoffCap, backoffBase<<min(b.failures, 10))
	b.failures++
	return rand.N(limit) + 1
}

// Run keeps the folder connected until the context of New ends.
func (y *Scheduler) Run() {
	var wg sync.WaitGroup
	ctx := y.ctx
	for range Workers {
		wg.Go(func() { y.work(ctx) })
	}
	wg.Go(func() { y.poll(ctx) })
	wg.Go(func() { y.rotate(ctx) })
	var b backoff
	for ctx.Err() == nil {
		start := time.Now()
		err := y.followFolder(ctx)
		lasted := time.Since(start)
		wait := b.next(lasted)
		// Request a new token immediately, unless the server rejected the last token immediately, too.
		renew := errors.Is(err, transport.ErrExpired) && lasted > backoffBase && y.Online()
		y.disconnected(err, renew)
		if renew {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	wg.Wait()
	y.mu.Lock()
	for _, cancel := range y.live {
		cancel()
	}
	y.mu.Unlock()
	y.peers.Wait()
}

// followFolder connects the folder's document, and returns when the connection has ended.
func (y *Scheduler) followFolder(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unseen, err := y.lookUp(ctx)
	if err != nil {
		return err
	}
	r := &reports{y: y}
	p := replica.NewPeer(y.set.Folder, r.take)
	r.p = p
	var wg sync.WaitGroup
	defer wg.Wait()
	mistyped := false // used by the goroutine below, until the end of ctx
	wg.Go(func() {
		select {
		case <-p.Fetched:
		case <-ctx.Done():
			return
		}
		if empty, err := y.set.Folder.IsEmpty(); unseen && empty && err == nil {
			mistyped = true
			cancel()
			return
		}
		y.connected()
		r.start()
		for range p.LinkReplaced.Each(ctx) {
			r.start()
		}
	})
	err = p.Run(ctx)
	cancel()
	wg.Wait()
	switch {
	case mistyped:
		return y.noFolder()
	case err == nil:
		return fmt.Errorf("%w: the connection has ended", transport.ErrUnreachable)
	case errors.Is(err, transport.ErrNoDocument):
		return y.noFolder()
	}
	return err
}

func (y *Scheduler) noFolder() error {
	return fmt.Errorf("%w as %q", transport.ErrNoFolder, y.set.Name)
}

// lookUp checks that the server has the folder's document, unless this machine has it already. It creates the document
// if NewFolder is set. The check is needed because opening a document with a mistyped ID would create it. unseen is set
// if only opening the document would show whether it exists. In that case an empty folder counts as missing.
func (y *Scheduler) lookUp(ctx context.Context) (unseen bool, err error) {
	if empty, err := y.set.Folder.IsEmpty(); err != nil || !empty {
		return false, err
	}
	if y.set.NewFolder {
		if t, ok := y.set.Server.(transport.Creator); ok {
			return false, t.Create(ctx, y.set.Name)
		}
		return false, nil
	}
	e, ok := y.set.Server.(transport.Examiner)
	if !ok {
		return false, nil
	}
	l, _, err := e.Examine(ctx, y.set.Name)
	switch {
	case errors.Is(err, transport.ErrWouldCreate), errors.Is(err, transport.ErrUntried):
		return true, nil
	case errors.Is(err, transport.ErrNoDocument):
		return false, y.noFolder()
	case err != nil:
		return false, err
	}
	l.Close()
	return false, nil
}

func (y *Scheduler) connected() {
	y.set.Problems.Record(model.AboutConnection, nil)
	y.mu.Lock()
	y.fetched[replica.FolderID] = true
	y.online, y.synced = true, time.Now()
	y.attempted = true
	follows := y.mayFollow()
	y.enqueue(func(id model.DocID) bool { return !follows || !y.fetched[id] })
	y.mu.Unlock()
	y.set.Log.Info("connected", model.LogFolder, y.set.Name)
	y.callbacks.Retry()
}

// mayFollow reports whether to rely on the server's reports of changes. It returns true if the server reports changes
// and the folder has more notes than can be connected. The caller holds the lock.
func (y *Scheduler) mayFollow() bool {
	return y.set.Server.Reports() && len(y.notes) > y.set.Server.Links()-Workers
}

// disconnected records the loss of the connection, or a failed attempt to connect. renew is set if another attempt with
// a new token follows.
func (y *Scheduler) disconnected(err error, renew bool) {
	if y.ctx.Err() != nil {
		return
	}
	if !renew {
		y.set.Problems.Record(model.AboutConnection, err)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.online, y.follows = false, nil
	y.attempted = y.attempted || !errors.Is(err, transport.ErrExpired) // the next attempt will use another token
	y.broadcast()
}

// compareAll queues every note for a comparison, or asks the server which notes have changed and queues the notes that
// were never fetched. It does nothing while the server is offline.
func (y *Scheduler) compareAll() {
	y.mu.Lock()
	follows := y.follows
	if !y.mayFollow() {
		follows = nil
	}
	if y.online {
		y.enqueue(func(id model.DocID) bool { return follows == nil || !y.fetched[id] })
	}
	y.mu.Unlock()
	if follows != nil {
		follows.compare()
	}
}

// The scheduler compares the unconnected notes at intervals of pollResyncs times Resync (a minute except in tests) plus
// pollNote for each note.
const (
	pollResyncs = 3
	pollNote    = 20 * time.Millisecond
)

func (y *Scheduler) poll(ctx context.Context) {
	for {
		y.mu.Lock()
		n := len(y.notes)
		y.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollResyncs*y.set.Resync + time.Duration(n)*pollNote):
		}
		_ = y.set.Flush() // stores updates that could not be stored on arrival
		y.compareAll()
		if y.Online() {
			y.callbacks.Retry()
		}
	}
}
