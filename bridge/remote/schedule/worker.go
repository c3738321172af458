package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ysync"
)

const turnTimeout = 60 * time.Second

// RetryDelay is the delay before another turn of a document whose turn failed.
const RetryDelay = 2 * time.Second

// next waits for a document whose turn it is; ok is false when the scheduler ends.
func (y *Scheduler) next() (d *replica.Document, p priority, ok bool) {
	y.wait(y.ctx, func() bool {
		if y.turns {
			d, p, ok = y.queue.next()
		}
		return ok
	})
	return d, p, ok
}

// work gives documents turns until the scheduler ends.
func (y *Scheduler) work(ctx context.Context) {
	for {
		d, prio, ok := y.next()
		if !ok {
			return
		}
		err := y.turn(ctx, d, prio)
		y.mu.Lock()
		y.queue.done(d)
		y.tell()
		y.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			if y.progress != nil {
				y.progress(y.State().Progress)
			}
			continue
		}
		y.set.Log.Debug("document not compared", model.LogDoc, string(d.ID()), model.LogErr, err)
		y.mu.Lock()
		if y.online && !errors.Is(err, transport.ErrExpired) {
			y.problem = fmt.Errorf("document %q: %w", d.Name, err)
		}
		y.mu.Unlock()
		time.AfterFunc(RetryDelay, func() { y.want(d, max(prio, forUnsent)) })
	}
}

// turn synchronises one document, and leaves it connected if there is room.
func (y *Scheduler) turn(ctx context.Context, d *replica.Document, prio priority) error {
	unsent := y.Lacks(d.ID())
	y.mu.Lock()
	_, live := y.live[d]
	y.mu.Unlock()
	if live {
		return nil
	}
	stay := y.room(d, prio)
	if !stay && !unsent {
		if update, err := y.set.Server.Fetch(ctx, d.Name); !errors.Is(err, errors.ErrUnsupported) {
			if err != nil {
				return err
			}
			if err := d.Receive(update, true); err != nil {
				return fmt.Errorf("%w: %v", transport.ErrProtocol, err)
			}
			y.Keep(d.ID())
			return nil
		}
	}
	err := y.connect(ctx, d, stay, unsent)
	if t, ok := y.set.Server.(transport.Creator); ok && unsent && errors.Is(err, transport.ErrNoDocument) {
		// The note was created here.
		if err = t.Create(ctx, d.Name); err == nil {
			err = y.connect(ctx, d, stay, unsent)
		}
	}
	return err
}

// room reports whether a document is to stay connected: all do if there are few notes, else
// those used last, for which others are disconnected.
func (y *Scheduler) room(d *replica.Document, prio priority) bool {
	limit := y.set.Server.Links() - Workers
	y.mu.Lock()
	defer y.mu.Unlock()
	if len(y.notes) <= limit {
		return true
	}
	if prio > forUnsent {
		return false
	}
	if len(y.live) < limit {
		return true
	}
	var oldest *replica.Document
	var used time.Time
	for x := range y.live {
		if at := x.LastUsed(); oldest == nil || at.Before(used) {
			oldest, used = x, at
		}
	}
	y.live[oldest]()
	return true
}

// connect synchronises a document over a link, which stays if stay is set.
func (y *Scheduler) connect(ctx context.Context, d *replica.Document, stay, awaitAck bool) error {
	lctx, cancel := context.WithCancel(ctx)
	p := replica.NewPeer(d, func(ysync.Frame) {})
	ended := make(chan error, 1)
	y.mu.Lock()
	if stay {
		y.live[d] = cancel
	}
	y.mu.Unlock()
	y.peers.Go(func() {
		err := p.Run(lctx)
		cancel()
		y.mu.Lock()
		if stay {
			delete(y.live, d)
		}
		again := stay && y.online && ctx.Err() == nil
		y.mu.Unlock()
		ended <- err
		if again && !errors.Is(err, context.Canceled) {
			y.want(d, forChanged)
		}
	})
	err := y.inStep(ctx, d, p, ended, awaitAck)
	if err != nil || !stay {
		cancel()
	}
	return err
}

// inStep waits until the document is in step and, if awaitAck is set, acknowledged.
func (y *Scheduler) inStep(ctx context.Context, d *replica.Document, p *replica.Peer, ended chan error, awaitAck bool) error {
	wait, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	for _, step := range []<-chan struct{}{p.In, p.Out} {
		select {
		case <-step:
		case err := <-ended:
			return err
		case <-wait.Done():
			return transport.ErrSilent
		}
		if step == p.In {
			y.Keep(d.ID())
			if !awaitAck {
				return nil
			}
		}
	}
	return nil
}
