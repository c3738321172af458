package vault_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

func TestReplaceErrorsOfTheDiskLeaveTheFile(t *testing.T) {
	t.Run("no space", func(t *testing.T) {
		v, p := openDir(t, mountTmpfs(t, "size=64k"), vault.Options{})
		p.Save("N.md", "one")
		_, stamp, err := v.Read(t.Context(), "N.md")
		p.check(err)
		_, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: bytes.Repeat([]byte("x"), 1<<20), ModTime: time.Now()})
		checkFailed(t, p, err, model.ErrNoSpace)
		_, err = v.Create(t.Context(), "New.md", model.NewFile{Data: bytes.Repeat([]byte("x"), 1<<20), Mode: 0o644, ModTime: time.Now()})
		checkFailed(t, p, err, model.ErrNoSpace)
	})
	t.Run("read-only disk", func(t *testing.T) {
		dir := mountTmpfs(t, "size=64k")
		v, p := openDir(t, dir, vault.Options{})
		p.Save("N.md", "one")
		_, stamp, err := v.Read(t.Context(), "N.md")
		p.check(err)
		p.check(unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		_, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("two"), ModTime: time.Now()})
		checkFailed(t, p, err, model.ErrReadOnly)
		wantError(t, "mkdir", v.Mkdir(t.Context(), "dir"), model.ErrReadOnly)
		wantError(t, "remove", v.Remove(t.Context(), "N.md"), model.ErrReadOnly)
	})
}

// TestMountedOver puts another disk over the vault and takes it away again: no event tells of either.
func TestMountedOver(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("N.md", "text")
	events := follow(t, v)
	if err := unix.Mount("relayfs-test", p.dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("tmpfs cannot be mounted: %v", err)
	}
	unmount := sync.OnceValue(func() error { return unix.Unmount(p.dir, unix.MNT_DETACH) })
	defer unmount()
	await(t, events, "the vault going offline", func(ev model.SourceEvent) bool { return ev.Kind == model.EventOffline })
	p.check(unmount())
	await(t, events, "the vault coming back", func(ev model.SourceEvent) bool { return ev.Kind == model.EventOnline })
	p.Save("N.md", "changed since")
	if seen := await(t, events, "a save", is(model.EventChanged, "N.md")); len(seen) != 1 {
		t.Errorf("events %+v, want one", seen)
	}
}

// mountTmpfs mounts a file system of its own, which only root may.
func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("relayfs-test", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}
