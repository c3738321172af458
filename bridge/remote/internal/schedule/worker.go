package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

const turnTimeout = 60 * time.Second

// RetryDelay is the time between a failed turn and the next attempt.
const RetryDelay = 2 * time.Second

func (y *Scheduler) next() (d *replica.Document, p priority, ok bool) {
	y.wait(y.ctx, func() bool {
		if y.online {
			d, p, ok = y.queue.next()
		}
		return ok
	})
	return d, p, ok
}

func (y *Scheduler) work(ctx context.Context) {
	for ctx.Err() == nil {
		d, prio, ok := y.next()
		if !ok {
			return
		}
		err := y.syncOnce(ctx, d, prio)
		if ctx.Err() == nil {
			y.recordSync(d, prio, err) // must precede done, so that a waiting reader sees the outcome
		}
		y.mu.Lock()
		y.queue.done(d)
		y.broadcast()
		y.mu.Unlock()
	}
}

// recordSync records the outcome of a turn. If the turn failed and the document is still needed, recordSync schedules
// another turn.
func (y *Scheduler) recordSync(d *replica.Document, prio priority, err error) {
	switch {
	case err == nil:
		if y.progress != nil {
			y.progress(y.Progress())
		}
	case !y.isWanted(d):
		err = nil // the note was deleted, so the problem is obsolete
	default:
		time.AfterFunc(RetryDelay, func() { y.enqueueIfOffline(d, max(prio, prioUnsent)) })
		if errors.Is(err, transport.ErrExpired) || !y.Online() {
			return // the retry will use another token or connection
		}
		err = fmt.Errorf("%s: %w", d.Title(), err)
	}
	y.set.Problems.Record(d.Name, err)
}

func (y *Scheduler) isWanted(d *replica.Document) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.unsent[d.ID()] > 0 || y.isNote[d.ID()]
}

// syncOnce synchronises one document, and leaves it connected if mayStayConnected allows it.
func (y *Scheduler) syncOnce(ctx context.Context, d *replica.Document, prio priority) error {
	unsent := y.HasUnacknowledged(d.ID())
	y.mu.Lock()
	_, live := y.live[d]
	y.mu.Unlock()
	if live {
		return nil
	}
	stay := y.mayStayConnected(d, prio)
	if !stay && !unsent {
		if update, err := y.set.Server.Fetch(ctx, d.Name); !errors.Is(err, errors.ErrUnsupported) {
			if err != nil {
				return err
			}
			if err := d.Receive(update, true); err != nil {
				return err
			}
			d.SetCompared()
			y.SetFetched(d.ID())
			return nil
		}
	}
	err := y.connect(ctx, d, stay, unsent)
	if t, ok := y.set.Server.(transport.Creator); ok && unsent && errors.Is(err, transport.ErrNoDocument) {
		// The server does not have the note, because it was created here.
		if err = t.Create(ctx, d.Name); err == nil {
			err = y.connect(ctx, d, stay, unsent)
		}
	}
	return err
}

// mayStayConnected reports whether a document may stay connected. If the server allows links for all notes, all
// documents may. Otherwise a document may stay only if it has unsent changes or a reader, or was opened recently. If
// there are too many connections, mayStayConnected then disconnects the least recently used document that does not have
// a turn.
func (y *Scheduler) mayStayConnected(d *replica.Document, prio priority) bool {
	limit := y.set.Server.Links() - Workers
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.notes) <= limit {
		return true
	}
	if prio > prioOpened {
		return false
	}
	if len(y.live) < limit {
		return true
	}
	var oldest *replica.Document
	var asked time.Time
	for x := range y.live {
		if _, busy := y.queue.taken[x]; busy {
			continue
		}
		if at := x.LastAsked(); oldest == nil || at.Before(asked) {
			oldest, asked = x, at
		}
	}
	if oldest != nil {
		y.live[oldest]()
	}
	return true
}

// connect synchronises a document over a link. If stay is set and connect succeeds, the link stays connected. Otherwise
// the link has ended when connect returns, so that a document never has two links.
func (y *Scheduler) connect(ctx context.Context, d *replica.Document, stay, awaitAck bool) error {
	lctx, cancel := context.WithCancel(ctx)
	p := replica.NewPeer(d, func(ysync.Frame) {})
	ended, detached := make(chan error, 1), make(chan struct{})
	y.mu.Lock()
	if stay {
		y.live[d] = cancel
	}
	y.mu.Unlock()
	y.peers.Go(func() {
		defer close(detached)
		err := p.Run(lctx)
		cancel()
		y.mu.Lock()
		if stay {
			delete(y.live, d)
		}
		again := stay && y.online && ctx.Err() == nil
		missing := y.unsent[d.ID()] > 0 && !y.cannotBeAcknowledged() // the change was made while the document was connected
		y.mu.Unlock()
		ended <- err
		switch canceled := errors.Is(err, context.Canceled); {
		case canceled && missing:
			y.enqueueIfOffline(d, prioUnsent)
		case again && !canceled:
			time.AfterFunc(RetryDelay, func() { y.enqueueIfOffline(d, prioChanged) })
		}
	})
	err := y.waitSynced(ctx, d, p, ended, awaitAck)
	if err != nil || !stay {
		cancel()
		<-detached
	}
	return err
}

// waitSynced waits until the document is synchronized and, if awaitAck is set, until its changes are acknowledged.
func (y *Scheduler) waitSynced(ctx context.Context, d *replica.Document, p *replica.Peer, ended chan error, awaitAck bool) error {
	wait, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	for _, step := range []<-chan struct{}{p.Fetched, p.Acknowledged} {
		select {
		case <-step:
		case err := <-ended:
			return err
		case <-wait.Done():
			return transport.ErrSilent
		}
		if step == p.Fetched {
			y.SetFetched(d.ID())
			if !awaitAck {
				return nil
			}
		}
	}
	return nil
}
