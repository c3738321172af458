package queue

import (
	"context"
	"net/url"
	"strconv"

	"github.com/relayfs/relayfs/bridge/owner"
)

// Remote is the queue of a running owner.
type Remote struct{ c *owner.Client }

// NewRemote is the queue of the owner that c asks.
func NewRemote(c *owner.Client) Remote { return Remote{c} }

// List implements Queue.
func (q Remote) List(ctx context.Context, detailed bool) (list []Suggestion, err error) {
	query := url.Values{}
	if detailed {
		query.Set("context", "1")
	}
	err = q.c.Get(ctx, suggestionsPath, query, &list)
	return list, err
}

// Decide implements Queue.
func (q Remote) Decide(ctx context.Context, r DecideRequest) (out Outcome, err error) {
	err = q.c.Post(ctx, decidePath, r, &out)
	return out, err
}

// Undo implements Queue.
func (q Remote) Undo(ctx context.Context, r UndoRequest) (out Outcome, err error) {
	err = q.c.Post(ctx, undoPath, r, &out)
	return out, err
}

// Log implements Queue.
func (q Remote) Log(ctx context.Context, limit int) (list []LogEntry, err error) {
	err = q.c.Get(ctx, journalPath, url.Values{"limit": {strconv.Itoa(limit)}}, &list)
	return list, err
}

// Changed implements Queue.
func (q Remote) Changed(ctx context.Context, seen uint64) (now uint64, err error) {
	err = q.c.Get(ctx, changesPath, url.Values{"seen": {strconv.FormatUint(seen, 10)}}, &now)
	return now, err
}
