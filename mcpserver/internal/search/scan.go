package search

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/progress"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// searchTime bounds one search.
const searchTime = 20 * time.Second

// ErrSlow ends a search after searchTime.
var ErrSlow = errors.New("search takes too long")

// Bounded returns a context for a search, and p as a pattern that ends with that context.
func Bounded(ctx context.Context, p *grep.Pattern) (context.Context, *grep.Pattern, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, ErrSlow)
	return ctx, p.Until(ctx.Done()), cancel
}

// batch is how many notes are scanned before the results are looked at: enough to keep every core
// busy, few enough to stop early.
const batch = 256

// Scan calls look with each note that may match q's pattern, on several goroutines. It calls take
// with the results, in the order of notes and on the caller's goroutine, until take returns false.
// It skips notes that are gone or offline.
func Scan[T any](ctx context.Context, x *Index, notes []*Note, q trigram.Query, look func(model.Path, *model.Version) T, take func(T) bool) error {
	results := make([]T, batch)
	errs := make([]error, batch)
	total := len(notes)
	for len(notes) > 0 {
		var part []*Note
		part, notes = nextBatch(notes, q)
		inParallel(len(part), func(i int) {
			results[i], errs[i] = scanNote(ctx, x, part[i], look)
		})
		for i := range part {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if errs[i] != nil {
				return errs[i]
			}
			if !take(results[i]) {
				return nil
			}
		}
		progress.Report(ctx, total-len(notes), total)
	}
	return context.Cause(ctx)
}

// nextBatch splits off the next notes to look at.
func nextBatch(notes []*Note, q trigram.Query) (part, rest []*Note) {
	part = make([]*Note, 0, batch)
	for i, n := range notes {
		if len(part) == batch {
			return part, notes[i:]
		}
		if !n.rulesOut(q) {
			part = append(part, n)
		}
	}
	return part, nil
}

func scanNote[T any](ctx context.Context, x *Index, n *Note, look func(model.Path, *model.Version) T) (res T, err error) {
	if err := ctx.Err(); err != nil {
		return res, err
	}
	before := n.sig.Load()
	v, err := x.ws.Open(ctx, n.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, model.ErrOffline):
		return res, nil
	case err != nil:
		return res, err
	}
	x.learn(n, before, v.Text())
	return look(n.Path, v), nil
}

// inParallel calls fn with 0 to n-1, on as many goroutines as there are cores, and waits for them.
func inParallel(n int, fn func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	wg.Wait()
}
