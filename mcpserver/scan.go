package mcpserver

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"

	"github.com/relayfs/relayfs/bridge"
)

// batch is how many notes are scanned before the results so far are looked at:
// enough to keep every core busy, few enough to stop early.
const batch = 256

// scan opens the notes at paths and calls look with the text of each, on several
// goroutines; then take with what look returned, in the order of paths and on the
// caller's goroutine, until take returns false. Notes that are gone or offline are
// passed over.
func scan[T any](ctx context.Context, ws *bridge.Workspace, paths []bridge.Path, look func(bridge.Path, string) T, take func(T) bool) error {
	results := make([]T, batch)
	errs := make([]error, batch)
	for len(paths) > 0 {
		part := paths[:min(batch, len(paths))]
		paths = paths[len(part):]
		inParallel(len(part), func(i int) {
			results[i], errs[i] = scanNote(ctx, ws, part[i], look)
		})
		for i := range part {
			if errs[i] != nil {
				return errs[i]
			}
			if !take(results[i]) {
				return nil
			}
		}
	}
	return ctx.Err()
}

func scanNote[T any](ctx context.Context, ws *bridge.Workspace, p bridge.Path, look func(bridge.Path, string) T) (res T, err error) {
	if err := ctx.Err(); err != nil {
		return res, err
	}
	v, err := ws.Open(ctx, p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, bridge.ErrOffline):
		return res, nil
	case err != nil:
		return res, err
	}
	return look(p, v.Text()), nil
}

// inParallel calls fn with 0 to n-1 on as many goroutines as there are cores and
// returns when all calls have.
func inParallel(n int, fn func(int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				fn(i)
			}
		})
	}
	wg.Wait()
}
