//go:build !windows

package fusefs_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// syncedSource records whether saves were to be on the disk before they had their names.
type syncedSource struct {
	*bridgetest.Source
	mu     sync.Mutex // protects synced
	synced []bool
}

func (s *syncedSource) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	s.mu.Lock()
	s.synced = append(s.synced, r.Sync)
	s.mu.Unlock()
	return s.Source.Replace(ctx, rel, r)
}

// A program that syncs the file that it renames over a note has asked for the disk; one
// that does not, or that writes on after its fsync, has not.
func TestRenameOfASyncedFile(t *testing.T) {
	t.Parallel()
	var source *syncedSource
	m := mount(t, map[string]string{"F/Note.md": "one\n"}, func(o *bridge.Options) {
		source = &syncedSource{Source: o.Roots[0].Source.(*bridgetest.Source)}
		o.Roots[0].Source = source
	})
	temp, note := filepath.Join(m.dir, "F", "Note.md.tmp"), filepath.Join(m.dir, "F", "Note.md")
	for i, steps := range []string{"ws", "w", "wsw", "sw", "wsws"} {
		f, err := os.Create(temp)
		for _, step := range steps {
			switch {
			case err != nil:
			case step == 'w':
				_, err = f.WriteString("text of " + steps + "\n")
			case step == 's':
				err = f.Sync()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temp, note); err != nil {
			t.Fatalf("save %d: %v", i, err)
		}
	}
	source.mu.Lock()
	defer source.mu.Unlock()
	if want := []bool{true, false, false, false, true}; !slices.Equal(source.synced, want) {
		t.Errorf("synced first: %v, want %v", source.synced, want)
	}
}
