package fusefs

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// newTestTree is a tree that no kernel knows.
func newTestTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	tr := newTree(bridgetest.New(t, files).Workspace, Options{})
	fs.NewNodeFS(tr.root, nodeOptions())
	t.Cleanup(tr.ws.Subscribe(tr.changed))
	return tr
}

// A tree lets go of what the kernel has forgotten, not of what was just looked
// up, is being written, or lies under scratch files.
func TestForgetUnused(t *testing.T) {
	t.Parallel()
	tr := newTestTree(t, map[string]string{"F/Unused.md": "x\n", "F/Dirty.md": "x\n", "F/sub/b.md": "b\n"})
	ctx := context.Background()
	for _, p := range []string{"F", "F/Unused.md", "F/Dirty.md", "F/sub"} {
		if _, _, err := tr.lookup(ctx, cleanPath(t, p)); err != nil {
			t.Fatal(err)
		}
	}
	dirty := tr.inner.nodes["F/Dirty.md"].node.(*File)
	if errno := dirty.truncate(ctx, nil, 1); errno != 0 {
		t.Fatal(errno)
	}
	if _, err := tr.inner.nodes["F/sub"].node.(*Dir).createScratch(ctx, "x.tmp", 0o644); err != nil {
		t.Fatal(err)
	}
	tr.forgetUnused(time.Now().Add(-time.Hour))
	if len(tr.inner.nodes) != 5 {
		t.Errorf("%d nodes after a look at old ones, want all 5", len(tr.inner.nodes))
	}
	tr.forgetUnused(time.Now().Add(time.Hour))
	for p, want := range map[string]bool{"": true, "F": false, "F/Unused.md": false, "F/Dirty.md": true, "F/sub": true} {
		if got := tr.inner.nodes[cleanPath(t, p)] != nil; got != want {
			t.Errorf("%q is known: %v, want %v", p, got, want)
		}
	}
}

// The first save of a new note fails, and another program closes the note, while a program is opening it: the program's
// close must not succeed if its text is not saved.
func TestNewNoteIsDiscardedDuringAnOpen(t *testing.T) {
	t.Parallel()
	for name, repeated := range map[string]bool{"opened": false, "opened again": true} {
		t.Run(name, func(t *testing.T) {
			tr := newTestTree(t, map[string]string{"F/Note.md": "x\n"})
			ctx := fuse.NewContext(t.Context(), &fuse.Caller{Pid: uint32(os.Getpid())})
			n, _, err := tr.lookup(ctx, "F")
			if err != nil {
				t.Fatal(err)
			}
			f := n.(*Dir).createNote(ctx, "F/gone/New.md", 0o644)
			if f.commit(ctx, true) == nil {
				t.Fatal("the save succeeded in a folder that is missing")
			}
			other, h := newHandle(t.Context(), f, syscall.O_RDONLY), newHandle(ctx, f, syscall.O_WRONLY)
			if repeated {
				h.keep(ctx, syscall.ESTALE)
			} else if errno := h.open(ctx); errno != 0 {
				t.Fatal(errno)
			}
			f.admit(t.Context(), other, true)
			other.Release(t.Context())
			if repeated && newHandle(ctx, f, syscall.O_WRONLY).open(ctx) != 0 {
				return
			}
			for h = range f.state.handles {
			}
			if _, errno := h.Write(ctx, []byte("text\n"), 0); errno == 0 && h.Flush(ctx) == 0 {
				t.Error("close returned no error")
			}
		})
	}
}

// The scratch layer is bounded.
func TestScratchIsBounded(t *testing.T) {
	t.Parallel()
	tr := newTestTree(t, map[string]string{"F/Note.md": "x\n"})
	ctx := context.Background()
	n, _, err := tr.lookup(ctx, "F")
	if err != nil {
		t.Fatal(err)
	}
	f, err := n.(*Dir).createScratch(ctx, "big.tmp", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	tr.scratch.Store(maxScratch - 10)
	h := newHandle(ctx, f, 1)
	if _, errno := h.Write(ctx, make([]byte, 10), 0); errno != 0 {
		t.Errorf("the last bytes: %v", errno)
	}
	if _, errno := h.Write(ctx, make([]byte, 1), 10); errno.Error() != "no space left on device" {
		t.Errorf("one more byte: %v", errno)
	}
	f.loseName(evUnlink)
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

// A note that somebody else has just changed, which nobody has been told yet, is an ordinary
// scratch file once it is moved to the name of one.
func TestMovedAwayWhenOutdated(t *testing.T) {
	t.Parallel()
	ws := bridgetest.New(t, map[string]string{"F/Note.md": "old\n"}).Workspace
	tr := newTree(ws, Options{})
	fs.NewNodeFS(tr.root, nodeOptions())
	ctx := context.Background()
	n, _, err := tr.lookup(ctx, "F/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.(*File).pin(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.Write(ctx, "F/Note.md", bridge.Write{Text: "new\n"}); err != nil {
		t.Fatal(err)
	}
	folder, _, err := tr.lookup(ctx, "F")
	if err != nil {
		t.Fatal(err)
	}
	d := folder.(*Dir)
	if errno := d.Rename(ctx, "Note.md", d, "Note.md~", 0); errno != 0 {
		t.Fatal(errno)
	}
	var out fuse.EntryOut
	if _, errno := d.Lookup(ctx, "Note.md~", &out); errno != 0 || out.Size != uint64(len("old\n")) {
		t.Errorf("%v, %d bytes", errno, out.Size)
	}
}

// A panic while a request is served is an error for who asked, and does not go unseen.
func TestPanicsAreLogged(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	o := mountOptions(false, Options{}, slog.New(slog.NewTextHandler(&logged, nil)))
	if st := o.PanicHandler("out of range"); st != fuse.EIO {
		t.Errorf("the answer is %v", st)
	}
	for _, want := range []string{"level=ERROR", "out of range", "TestPanicsAreLogged"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("%q is not in the log %q", want, logged.String())
		}
	}
}

// unreadable is a source whose notes cannot be read.
type unreadable struct{ *bridgetest.Source }

func (unreadable) Read(context.Context, string) ([]byte, model.Stamp, error) {
	return nil, model.Stamp{}, syscall.EACCES
}

// mknod makes no file in the place of a note that cannot be read.
func TestMknodOfAnUnreadableNote(t *testing.T) {
	t.Parallel()
	files := map[string]string{"F/Note.md": "x\n"}
	tr := newTree(bridgetest.New(t, files, func(o *bridge.Options) {
		o.Roots[0].Source = unreadable{o.Roots[0].Source.(*bridgetest.Source)}
	}).Workspace, Options{})
	fs.NewNodeFS(tr.root, nodeOptions())
	n, _, err := tr.lookup(t.Context(), "F")
	if err != nil {
		t.Fatal(err)
	}
	if _, errno := n.(*Dir).Mknod(t.Context(), "Note.md", syscall.S_IFREG|0o644, 0, new(fuse.EntryOut)); errno != syscall.EACCES {
		t.Errorf("mknod: %v", errno)
	}
}
