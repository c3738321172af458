package model

import "context"

type progressKey struct{}

// WithProgress has long operations under ctx say how many of how many notes they
// have read. report is called often, on the caller's goroutine.
func WithProgress(ctx context.Context, report func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ProgressOf is what WithProgress was given, or a function that does nothing.
func ProgressOf(ctx context.Context) func(done, total int) {
	if report, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return report
	}
	return func(int, int) {}
}
