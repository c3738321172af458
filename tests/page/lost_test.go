package page

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// relayfs is killed while it carries out a decision on many suggestions. When it is back, the page says what came of
// that, and Undo takes it back.
func TestReviewPageWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	const notes = 400
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("Note %03d.md", i)] = "One {--a--}{++b++} here.\n\nTwo {--c--}{++d++} here.\n"
	}
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", files))
	accepted := func() (n int) {
		for name, pending := range files {
			if data, err := os.ReadFile(m.VaultPath(name)); err == nil && string(data) != pending {
				n++
			}
		}
		return n
	}
	b := openPage(t, reviewPage(t, s, m.Vault))
	b.do(t, fmt.Sprintf("wait %d pending suggestions", 2*notes))
	b.do(t, "press /")
	b.do(t, "type Note")
	b.do(t, fmt.Sprintf("wait Accept %d in %d notes", 2*notes, notes))
	b.do(t, fmt.Sprintf("click Accept %d in %d notes", 2*notes, notes))
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for accepted() == 0 {
			time.Sleep(time.Millisecond) // leaves the processor to relayfs
		}
		m.Kill(t)
	}()
	b.do(t, fmt.Sprintf("click Accept %d$", 2*notes))
	<-killed
	again := s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
	p := b.do(t, "wait accepted in")
	t.Logf("%d notes were accepted: %s", accepted(), p.Message)
	if n := accepted(); n == 0 || n < notes && !strings.Contains(p.Message, "of 800 suggestions accepted") {
		t.Errorf("%d notes were accepted, and the page says %q", n, p.Message)
	}
	b.do(t, "press u")
	if n := accepted(); n > 5 {
		b.do(t, `click Take back \d+$`)
	}
	b.do(t, "wait taken back")
	b.do(t, fmt.Sprintf("wait %d of %d pending", 2*notes, 2*notes))
	for name, want := range files {
		harness.FileBecomes(t, m.VaultPath(name), want)
	}
	again.Stop(t)
}
