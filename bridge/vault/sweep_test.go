package vault_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// Scan reports no temp file. It removes what a killed process has left, or moves it to the
// trash if a user may need it, and leaves alone what is in use.
func TestSweep(t *testing.T) {
	v, p := open(t, vault.Options{ID: "feed"})
	p.Save("N.md", "text\n")
	p.Save("sub/.relayfs-0123.tmp", "left by a killed process\n")
	for _, name := range []string{"untouched", "written to", "of a note that is gone"} {
		old := "old\n"
		if name == "untouched" {
			old = "of no use\n"
		}
		p.Save("sub/"+name, old)
		sub, err := disk.OS{}.OpenRoot(p.path("sub"))
		p.check(err)
		info, err := sub.Stat(name)
		p.check(errors.Join(err, sub.Close()))
		path := sha256.Sum256([]byte("sub/" + name))
		displaced := fmt.Sprintf("sub/.relayfs-0123-1-%x-1-%08x-%x-%x-%x.tmp", path[:8], 2, info.Inode, info.ModTime, info.Size)
		p.Rename("sub/"+name, displaced)
		switch name {
		case "untouched":
			p.Save("sub/"+name, "new\n")
		case "written to":
			p.Save(displaced, "old, and late\n")
		}
	}
	p.Save(".relayfs-feed-1.tmp", "of an operation that runs now\n")
	p.check(v.Scan(t.Context(), func(e model.SourceEntry) {
		if strings.Contains(e.Rel, ".relayfs") {
			t.Errorf("temp file %s is reported", e.Rel)
		}
	}))
	if left, err := os.ReadDir(p.path("sub")); err != nil || len(left) != 1 {
		t.Errorf("left over: %v, %v", left, err)
	}
	recovered := make(map[string]bool)
	entries, err := os.ReadDir(p.path(".trash"))
	p.check(err)
	for _, e := range entries {
		recovered[p.Content(".trash/"+e.Name())] = true
	}
	if want := map[string]bool{"left by a killed process\n": true, "old, and late\n": true, "old\n": true}; !maps.Equal(recovered, want) {
		t.Errorf("the trash holds %v, want %v", recovered, want)
	}
	if _, err := os.Stat(p.path(".relayfs-feed-1.tmp")); err != nil {
		t.Errorf("temp file in use: %v", err)
	}
}

// What a save displaced next to the note does not keep the note's folder from being removed at once.
func TestRemoveFolderAfterSave(t *testing.T) {
	v, p := open(t, vault.Options{ID: "feed"})
	p.Save("sub/.relayfs-feed-1.tmp", "")
	time.AfterFunc(50*time.Millisecond, func() { os.Remove(p.path("sub/.relayfs-feed-1.tmp")) })
	p.check(v.Remove(t.Context(), "sub"))
	if left, err := os.ReadDir(p.dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// What goes wrong in BeforeRename ends the save and leaves nothing behind; a panic reaches who saves.
func TestMeanwhileFails(t *testing.T) {
	for temp, o := range map[string]vault.Options{"beside": {}, "swap folder": {Swap: t.TempDir()}} {
		for name, fail := range map[string]func(model.Stamp) error{
			"error": func(model.Stamp) error { return fs.ErrInvalid },
			"panic": func(model.Stamp) error { panic("out of order") },
		} {
			t.Run(name+", "+temp, func(t *testing.T) {
				v, p := openDir(t, t.TempDir(), o)
				p.Save("N.md", "old\n")
				_, stamp, err := v.Read(t.Context(), "N.md")
				p.check(err)
				defer func() {
					reason := recover()
					if panicked := reason != nil; panicked != (name == "panic") {
						t.Errorf("panic: %v", reason)
					}
					p.check(v.Close())
					for dir, want := range map[string]int{p.dir: 1, o.Swap: 0} {
						if left, err := os.ReadDir(dir); dir != "" && (err != nil || len(left) != want) {
							t.Errorf("%s has %v, %v", dir, left, err)
						}
					}
					if text := p.Content("N.md"); text != "old\n" {
						t.Errorf("the note has %q", text)
					}
				}()
				_, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("new\n"), ModTime: time.Now(), BeforeRename: fail})
				if !errors.Is(err, fs.ErrInvalid) {
					t.Errorf("error %v, want what Meanwhile says", err)
				}
			})
		}
	}
}

// The pre-image of a save stays until a moment later, and Close waits for that.
func TestPreImageStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, p := openDir(t, t.TempDir(), vault.Options{})
		p.Save("N.md", "old\n")
		_, stamp, err := v.Read(t.Context(), "N.md")
		p.check(err)
		for _, text := range []string{"new\n", "newer\n"} {
			synctest.Wait() // the first save settles at once, the next one after a pause
			stamp, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte(text), ModTime: time.Now()})
			p.check(err)
		}
		for _, want := range []int{2, 1} { // with the pre-image, and without
			if names, err := os.ReadDir(p.dir); err != nil || len(names) != want {
				t.Errorf("the vault holds %v, %v, want %d files", names, err, want)
			}
			p.check(v.Close())
		}
	})
}
