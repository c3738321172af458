package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

const ReaderTimeout = 20 * time.Second

// Fetched waits until the document is fetched. It does not wait if the document was fetched before, or if ctx forbids
// waiting. If it cannot be fetched in time, the error wraps model.ErrNotFetched.
func (y *Scheduler) Fetched(ctx context.Context, d *replica.Document) error {
	if y.isFetched(d.ID()) {
		return nil
	}
	if !model.MayBlock(ctx) {
		return model.ErrNotFetched
	}
	y.Attempted(ctx, AttemptTimeout)
	if y.isFetched(d.ID()) {
		return nil
	}
	y.enqueueIfOffline(d, prioReader)
	y.await(ctx, ReaderTimeout, func() bool { return y.fetched[d.ID()] || !y.online || y.refused(d) })
	return y.notFetched(d)
}

// refused reports whether the server has refused a document or cannot deliver it. The reader of the document then does
// not wait for another turn.
func (y *Scheduler) refused(d *replica.Document) bool {
	err := y.set.Problems.Err(d.Name)
	return errors.Is(err, transport.ErrDenied) || errors.Is(err, transport.ErrNoDocument) || errors.Is(err, transport.ErrFailed)
}

func (y *Scheduler) isFetched(id model.DocID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.fetched[id]
}

// notFetched returns the reason why a document was not fetched, or nil if it was.
func (y *Scheduler) notFetched(d *replica.Document) error {
	cause := cmp.Or(y.set.Problems.Err(model.AboutConnection), y.set.Problems.Err(d.Name))
	switch {
	case y.isFetched(d.ID()):
		return nil
	case cause != nil:
		return &model.NotFetchedError{Reason: y.set.Address.Explain(cause)}
	}
	return &model.NotFetchedError{Reason: fmt.Sprintf("%s has no content for this document, or is slow; try again", y.set.Address)}
}

func (y *Scheduler) await(ctx context.Context, timeout time.Duration, cond func() bool) (ok bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return y.wait(ctx, cond)
}

// wait waits until cond returns true. It calls cond with the lock held. ok is false if ctx or y.ctx ends first.
func (y *Scheduler) wait(ctx context.Context, cond func() bool) (ok bool) {
	for {
		y.mu.Lock()
		ok, changed := cond(), y.changed
		y.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		case <-y.ctx.Done():
			return false
		}
	}
}

// broadcast makes all calls of wait check their conditions again. The caller holds the scheduler's lock.
func (y *Scheduler) broadcast() {
	close(y.changed)
	y.changed = make(chan struct{})
}

// AttemptTimeout is the maximum time for which a reader waits for the first attempt to connect.
const AttemptTimeout = 5 * time.Second

// Attempted waits for the end of the first attempt to connect. It returns false if the attempt takes longer than
// timeout, or if ctx ends first.
func (y *Scheduler) Attempted(ctx context.Context, timeout time.Duration) bool {
	return y.await(ctx, timeout, func() bool { return y.attempted })
}

// closeTimeout is the maximum wait for acknowledgements.
const closeTimeout = 5 * time.Second

// Drain waits until the server has acknowledged everything, but at most closeTimeout. It does not wait for a server
// that is offline or accepts no changes.
func (y *Scheduler) Drain() {
	y.await(y.ctx, closeTimeout, func() bool { return y.attempted && (y.cannotBeAcknowledged() || len(y.unsent) == 0) })
}

// cannotBeAcknowledged reports whether the server is offline or accepts no changes. The caller holds the lock.
func (y *Scheduler) cannotBeAcknowledged() bool {
	return !y.online || y.set.WriteAccess.ReadOnlyErr() != nil
}

func (y *Scheduler) AwaitAcknowledged(ctx context.Context, id model.DocID) bool {
	y.await(ctx, closeTimeout, func() bool { return y.cannotBeAcknowledged() || y.unsent[id] == 0 })
	return !y.HasUnacknowledged(id)
}
