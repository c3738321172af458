package mcpserver

import (
	"context"
	"testing"
	"testing/synctest"
)

// A call that is cancelled while it waits does not let later calls pass the earlier ones.
func TestCancelledCallKeepsTheOrder(t *testing.T) {
	for _, changes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var o callOrder
			running, cancelled, last := o.enter(true), o.enter(true), o.enter(changes)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if cancelled.wait(ctx) == nil {
				t.Error("the second call did not wait")
			}
			cancelled.end()
			began := false
			go func() {
				_ = last.wait(t.Context())
				began = true
			}()
			synctest.Wait()
			if began {
				t.Error("the last call began while the first one ran")
			}
			running.end()
			synctest.Wait()
			if !began {
				t.Error("the last call waits although the others have ended")
			}
		})
	}
}
