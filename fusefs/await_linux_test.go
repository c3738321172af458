package fusefs_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// Once AwaitMount returns, programs read what was changed elsewhere before it was called, whatever the kernel had cached.
func TestAwaitMount(t *testing.T) {
	t.Parallel()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // or the kernel is told while this goroutine goes on
	m := mount(t, map[string]string{"F/Note.md": "0\n"})
	for i := range 200 {
		m.cat(t, "F/Note.md")
		text := fmt.Sprintf("%d\n", i+1)
		if _, err := m.Write(t.Context(), "F/Note.md", bridge.Write{Text: text, By: model.Author{Name: "elsewhere"}}); err != nil {
			t.Fatal(err)
		}
		m.AwaitMount(t.Context())
		if got := m.cat(t, "F/Note.md"); got != text {
			t.Fatalf("read %q after %q was written", got, text)
		}
	}
}
