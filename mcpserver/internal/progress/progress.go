// Package progress reports how far a long call is to its caller. It has no locks.
package progress

import "context"

type key struct{} // of a call's function in its context

// With makes Report call fn.
func With(ctx context.Context, fn func(done, total int)) context.Context {
	return context.WithValue(ctx, key{}, fn)
}

// Report says that done of total notes have been searched. Only one goroutine of a call may
// report.
func Report(ctx context.Context, done, total int) {
	if report, ok := ctx.Value(key{}).(func(done, total int)); ok {
		report(done, total)
	}
}
