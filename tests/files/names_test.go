package files

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// nameKind is one kind of thing that has a name. There is, beside it, one more of each
// kind, see nameFiles.
type nameKind struct {
	name string // of it
	like string // another one of its kind
	make func(name string) error
}

var nameKinds = map[string]nameKind{
	"note":         {name: "a.md", like: "b.md"},
	"empty note":   {name: "empty.md", like: "b.md"},
	"new note":     {name: "new.md", like: "b.md", make: func(name string) error { return os.WriteFile(name, []byte("new text\n"), 0o600) }},
	"attachment":   {name: "a.png", like: "b.png"},
	"scratch":      {name: "a.tmp", like: "b.tmp", make: func(name string) error { return os.WriteFile(name, []byte("scratch\n"), 0o600) }},
	"folder":       {name: "full", like: "full2"},
	"empty folder": {name: "hollow", like: "hollow2"},
	"new folder":   {name: "fresh", like: "hollow2", make: func(name string) error { return os.Mkdir(name, 0o700) }},
}

// nameFiles are what each case finds; a name that ends in a slash is a folder.
var nameFiles = map[string]string{
	"a.md": "# A\n\nThe text of a.\n", "b.md": "# B\n\nWhat b says.\n", "empty.md": "",
	"a.png": "\x89PNG a", "b.png": "\x89PNG b",
	"full/x.md": "# X\n", "full2/y.md": "# Y\n", "hollow/": "", "hollow2/": "",
}

func (k nameKind) isDir() bool { return !strings.Contains(k.name, ".") }

// free is a name of its kind that nothing has.
func (k nameKind) free() string { return "free" + filepath.Ext(k.name) }

// trace is what the calls of one case have returned, and the kernel's word for it.
type trace struct {
	dir   string
	lines []string
}

func (tr *trace) path(name string) string { return tr.dir + "/" + name } // not Join: it cleans

func (tr *trace) say(format string, args ...any) {
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
}

// call records a call's errno.
func (tr *trace) call(what string, err error) {
	var errno unix.Errno
	switch {
	case err == nil:
		tr.say("%s: ok", what)
	case errors.As(err, &errno):
		tr.say("%s: %s", what, unix.ErrnoName(errno))
	default:
		tr.say("%s: %v", what, err)
	}
}

func (tr *trace) unlink(name string) { tr.call("unlink "+short(name), unix.Unlink(tr.path(name))) }
func (tr *trace) rmdir(name string)  { tr.call("rmdir "+short(name), unix.Rmdir(tr.path(name))) }
func (tr *trace) mkdir(name string)  { tr.call("mkdir "+short(name), unix.Mkdir(tr.path(name), 0o700)) }
func (tr *trace) rename(from, to string) {
	tr.call("rename "+short(from)+" to "+short(to), unix.Rename(tr.path(from), tr.path(to)))
}

func short(name string) string {
	if len(name) > 40 {
		return fmt.Sprintf("%.8s... (%d bytes)", name, len(name))
	}
	return name
}

// stat is the status of a name.
func (tr *trace) stat(name string) (st unix.Stat_t) {
	err := unix.Lstat(tr.path(name), &st)
	if err != nil {
		tr.call("stat "+short(name), err)
		return st
	}
	tr.say("stat %s: %s", name, describeStat(&st))
	return st
}

func describeStat(st *unix.Stat_t) string {
	kind := fs.FileMode(0)
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		kind = fs.ModeDir
	}
	text := fmt.Sprintf("%v, %d:%d", kind|fs.FileMode(st.Mode&0o7777), st.Uid, st.Gid)
	if st.Ino == 0 {
		text += ", no inode number"
	}
	if kind == 0 { // how disks count the links and blocks of folders differs
		text += fmt.Sprintf(", %d bytes, %d links", st.Size, st.Nlink)
		if (st.Blocks > 0) != (st.Size > 0) {
			text += fmt.Sprintf(", %d blocks", st.Blocks)
		}
	}
	if age := time.Since(time.Unix(st.Mtim.Unix())); age < -time.Second {
		text += ", modified in the future"
	}
	return text
}

// same says what a status has in common with an earlier one.
func (tr *trace) same(what string, now, before unix.Stat_t) {
	tr.say("%s: same inode %v, same modification time %v", what, now.Ino == before.Ino, now.Mtim == before.Mtim)
}

// tree records all names and what is in the files.
func (tr *trace) tree() {
	err := filepath.WalkDir(tr.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == tr.dir {
			return err
		}
		rel, _ := filepath.Rel(tr.dir, name)
		if d.IsDir() {
			tr.say("  %s/", rel)
			return nil
		}
		data, err := os.ReadFile(name)
		tr.say("  %s %q", rel, data)
		return err
	})
	if err != nil {
		tr.call("walk", err)
	}
}

// nameOps are the calls that are tried on each kind.
var nameOps = []struct {
	name string
	do   func(tr *trace, k nameKind)
}{
	{"stat", func(tr *trace, k nameKind) {
		tr.stat(k.name)
		tr.stat(k.name + "/")
		tr.stat(k.name + "/below")
		tr.stat(k.name + "/..")
		tr.stat(strings.Repeat("n", 256))
		tr.stat(strings.Repeat("n/", 2048) + "n")
		tr.stat("")
	}},
	{"unlink", func(tr *trace, k nameKind) {
		tr.unlink(k.name)
		tr.stat(k.name)
		tr.unlink(k.name)
	}},
	{"unlink, odd names", func(tr *trace, k nameKind) {
		tr.unlink(k.name + "/")
		tr.unlink(k.name + "/below")
		tr.unlink(k.name + "/..")
		tr.unlink(strings.Repeat("n", 256))
		tr.unlink(strings.Repeat("n/", 2048) + "n")
		tr.unlink("missing/" + k.name)
	}},
	{"unlink, make anew", func(tr *trace, k nameKind) {
		tr.unlink(k.name)
		tr.call("create", os.WriteFile(tr.path(k.name), []byte("anew\n"), 0o600))
		tr.stat(k.name)
	}},
	{"unlink while it is open", func(tr *trace, k nameKind) {
		f, err := os.OpenFile(tr.path(k.name), os.O_RDWR, 0)
		if tr.call("open", err); err != nil {
			return
		}
		defer f.Close()
		tr.unlink(k.name)
		data := make([]byte, 5)
		n, _ := f.ReadAt(data, 0)
		tr.say("read: %q", data[:n])
		_, err = f.WriteAt([]byte("after"), 0)
		tr.call("write", err)
		n, _ = f.ReadAt(data, 0)
		tr.say("read: %q", data[:n])
		var st unix.Stat_t
		tr.call("fstat", unix.Fstat(int(f.Fd()), &st))
		tr.say("fstat: %s", describeStat(&st))
		tr.call("truncate", f.Truncate(2))
		tr.call("fsync", f.Sync())
		tr.stat(k.name)
	}},
	{"rmdir", func(tr *trace, k nameKind) {
		tr.rmdir(k.name)
		tr.stat(k.name)
		tr.rmdir(k.name)
	}},
	{"rmdir, odd names", func(tr *trace, k nameKind) {
		tr.rmdir(k.name + "/.")
		tr.rmdir(k.name + "/..")
		tr.rmdir(k.name + "/below")
		tr.rmdir(strings.Repeat("n", 256))
		tr.rmdir(strings.Repeat("n/", 2048) + "n")
		tr.rmdir("missing/" + k.name)
	}},
	{"mkdir", func(tr *trace, k nameKind) {
		tr.mkdir(k.name)
		tr.mkdir(k.name + "/below")
		tr.mkdir(strings.Repeat("n", 256))
		tr.mkdir("missing/below")
		tr.mkdir(k.name + "/..")
	}},
	{"create exclusively", func(tr *trace, k nameKind) {
		f, err := os.OpenFile(tr.path(k.name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		tr.call("open", err)
		f.Close()
		_, err = os.OpenFile(tr.path("missing/"+k.name), os.O_CREATE|os.O_WRONLY, 0o600)
		tr.call("open in a missing folder", err)
		if !k.isDir() {
			_, err = os.OpenFile(tr.path(k.name+"/below"), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
			tr.call("open below it", err)
		}
	}},
	{"rename to a free name", func(tr *trace, k nameKind) {
		before := tr.stat(k.name)
		tr.rename(k.name, k.free())
		tr.stat(k.name)
		tr.same("renamed", tr.stat(k.free()), before)
		tr.rename(k.name, k.free())
		tr.rename(k.free(), k.name)
		tr.same("back", tr.stat(k.name), before)
	}},
	{"rename onto itself", func(tr *trace, k nameKind) {
		before := tr.stat(k.name)
		tr.rename(k.name, k.name)
		tr.same("renamed", tr.stat(k.name), before)
	}},
	{"rename onto its kind", func(tr *trace, k nameKind) {
		before := tr.stat(k.name)
		tr.rename(k.name, k.like)
		tr.stat(k.name)
		tr.same("renamed", tr.stat(k.like), before)
	}},
	{"rename of its kind onto it", func(tr *trace, k nameKind) {
		tr.rename(k.like, k.name)
		tr.stat(k.name)
		tr.stat(k.like)
	}},
	{"rename onto it while it is open", func(tr *trace, k nameKind) {
		f, err := os.OpenFile(tr.path(k.name), os.O_RDWR, 0)
		if tr.call("open", err); err != nil {
			return
		}
		defer f.Close()
		tr.rename(k.like, k.name)
		_, err = f.WriteAt([]byte("after"), 0)
		tr.call("write", err)
		var st unix.Stat_t
		tr.call("fstat", unix.Fstat(int(f.Fd()), &st))
		tr.say("fstat: %s", describeStat(&st))
	}},
	{"rename while it is open", func(tr *trace, k nameKind) {
		f, err := os.OpenFile(tr.path(k.name), os.O_RDWR, 0)
		if tr.call("open", err); err != nil {
			return
		}
		tr.rename(k.name, k.free())
		_, err = f.WriteAt([]byte("after\n"), 0)
		tr.call("write", err)
		tr.call("close", f.Close())
		tr.stat(k.free())
	}},
	{"rename onto a folder", func(tr *trace, k nameKind) {
		tr.rename(k.name, "full2")
		tr.rename(k.name, "hollow2")
		tr.rename(k.name, "full2/y.md/..")
	}},
	{"rename of a folder onto it", func(tr *trace, k nameKind) {
		tr.rename("full2", k.name)
	}},
	{"rename of a file onto it", func(tr *trace, k nameKind) {
		if k.isDir() {
			tr.rename("b.md", k.name)
			tr.rename("b.png", k.name)
			tr.rename("b.tmp", k.name)
		}
	}},
	{"rename into a folder", func(tr *trace, k nameKind) {
		before := tr.stat(k.name)
		tr.rename(k.name, "full2/"+k.name)
		tr.same("renamed", tr.stat("full2/"+k.name), before)
	}},
	{"rename, odd names", func(tr *trace, k nameKind) {
		tr.rename(k.name, "missing/"+k.name)
		tr.rename(k.name, k.like+"/below/"+k.name)
		tr.rename(k.name, k.name+"/below")
		tr.rename(k.name, strings.Repeat("n", 256))
		tr.rename(k.name, strings.Repeat("n/", 2048)+"n")
		tr.rename(strings.Repeat("n", 256), k.name)
		tr.rename(k.name, ".")
		tr.rename(k.name, "..")
		tr.rename(".", k.name)
		tr.rename("missing", k.name)
		tr.rename(k.name+"/..", "free")
		if !k.isDir() {
			tr.rename(k.name, k.free()+"/")
			tr.rename(k.name+"/", k.free())
		}
	}},
	{"rename below itself", func(tr *trace, k nameKind) {
		if k.isDir() {
			tr.mkdir(k.name + "/sub")
			tr.rename(k.name, k.name+"/sub/"+k.name)
			tr.rename(k.name+"/sub", k.name)
		}
	}},
	{"the longest name", func(tr *trace, k nameKind) {
		long := strings.Repeat("n", 255-len(filepath.Ext(k.name))) + filepath.Ext(k.name)
		tr.rename(k.name, long)
		tr.rename(long, k.name)
	}},
}

// Every call on every kind of name returns what it returns on a plain folder, and
// leaves what it leaves there.
func TestNames(t *testing.T) {
	for mode, flags := range harness.FileModes {
		t.Run(mode, func(t *testing.T) {
			files := make(map[string]string)
			for i := range nameOps {
				for kind := range nameKinds {
					for name, text := range nameFiles {
						files[fmt.Sprintf("%d/%s/%s", i, kind, name)] = text
					}
				}
			}
			s := harness.NewSandbox(t)
			vault, plain := s.Vault(t, "Vault", nil), s.Mkdir(t, "plain")
			for name, text := range files {
				for _, dir := range []string{vault, plain} {
					if strings.HasSuffix(name, "/") {
						mkdirAll(t, s, filepath.Join(dir, name))
						continue
					}
					harness.WriteFile(t, filepath.Join(dir, name), text)
				}
			}
			m := s.Mount(t, vault, flags...)
			for i, op := range nameOps {
				for _, kind := range slices.Sorted(maps.Keys(nameKinds)) {
					t.Run(op.name+", "+kind, func(t *testing.T) {
						folder := fmt.Sprintf("%d/%s", i, kind)
						want := runNameCase(t, filepath.Join(plain, folder), nameKinds[kind], op.do)
						got := runNameCase(t, m.Path(folder), nameKinds[kind], op.do)
						compareNameCase(t, op.name, got, want)
					})
				}
			}
		})
	}
}

func mkdirAll(t *testing.T, s *harness.Sandbox, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func runNameCase(t *testing.T, dir string, k nameKind, do func(*trace, nameKind)) []string {
	t.Helper()
	for _, name := range []string{k.name, k.like, "b.tmp"} {
		for _, maker := range nameKinds {
			if maker.make == nil || filepath.Ext(maker.name) != filepath.Ext(name) {
				continue
			}
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				continue
			}
			if err := maker.make(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tr := &trace{dir: dir}
	do(tr, k)
	tr.tree()
	return tr.lines
}

func compareNameCase(t *testing.T, op string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if g, w := harness.LineAt(got, i), harness.LineAt(want, i); g != w {
			t.Errorf("%s:\n mount: %s\n plain: %s\nmount:\n%s\nplain:\n%s", op, g, w, strings.Join(got, "\n"), strings.Join(want, "\n"))
			return
		}
	}
}

// A rename over a file that is not a note leaves the old file to whoever has that open,
// with what is written to it from then on.
func TestReplacedFileStaysWithWhoHasItOpen(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"x.bin": "old\n"}), harness.FileModes["direct"]...)
	f, err := os.OpenFile(m.Path("x.bin"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, m.Path("t.tmp"), "new\n")
	if err := os.Rename(m.Path("t.tmp"), m.Path("x.bin")); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 16)
	n, _ := f.ReadAt(data, 0)
	harness.CheckText(t, "what was open", string(data[:n]), "old\n")
	if _, err := f.WriteAt([]byte("written to the old file\n"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	harness.CheckText(t, "the name on the mount", harness.ReadFile(t, m.Path("x.bin")), "new\n")
	harness.CheckText(t, "the vault's file", harness.ReadFile(t, m.VaultPath("x.bin")), "new\n")
	harness.WriteFile(t, m.Path("x.bin"), "newer\n")
	harness.CheckText(t, "the vault's file", harness.ReadFile(t, m.VaultPath("x.bin")), "newer\n")
	if got := harness.ListFiles(t, m.Vault); !slices.Equal(got, []string{"x.bin"}) {
		t.Errorf("the vault holds %q, want %q", got, []string{"x.bin"})
	}
	m.Stop(t)
}
