package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/jobs"
	"github.com/relayfs/relayfs/bridge/remote/replica"
)

// This file is about waiting: for a document, for the server, for its acknowledgements.

// ReaderPatience is how long a reader waits for a document that is on its way.
const ReaderPatience = 20 * time.Second

// Fetched waits for a document that was never fetched.
func (y *Scheduler) Fetched(ctx context.Context, d *replica.Document) error {
	if bridge.Waits(ctx) && !y.isKept(d.ID()) {
		y.Attempted(ctx)
	}
	y.mu.Lock()
	kept, online := y.kept[d.ID()], y.online
	if kept {
		y.mu.Unlock()
		return nil
	}
	if !bridge.Waits(ctx) {
		y.mu.Unlock()
		return model.ErrNotFetched
	}
	arrived := make(chan struct{})
	if online {
		y.waiters[d.ID()] = append(y.waiters[d.ID()], arrived)
	}
	y.mu.Unlock()
	y.want(d, jobs.Reader)
	if online {
		wait, cancel := context.WithTimeout(ctx, ReaderPatience)
		defer cancel()
		select {
		case <-arrived:
		case <-wait.Done():
		case <-y.ctx.Done():
		}
	}
	return y.notFetched(d)
}

func (y *Scheduler) isKept(id model.DocID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.kept[id]
}

// notFetched says why a document is not there, or nil if it is.
func (y *Scheduler) notFetched(d *replica.Document) error {
	y.mu.Lock()
	kept, cause := y.kept[d.ID()], y.cause
	if cause == nil {
		cause = y.problem
	}
	y.mu.Unlock()
	switch {
	case kept:
		return nil
	case cause != nil:
		return &model.NotFetchedError{Reason: y.o.Address.Explain(cause)}
	}
	return &model.NotFetchedError{Reason: fmt.Sprintf("%s has nothing of it, or is slow; try again", y.o.Address)}
}

// AwaitFolder waits until the folder's document is in step, or a first attempt
// has shown that waiting does not help.
func (y *Scheduler) AwaitFolder(ctx context.Context) error {
	select {
	case <-y.onlineSet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-y.tried:
	}
	return y.LastError()
}

// LastError is why there is no connection, nil if there is one.
func (y *Scheduler) LastError() error {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.cause
}

// closePatience is how long the server is waited for to acknowledge.
const closePatience = 5 * time.Second

// Drain waits until the server has acknowledged everything, if it is there.
func (y *Scheduler) Drain() {
	deadline := time.After(closePatience)
	select {
	case <-y.tried:
	case <-deadline:
		return
	}
	for {
		changed := y.unsent.Changed()
		if !y.Online() || y.unsent.Len() == 0 || y.o.Set.Access().ReadOnly() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			return
		}
	}
}

// AwaitAcknowledged waits until the server has all of a document, and says whether it has.
func (y *Scheduler) AwaitAcknowledged(ctx context.Context, id model.DocID) bool {
	wait, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	for {
		changed := y.unsent.Changed()
		if lacks := y.unsent.Has(id); !lacks || !y.Online() || y.o.Set.Access().ReadOnly() {
			return !lacks
		}
		select {
		case <-changed:
		case <-wait.Done():
			return false
		case <-y.ctx.Done():
			return false
		}
	}
}

// attemptPatience is how long Attempted waits.
const attemptPatience = 5 * time.Second

// Attempted waits until a first attempt has shown whether the server can be
// reached.
func (y *Scheduler) Attempted(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, attemptPatience)
	defer cancel()
	select {
	case <-y.tried:
	case <-wait.Done():
	case <-y.ctx.Done():
	}
}
