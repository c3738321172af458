package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// turnTimeout is how long one document may take to be compared.
const turnTimeout = 60 * time.Second

// retryDelay is how long a document waits that could not be compared though the
// server is there.
const retryDelay = 2 * time.Second

// work gives documents their turns until the queue is closed.
func (y *syncer) work(ctx context.Context) {
	for {
		d, prio := y.jobs.next()
		if d == nil {
			return
		}
		err := y.turn(ctx, d, prio)
		y.jobs.done(d)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			y.src.progressed()
			continue
		}
		y.src.log.Debug("document not compared", bridge.LogDoc, string(d.id), bridge.LogErr, err)
		y.mu.Lock()
		if y.online && !errors.Is(err, transport.ErrExpired) {
			y.problem = fmt.Errorf("document %q: %w", d.name, err)
		}
		y.mu.Unlock()
		time.AfterFunc(retryDelay, func() { y.want(d, max(prio, prioUnsent)) })
	}
}

// turn brings one document in step, and leaves it connected if there is room.
func (y *syncer) turn(ctx context.Context, d *document, prio priority) error {
	y.mu.Lock()
	unsent := y.pending[d.id] > 0
	_, live := y.live[d]
	y.mu.Unlock()
	if live {
		return nil
	}
	stay := y.room(d, prio)
	if !stay && !unsent {
		if update, err := y.src.transport.Fetch(ctx, d.name); !errors.Is(err, errors.ErrUnsupported) {
			if err != nil {
				return err
			}
			return y.took(d, d.receive(update, true))
		}
	}
	err := y.connect(ctx, d, stay, unsent)
	if t, ok := y.src.transport.(transport.Creator); ok && unsent && errors.Is(err, transport.ErrNoDocument) {
		// A note that was made here.
		if err = t.Create(ctx, d.name); err == nil {
			err = y.connect(ctx, d, stay, unsent)
		}
	}
	return err
}

// took notes that a document was fetched, unless nobody has put anything in it.
func (y *syncer) took(d *document, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %v", transport.ErrProtocol, err)
	}
	empty, err := d.isEmpty()
	if err == nil && !empty {
		y.keep(d.id)
	}
	return err
}

// room says whether a document is to stay connected: where all notes can be, it
// is; else those used last, for which others have to go.
func (y *syncer) room(d *document, prio priority) bool {
	limit := y.src.transport.Links() - workers
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.notes) <= limit {
		return true
	}
	if prio > prioUnsent {
		return false
	}
	if len(y.live) < limit {
		return true
	}
	var oldest *document
	var used time.Time
	for x := range y.live {
		if at := x.lastUsed(); oldest == nil || at.Before(used) {
			oldest, used = x, at
		}
	}
	y.live[oldest]()
	return true
}

// lastUsed is when somebody last read or changed the document; long ago if that
// is going on.
func (d *document) lastUsed() time.Time {
	if !d.mu.TryLock() {
		return time.Now()
	}
	defer d.mu.Unlock()
	return d.used
}

// connect brings a document in step by a link, which stays if stay is set.
func (y *syncer) connect(ctx context.Context, d *document, stay, awaitAck bool) error {
	lctx, cancel := context.WithCancel(ctx)
	p := newPeer(d)
	ended := make(chan error, 1)
	y.mu.Lock()
	if stay {
		y.live[d] = cancel
	}
	y.mu.Unlock()
	y.src.wg.Go(func() {
		err := p.run(lctx)
		cancel()
		y.mu.Lock()
		if stay {
			delete(y.live, d)
		}
		again := stay && y.online && ctx.Err() == nil
		y.mu.Unlock()
		ended <- err
		if again && !errors.Is(err, context.Canceled) {
			y.want(d, prioChange)
		}
	})
	err := y.await(ctx, d, p, ended, awaitAck)
	if err != nil || !stay {
		cancel()
	}
	return err
}

// await waits until the document is in step, and what it had is acknowledged.
func (y *syncer) await(ctx context.Context, d *document, p *peer, ended chan error, awaitAck bool) error {
	wait, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	for _, step := range []chan struct{}{p.in, p.out} {
		select {
		case <-step:
		case err := <-ended:
			return err
		case <-wait.Done():
			return transport.ErrSilent
		}
		if step == p.in {
			if err := y.took(d, nil); err != nil || !awaitAck {
				return err
			}
		}
	}
	return nil
}

// stopLive ends all links.
func (y *syncer) stopLive() {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, cancel := range y.live {
		cancel()
	}
}

// readerPatience is how long a reader waits for a document that is on its way.
const readerPatience = 20 * time.Second

// fetched waits for a document that was never fetched.
func (y *syncer) fetched(ctx context.Context, d *document) error {
	if bridge.Waits(ctx) && !y.isKept(d.id) {
		y.src.Attempted(ctx)
	}
	y.mu.Lock()
	kept, online := y.kept[d.id], y.online
	if kept {
		y.mu.Unlock()
		return nil
	}
	if !bridge.Waits(ctx) {
		y.mu.Unlock()
		return bridge.ErrNotFetched
	}
	arrived := make(chan struct{})
	if online {
		y.waiters[d.id] = append(y.waiters[d.id], arrived)
	}
	y.mu.Unlock()
	y.want(d, prioReader)
	if online {
		wait, cancel := context.WithTimeout(ctx, readerPatience)
		defer cancel()
		select {
		case <-arrived:
		case <-wait.Done():
		case <-y.src.ctx.Done():
		}
	}
	return y.notFetched(d)
}

func (y *syncer) isKept(id bridge.DocID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.kept[id]
}

// notFetched says why a document is not there, or nil if it is.
func (y *syncer) notFetched(d *document) error {
	y.mu.Lock()
	kept, cause := y.kept[d.id], y.cause
	if cause == nil {
		cause = y.problem
	}
	y.mu.Unlock()
	switch {
	case kept:
		return nil
	case cause != nil:
		return &bridge.NotFetchedError{Reason: y.src.o.Address.Explain(cause)}
	}
	return &bridge.NotFetchedError{Reason: fmt.Sprintf("%s has nothing of it, or is slow; try again", y.src.o.Address)}
}

// awaitFolder waits until the folder's document is in step, or a first attempt
// has shown that waiting does not help.
func (y *syncer) awaitFolder(ctx context.Context) error {
	select {
	case <-y.onlineSet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-y.tried:
	}
	return y.lastError()
}

func (y *syncer) lastError() error {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.cause
}
