// Package progress carries how far a long call is from what works to who has asked. It
// has no locks.
package progress

import "context"

// key is the key of a call's function in its context.
type key struct{}

// With has calls of Report reach fn.
func With(ctx context.Context, fn func(done, total int)) context.Context {
	return context.WithValue(ctx, key{}, fn)
}

// Report says that done of total notes have been searched. One goroutine of a
// call may do so.
func Report(ctx context.Context, done, total int) {
	if report, ok := ctx.Value(key{}).(func(done, total int)); ok {
		report(done, total)
	}
}
