package schedule

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/jobs"
	"github.com/relayfs/relayfs/bridge/remote/replica"
)

// ReaderPatience is how long a reader waits for a document.
const ReaderPatience = 20 * time.Second

// Fetched waits for a document that was never fetched. Errors: model.ErrNotFetched.
func (y *Scheduler) Fetched(ctx context.Context, d *replica.Document) error {
	if y.isKept(d.ID()) {
		return nil
	}
	if !bridge.Waits(ctx) {
		return model.ErrNotFetched
	}
	y.Attempted(ctx)
	y.mu.Lock()
	kept, online := y.kept[d.ID()], y.online
	if kept {
		y.mu.Unlock()
		return nil
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

// notFetched returns why a document is not here, nil if it is.
func (y *Scheduler) notFetched(d *replica.Document) error {
	y.mu.Lock()
	kept, cause := y.kept[d.ID()], cmp.Or(y.cause, y.problem)
	y.mu.Unlock()
	switch {
	case kept:
		return nil
	case cause != nil:
		return &model.NotFetchedError{Reason: y.o.Address.Explain(cause)}
	}
	return &model.NotFetchedError{Reason: fmt.Sprintf("%s has nothing of it, or is slow; try again", y.o.Address)}
}

// AwaitFolder waits until the folder's document is in step, or until the first attempt has
// failed.
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

// LastError returns why there is no connection, nil if there is one.
func (y *Scheduler) LastError() error {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.cause
}

// closePatience is how long to wait for acknowledgements.
const closePatience = 5 * time.Second

// Drain waits until the server, if it is connected, has acknowledged everything.
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

// AwaitAcknowledged waits until the server has all of a document, and reports whether it has.
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

// attemptPatience bounds Attempted.
const attemptPatience = 5 * time.Second

// Attempted waits for the first attempt to connect.
func (y *Scheduler) Attempted(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, attemptPatience)
	defer cancel()
	select {
	case <-y.tried:
	case <-wait.Done():
	case <-y.ctx.Done():
	}
}
