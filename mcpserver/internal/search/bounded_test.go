package search

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
)

// A search goes on for 20 seconds and no longer.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := grep.Compile("(a.*b)+?c", grep.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("ab", 1<<16) + "c"
		ctx, timed, cancel := bounded(t.Context(), p)
		defer cancel()
		check := func(when string, want bool, cause error) {
			t.Helper()
			synctest.Wait()
			if got := timed.Matches(text); got != want || !errors.Is(context.Cause(ctx), cause) {
				t.Errorf("%s: it finds something: %v, and ends with %v; want %v and %v", when, got, context.Cause(ctx), want, cause)
			}
		}
		time.Sleep(20*time.Second - time.Nanosecond)
		check("before its time is over", true, nil)
		time.Sleep(time.Nanosecond)
		check("afterwards", false, ErrSlow)
	})
}
