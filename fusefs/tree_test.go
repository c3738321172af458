package fusefs

import (
	"context"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// newTestTree is a tree that no kernel knows.
func newTestTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	tr := newTree(bridgetest.New(t, files).Workspace, Options{})
	fs.NewNodeFS(tr.root, nodeOptions(nil))
	t.Cleanup(tr.ws.Subscribe(tr.changed))
	return tr
}

// A tree lets go of what the kernel has forgotten, not of what was just looked
// up, is being written, or lies under scratch files.
func TestForgetUnused(t *testing.T) {
	tr := newTestTree(t, map[string]string{"F/Unused.md": "x\n", "F/Dirty.md": "x\n", "F/sub/b.md": "b\n"})
	ctx := context.Background()
	for _, p := range []string{"F", "F/Unused.md", "F/Dirty.md", "F/sub"} {
		if _, _, err := tr.lookup(ctx, cleanPath(t, p)); err != nil {
			t.Fatal(err)
		}
	}
	dirty := tr.nodes["F/Dirty.md"].node.(*File)
	if errno := dirty.truncate(ctx, nil, 1); errno != 0 {
		t.Fatal(errno)
	}
	if _, err := tr.createScratch(ctx, tr.dirAt("F/sub"), "x.tmp", 0o644); err != nil {
		t.Fatal(err)
	}
	tr.forgetUnused(time.Now().Add(-time.Hour))
	if len(tr.nodes) != 5 {
		t.Errorf("%d nodes after a look at old ones, want all 5", len(tr.nodes))
	}
	tr.forgetUnused(time.Now().Add(time.Hour))
	for p, want := range map[string]bool{"": true, "F": false, "F/Unused.md": false, "F/Dirty.md": true, "F/sub": true} {
		if got := tr.nodes[cleanPath(t, p)] != nil; got != want {
			t.Errorf("%q is known: %v, want %v", p, got, want)
		}
	}
}

// Old scratch files go, unless somebody has them open.
func TestExpireScratch(t *testing.T) {
	tr := newTestTree(t, map[string]string{"F/Note.md": "x\n"})
	ctx := context.Background()
	n, _, err := tr.lookup(ctx, "F")
	if err != nil {
		t.Fatal(err)
	}
	d := n.(*Dir)
	for _, name := range []string{"old.tmp", "open.tmp"} {
		f, err := tr.createScratch(ctx, d, name, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		h := f.newHandle(ctx, 1)
		if _, errno := h.Write(ctx, []byte("some bytes"), 0); errno != 0 {
			t.Fatal(errno)
		}
		if name == "old.tmp" {
			h.Release(ctx)
		}
	}
	tr.expireScratch(time.Now().Add(-time.Hour))
	if len(d.overlay.entries) != 2 {
		t.Errorf("%d scratch files, want both", len(d.overlay.entries))
	}
	tr.expireScratch(time.Now().Add(time.Hour))
	if d.overlay.get("old.tmp") != nil || d.overlay.get("open.tmp") == nil {
		t.Errorf("after the expiry: %v", d.overlay.entries)
	}
	if got := tr.scratch.Load(); got != int64(len("some bytes")) {
		t.Errorf("%d bytes are accounted for, want those of the one that is open", got)
	}
}

// The scratch layer is bounded.
func TestScratchIsBounded(t *testing.T) {
	tr := newTestTree(t, map[string]string{"F/Note.md": "x\n"})
	ctx := context.Background()
	n, _, err := tr.lookup(ctx, "F")
	if err != nil {
		t.Fatal(err)
	}
	f, err := tr.createScratch(ctx, n.(*Dir), "big.tmp", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	tr.scratch.Store(maxScratch - 10)
	h := f.newHandle(ctx, 1)
	if _, errno := h.Write(ctx, make([]byte, 10), 0); errno != 0 {
		t.Errorf("the last bytes: %v", errno)
	}
	if _, errno := h.Write(ctx, make([]byte, 1), 10); errno.Error() != "no space left on device" {
		t.Errorf("one more byte: %v", errno)
	}
	f.unlink()
	if got := tr.scratch.Load(); got != maxScratch-10 {
		t.Errorf("%d bytes are accounted for after the unlink, want %d", got, maxScratch-10)
	}
}

func cleanPath(t *testing.T, s string) model.Path {
	t.Helper()
	p, err := model.CleanPath(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
