package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// kill -9 at any time while programs save notes by making new ones and renaming
// those over them: each note is what a save left that had returned, or the one that
// was under way; a new note that is still there is whole, and nothing is proposed.
func TestKillWhileNewNotesAreRenamedOver(t *testing.T) {
	t.Parallel()
	rng := randomtest.New(t)
	s := harness.NewSandbox(t)
	files, notes := make(map[string]string), make(map[string]written)
	for i := range 4 {
		name := fmt.Sprintf("note %d.md", i)
		files[name], notes[name] = harness.TideTable, written{kept: harness.TideTable}
	}
	vault := s.Vault(t, "Vault", files)
	for _, after := range kills(t, rng) {
		m := s.Mount(t, vault)
		renameOverUntilKilled(t, m, notes, rng, time.Duration(rng.IntN(after)+1)*3*time.Millisecond)
		if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
			t.Fatalf("unmount of the dead mount: exit %d: %s", out.Code, out.Stderr)
		}
		m = s.Mount(t, vault)
		for name, w := range notes {
			notes[name] = written{kept: checkRenamedOver(t, m, name, w)}
		}
		for _, q := range s.Suggestions(t, vault) {
			if q.Kind == "rename" || q.Kind == "delete" {
				t.Errorf("proposed: %+v", q)
			}
		}
		m.Stop(t)
		if t.Failed() {
			return
		}
		for name := range notes {
			if err := os.Remove(m.VaultPath("new " + name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if trash, _ := filepath.Glob(filepath.Join(vault, ".trash", "new *")); len(trash) > 0 {
			t.Errorf("the trash holds %q", trash)
		}
	}
}

// renameOverUntilKilled has a program for each note save it again and again.
func renameOverUntilKilled(t *testing.T, m *harness.Mount, notes map[string]written, rng *rand.Rand, after time.Duration) {
	t.Helper()
	var mu sync.Mutex // protects notes
	var wg sync.WaitGroup
	for name := range notes {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 1))
		wg.Go(func() {
			for i := 0; ; i++ {
				mu.Lock()
				text := randomEdit(rng, notes[name].kept, i)
				notes[name] = written{kept: notes[name].kept, tried: text}
				mu.Unlock()
				fresh := m.Path("new " + name)
				err := os.WriteFile(fresh, []byte(text), 0o644)
				if err == nil {
					err = os.Rename(fresh, m.Path(name))
				}
				if err != nil {
					return // the process is dead
				}
				mu.Lock()
				notes[name] = written{kept: text}
				mu.Unlock()
			}
		})
	}
	time.Sleep(after)
	m.Kill(t)
	wg.Wait()
}

// checkRenamedOver checks a note, and the new one that was to be renamed over it if
// it is there, and returns which text the note has.
func checkRenamedOver(t *testing.T, m *harness.Mount, name string, w written) string {
	t.Helper()
	got := harness.ReadFile(t, m.Path(name))
	if got != w.kept && (w.tried == "" || got != w.tried) {
		harness.CheckText(t, name+" after a kill", got, w.kept)
	}
	raw := harness.ReadFile(t, m.VaultPath(name))
	harness.CheckText(t, "original view of "+name, diffwrap.Everything.Original(raw), harness.TideTable)
	left, err := os.ReadFile(m.Path("new " + name))
	if errors.Is(err, fs.ErrNotExist) {
		return got
	}
	if err != nil || w.tried == "" || string(left) != w.tried {
		t.Errorf("new %s holds %q, %v, want %q or nothing there", name, left, err, w.tried)
	}
	return got
}
