package reviewqueue

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge/bridgetest"
)

// The context of a suggestion is from the text in which it stands, also while the note is written.
func TestContextIsOfOneState(t *testing.T) {
	const tail = "Kept. {++new++} Tail.\n"
	f := bridgetest.New(t, map[string]string{"N/a.md": tail})
	q := New(f.Workspace)
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			head := strings.Repeat(fmt.Sprintf("Line %d.\n", i), i%50)
			f.Person("N/a.md", head+tail)
		}
	})
	for range 300 {
		list, err := q.List(t.Context(), true)
		if err != nil {
			t.Error(err)
			break
		}
		for _, s := range list {
			if !strings.HasSuffix(s.Before, "Kept. ") || s.After != " Tail.\n" {
				t.Errorf("%q stands between %q and %q, want it between %q and %q", s.Summary(), s.Before, s.After, "Kept. ", " Tail.\n")
			}
		}
	}
	stop()
	writer.Wait()
}
