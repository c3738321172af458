package vault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/tests/need"
)

// scanned lists what the vault holds; folders end in a slash.
func scanned(t testing.TB, v *vault.Vault) map[string]model.SourceEntry {
	t.Helper()
	found := make(map[string]model.SourceEntry)
	err := v.Scan(t.Context(), func(e model.SourceEntry) {
		if e.Dir {
			e.Rel += "/"
		}
		found[e.Rel] = e
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestReadWaitsForASave truncates a note, and writes it some time later: a
// reader in between gets the new text, never the empty file.
func TestReadWaitsForASave(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	quickEnough(t, time.Second, func() error {
		p.Save("N.md", "before")
		scanned(t, v)
		f, err := os.OpenFile(p.path("N.md"), os.O_WRONLY|os.O_TRUNC, 0)
		p.check(err)
		defer f.Close()
		return readMeanwhile(t, v, 200*time.Millisecond, func() {
			_, err := f.WriteString("after")
			p.check(err)
		})
	})
}

// quickEnough has try say what a read got wrong during a save. A read waits for a save
// no longer than limit: a try that took longer says nothing, and there is another one.
func quickEnough(t *testing.T, limit time.Duration, try func() error) {
	t.Helper()
	for range 50 {
		start := time.Now()
		err := try()
		if err == nil {
			return
		}
		if took := time.Since(start); took < limit {
			t.Fatalf("%v, after %v", err, took)
		}
	}
	t.Fatal("this machine is too busy for every save")
}

// readMeanwhile reads N.md, to which finish writes "after" some time later.
func readMeanwhile(t *testing.T, v *vault.Vault, after time.Duration, finish func()) error {
	read := make(chan error, 1)
	go func() {
		data, _, err := v.Read(t.Context(), "N.md")
		if err == nil && string(data) != "after" {
			err = fmt.Errorf("read %q, want %q", data, "after")
		}
		read <- err
	}()
	select {
	case err := <-read:
		finish()
		if err == nil {
			err = errors.New("read what was not written yet")
		}
		return fmt.Errorf("while the save was going on: %w", err)
	case <-time.After(after):
		finish()
		return <-read
	}
}

func TestReadEmptiedNote(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("N.md", "before")
	scanned(t, v)
	p.Save("N.md", "")
	data, stamp, err := v.Read(t.Context(), "N.md")
	if len(data) != 0 || stamp.Size != 0 || err != nil {
		t.Errorf("read %q, %v, want nothing", data, err)
	}
}

// TestReadWaitsForARename moves the note away, as vim does, and back.
func TestReadWaitsForARename(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	quickEnough(t, 250*time.Millisecond, func() error {
		p.Save("N.md", "before")
		scanned(t, v)
		p.Rename("N.md", "N.md~")
		return readMeanwhile(t, v, 50*time.Millisecond, func() { p.Save("N.md", "after") })
	})
	p.Remove("N.md")
	if _, _, err := v.Read(t.Context(), "N.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read: %v, want %v", err, fs.ErrNotExist)
	}
}

func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("Log.md", "line\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := saveByAppend(p.path("Log.md"), "", "line\n"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	start := time.Now()
	data, _, err := v.Read(t.Context(), "Log.md")
	if took := time.Since(start); err != nil || len(data) == 0 || took > need.Scaled(3*time.Second) {
		t.Errorf("read %d bytes after %v: %v", len(data), took, err)
	}
	cancel()
	<-done
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	p.Save("New.md", "fresh")
	if _, _, err := v.Read(cancelled, "New.md"); !errors.Is(err, context.Canceled) {
		t.Errorf("read with a cancelled context: %v", err)
	}
}

func TestHidden(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	outside := filepath.Join(t.TempDir(), "Secret.md")
	p.check(os.WriteFile(outside, []byte("secret"), 0o644))
	for _, rel := range []string{"N.md", ".gitignore", ".obsidian/plugins/x/main.js", "a/.git/config", ".trash/Old.md", ".relayfs-0.tmp", "a/N.md"} {
		p.Save(rel, "text")
	}
	for link, target := range map[string]string{
		"Link.md": "a/N.md", "a/Up.md": "../N.md", "Chain.md": "Link.md",
		"Out.md": outside, "Up.md": "../" + filepath.Base(p.dir) + "/N.md", "Loop.md": "Loop.md",
		"Dir": "a", "Hidden.md": ".obsidian/plugins/x/main.js", "Dangling.md": "No.md",
	} {
		p.check(os.Symlink(target, p.path(link)))
	}
	p.check(unix.Mkfifo(p.path("Pipe.md"), 0o644))
	p.check(os.WriteFile(p.path("bad\xff.md"), nil, 0o644))

	found := scanned(t, v)
	want := []string{"N.md", ".gitignore", "a/", "a/N.md", "Link.md", "a/Up.md", "Chain.md", "Dir", "Loop.md", "Dangling.md"}
	for _, rel := range want {
		if _, ok := found[rel]; !ok {
			t.Errorf("%s is not found", rel)
		}
		delete(found, rel)
	}
	if len(found) > 0 {
		t.Errorf("found what is hidden: %v", found)
	}
	for _, rel := range []string{".obsidian/plugins/x/main.js", "a/.git/config", "Out.md", "Up.md", "Loop.md", "Dangling.md", "Link.md", "Dir/N.md", "Hidden.md", "Pipe.md", ".relayfs-0.tmp"} {
		checkHidden(t, v, rel)
	}
}

func checkHidden(t *testing.T, v *vault.Vault, rel string) {
	t.Helper()
	if data, _, err := v.Read(t.Context(), rel); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read %s: %q, %v, want %v", rel, data, err, fs.ErrNotExist)
	}
	if f, err := v.OpenFile(rel, os.O_RDWR, 0); err == nil {
		f.Close()
		t.Errorf("%s was opened", rel)
	}
	if _, err := v.Replace(t.Context(), rel, model.Replacement{IfMatch: model.Stamp{}, Data: nil, ModTime: time.Now()}); err == nil {
		t.Errorf("%s was replaced", rel)
	}
}

func TestHiddenTargets(t *testing.T) {
	v, p := open(t, vault.Options{})
	p.Save("N.md", "text")
	p.Mkdir("dir")
	p.Mkdir(".obsidian/plugins")
	outside := t.TempDir()
	p.check(os.Symlink(outside, p.path("out")))
	ctx := t.Context()
	for what, err := range map[string]error{
		"create in .obsidian": second(v.Create(ctx, ".obsidian/plugins/x.js", model.NewFile{Data: nil, Mode: 0o644, ModTime: time.Now()})),
		"create below a link": second(v.Create(ctx, "out/New.md", model.NewFile{Data: nil, Mode: 0o644, ModTime: time.Now()})),
		"create a new .dir":   second(v.Create(ctx, ".new/New.md", model.NewFile{Data: nil, Mode: 0o644, ModTime: time.Now()})),
		"mkdir .dir":          v.Mkdir(ctx, ".dir"),
		"mkdir below a link":  v.Mkdir(ctx, "out/dir"),
		"rename to .obsidian": v.Rename(ctx, "N.md", ".obsidian/N.md", true),
		"rename dir to .dir":  v.Rename(ctx, "dir", ".dir", false),
		"remove .obsidian":    v.Remove(ctx, ".obsidian"),
		"rename to a temp":    v.Rename(ctx, "N.md", ".relayfs-1.tmp", false),
	} {
		if err == nil {
			t.Errorf("%s succeeded", what)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestSymlink has a symlink as what it is, in every method.
func TestSymlink(t *testing.T) {
	v, p := open(t, vault.Options{})
	ctx := t.Context()
	p.Save("a/N.md", "one")
	p.Mkdir("b")
	p.check(os.Symlink("../a", p.path("b/Link")))
	found := scanned(t, v)
	if e := found["b/Link"]; e.Link != "../a" || e.Dir || e.Stamp.Inode == found["a/"].Stamp.Inode {
		t.Errorf("a symlink is told of as %+v", e)
	}
	wantError(t, "a name from which it leads out", v.Rename(ctx, "b/Link", "Link", false), model.ErrBadName)
	p.check(v.Rename(ctx, "b/Link", "b/Other", false))
	p.check(v.Remove(ctx, "b/Other"))
	if got := p.Content("a/N.md"); got != "one" {
		t.Errorf("file holds %q after a symlink to its folder was removed", got)
	}
	e, err := v.MakeLink(ctx, "b/Link", "../a")
	if target, _ := os.Readlink(p.path("b/Link")); err != nil || target != "../a" || e.Link != target {
		t.Errorf("made a symlink that says %q, told of as %+v, %v", target, e, err)
	}
	wantError(t, "a name that is taken", second(v.MakeLink(ctx, "b/Link", "../a")), fs.ErrExist)
}

func TestRemoveGoesToTrash(t *testing.T) {
	v, p := open(t, vault.Options{})
	for i := range 3 {
		p.Save("dir/N.md", fmt.Sprint(i))
		p.check(v.Remove(t.Context(), "dir/N.md"))
	}
	for name, want := range map[string]string{"N.md": "0", "N 1.md": "1", "N 2.md": "2"} {
		if got := p.Content(".trash/" + name); got != want {
			t.Errorf(".trash/%s holds %q, want %q", name, got, want)
		}
	}
}

// What was removed comes back as the file that it was, not as one like it.
func TestRestore(t *testing.T) {
	v, p := open(t, vault.Options{})
	for range 3 { // the same text each time
		p.Save("dir/N.md", "text")
		p.check(os.Chtimes(p.path("dir/N.md"), time.Time{}, time.Unix(1000, 0)))
		p.check(v.Remove(t.Context(), "dir/N.md"))
	}
	p.Save("dir/N.md", "text")
	p.check(os.Chtimes(p.path("dir/N.md"), time.Time{}, time.Unix(2000, 0)))
	old, err := v.Stat("dir/N.md")
	p.check(err)
	p.check(v.Remove(t.Context(), "dir/N.md"))
	wantError(t, "another content", second(v.Restore(t.Context(), "dir/N.md", "", old.Stamp, []byte("other"))), fs.ErrNotExist)
	is, err := v.Restore(t.Context(), "dir/N.md", "", old.Stamp, []byte("text"))
	if err != nil || !is.Stamp.SameFile(old.Stamp) || is.Stamp.ModTime != old.Stamp.ModTime || p.Content("dir/N.md") != "text" {
		t.Errorf("brought back %+v, %v, want %+v", is, err, old)
	}
	if names, err := os.ReadDir(p.path(".trash")); err != nil || len(names) != 3 {
		t.Errorf("the trash holds %v, %v, want the three others", names, err)
	}
	wantError(t, "a second time", second(v.Restore(t.Context(), "dir/N.md", "", old.Stamp, []byte("text"))), fs.ErrNotExist)
}

func TestBadNames(t *testing.T) {
	v, _ := open(t, vault.Options{})
	long := strings.Repeat("x", 256)
	_, err := v.Create(t.Context(), long, model.NewFile{Data: nil, Mode: 0o644, ModTime: time.Now()})
	wantError(t, "long name", err, model.ErrNameTooLong)
	_, err = vault.New(filepath.Join(t.TempDir(), "no"), vault.Options{})
	wantError(t, "new on nothing", err, fs.ErrNotExist)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = vault.New(file, vault.Options{})
	wantError(t, "new on a file", err, model.ErrNotDir)
}
