package filereplace

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// swapWorld is a world whose vault has a swap folder, which a first save has used.
func swapWorld(t *testing.T, text string) *world {
	t.Helper()
	w := newWorldWith(t, "first\n", t.TempDir(), slog.DiscardHandler)
	w.ok(w.replace(text))
	w.s.syncer.all.Wait()
	return w
}

// A save that ends after the vault was closed leaves nothing behind.
func TestCloseDuringSwap(t *testing.T) {
	t.Parallel()
	for name, commit := range map[string]bool{"given up": false, "done": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := swapWorld(t, "old\n")
			want := "old\n"
			s := w.stage("new\n")
			w.close()
			if commit {
				want = "new\n"
				_, err := s.Commit()
				w.ok(err)
			}
			s.Close()
			w.want(map[string]string{"N.md": want})
		})
	}
}

// A killed process leaves a file of which nobody knows what it is for.
func TestSweepSwapFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"full": "hers\n"} {
		if err := os.WriteFile(filepath.Join(dir, ".relayfs-0123-"+name+".tmp"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorldWith(t, "text\n", dir, slog.DiscardHandler)
	w.sweep()
	recovered, err := os.ReadFile(filepath.Join(w.dir, ".trash/relayfs recovered.md"))
	if err != nil || string(recovered) != "hers\n" {
		t.Errorf("the trash has %q, %v", recovered, err)
	}
	w.ok(os.RemoveAll(filepath.Join(w.dir, ".trash")))
	w.want(map[string]string{"N.md": "text\n"})
}

// Where nothing can be moved to from the swap folder, though it is on the same disk, saves do without.
func TestSwapFolderElsewhere(t *testing.T) {
	t.Parallel()
	w := swapWorld(t, "second\n")
	bound := t.TempDir()
	if err := unix.Mount(w.dir, bound, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("bind mounts need root: %v", err)
	}
	defer unix.Unmount(bound, unix.MNT_DETACH)
	w.folder.Path = bound
	for _, text := range []string{"third\n", "fourth\n"} {
		w.ok(w.replace(text))
		w.s.syncer.all.Wait()
	}
	w.want(map[string]string{"N.md": "fourth\n"})
}

// Somebody cleans up in the state folder, or makes it read-only: saves do without.
func TestSwapFolderLost(t *testing.T) {
	lose := map[string]func(w *world){
		"folder":     func(w *world) { w.ok(os.RemoveAll(w.o.Folder)) },
		"permission": func(w *world) { w.ok(os.Chmod(w.o.Folder, 0o555)) },
	}
	for name, lose := range lose {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, "first\n", t.TempDir(), slog.DiscardHandler)
			w.openTo(1111)
			w.ok(os.Chown(filepath.Join(w.dir, "N.md"), 1111, 1111))
			asUser(t, 1111, 1111, func() {
				lose(w)
				w.ok(w.replace("second\n"))
				w.ok(w.replace("third\n"))
			})
			w.close()
			if data, err := os.ReadFile(filepath.Join(w.dir, "N.md")); err != nil || string(data) != "third\n" {
				t.Errorf("the note has %q, %v", data, err)
			}
		})
	}
}

// openTo lets a user reach everything.
func (w *world) openTo(uid int) {
	w.t.Helper()
	if os.Getuid() != 0 {
		w.t.Skip("only root can be somebody else")
	}
	for _, dir := range []string{w.dir, w.o.Folder} {
		for ; dir != "" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			w.ok(os.Chmod(dir, 0o777))
		}
	}
	if w.o.Folder != "" {
		w.ok(os.Chown(w.o.Folder, uid, uid))
	}
}

// asUser calls fn with the rights on files that a user has who is not root.
func asUser(t *testing.T, uid, gid int, fn func()) {
	t.Helper()
	runtime.LockOSThread() // whose rights they are
	defer runtime.UnlockOSThread()
	w := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	w(unix.Setfsgid(gid))
	w(unix.Setfsuid(uid))
	defer func() {
		w(unix.Setfsuid(0))
		w(unix.Setfsgid(0))
	}()
	fn()
}

// A folder that several people share gives its group to what is made in it.
func TestReplaceKeepsGroup(t *testing.T) {
	for name, swap := range map[string]string{"beside": "", "swap folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			const team, ann, bob = 4242, 1111, 2222
			w := newWorldWith(t, "hers\n", swap, slog.DiscardHandler)
			w.openTo(ann)
			w.ok(os.Chown(w.dir, 0, team))
			w.ok(os.Chmod(w.dir, 0o777|os.ModeSetgid))
			w.ok(os.Chown(filepath.Join(w.dir, "N.md"), bob, team))
			asUser(t, ann, ann, func() {
				w.ok(w.replace("ours\n"))
			})
			var st unix.Stat_t
			w.ok(unix.Stat(filepath.Join(w.dir, "N.md"), &st))
			if st.Gid != team {
				t.Errorf("the note is group %d's, want %d", st.Gid, team)
			}
			w.want(map[string]string{"N.md": "ours\n"})
		})
	}
}

// A note that nobody may write keeps what is attached to it as well.
func TestReplaceKeepsAttributesOfReadOnlyNote(t *testing.T) {
	w := newWorld(t, "old\n")
	name := filepath.Join(w.dir, "N.md")
	if err := unix.Setxattr(name, "user.tag", []byte("x"), 0); err != nil {
		t.Skipf("the disk keeps no attributes: %v", err)
	}
	w.openTo(1111)
	w.ok(os.Chmod(name, 0o444))
	asUser(t, 1111, 1111, func() { w.ok(w.replace("new\n")) })
	if _, err := unix.Getxattr(name, "user.tag", make([]byte, 10)); err != nil {
		t.Error(err)
	}
}

// A folder may give an access control list to what is made in it. That is nothing that a note has.
func TestReplaceKeepsNoList(t *testing.T) {
	for name, swap := range map[string]string{"beside": "", "swap folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, "old\n", swap, slog.DiscardHandler)
			for _, dir := range []string{w.dir, swap} {
				if err := unix.Setxattr(dir, "system.posix_acl_default", aclOf(1234), 0); dir != "" && err != nil {
					t.Skipf("the disk keeps no lists: %v", err)
				}
			}
			w.ok(w.replace("new\n"))
			if n, err := unix.Getxattr(filepath.Join(w.dir, "N.md"), "system.posix_acl_access", make([]byte, 100)); err == nil {
				t.Errorf("the note has a list of %d bytes", n)
			}
			w.want(map[string]string{"N.md": "new\n"})
		})
	}
}

// aclOf is a list that lets one user more write.
func aclOf(user uint16) []byte {
	acl := []byte{2, 0, 0, 0}
	for _, e := range [][2]byte{{1, 6}, {2, 6}, {4, 4}, {0x10, 6}, {0x20, 4}} { // tag, permissions
		id := []byte{0xff, 0xff, 0xff, 0xff}
		if e[0] == 2 {
			id = []byte{byte(user), byte(user >> 8), 0, 0}
		}
		acl = append(append(acl, e[0], 0, e[1], 0), id...)
	}
	return acl
}

// What people attached to a note stays with it: tags of a file manager, an access control list.
func TestReplaceKeepsAttributes(t *testing.T) {
	for temp, newWorld := range worlds {
		t.Run(temp, func(t *testing.T) {
			w := newWorld(t, "old\n")
			name := filepath.Join(w.dir, "N.md")
			attributes := map[string][]byte{"user.xdg.tags": []byte("plan,2026"), "system.posix_acl_access": aclOf(1234)}
			for attr, value := range attributes {
				if err := unix.Setxattr(name, attr, value, 0); err != nil {
					t.Skipf("the disk keeps no %s: %v", attr, err)
				}
			}
			w.ok(w.replace("new\n"))
			for attr, want := range attributes {
				got := make([]byte, 100)
				n, err := unix.Getxattr(name, attr, got)
				if err != nil || !bytes.Equal(got[:n], want) {
					t.Errorf("%s is %x, %v; want %x", attr, got[:max(n, 0)], err, want)
				}
			}
			w.want(map[string]string{"N.md": "new\n"})
		})
	}
}
