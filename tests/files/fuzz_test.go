package files

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// fuzzNames are what the random calls are about: notes, other files, scratch files and
// folders, also in folders.
var fuzzNames = []string{
	"a.md", "b.md", "c.md", "x.bin", "y.bin", "s.tmp", "t.tmp", "d", "e",
	"d/a.md", "d/b.md", "d/x.bin", "d/s.tmp", "e/a.md", "d/f", "d/f/a.md", "e/f",
}

// fuzzKind is the kind that a name would be of.
func fuzzKind(name string) string { return filepath.Ext(name) }

// fuzzCall is one call, which is made on the mount and on a plain folder.
type fuzzCall struct {
	op, name, to string
	text         string
}

func (c fuzzCall) String() string {

	switch c.op {
	case "rename", "noreplace":
		return c.op + " " + c.name + " " + c.to
	case "close", "write open", "stat open":
		return c.op
	}
	return c.op + " " + c.name

}

func randomCall(rng *rand.Rand, i int) fuzzCall {
	ops := []string{
		"create", "create", "create", "write", "write", "append", "truncate", "unlink", "unlink", "rename", "rename", "rename",
		"mkdir", "mkdir", "rmdir", "open", "write open", "close", "noreplace", "stat open",
	}
	name := func() string { return fuzzNames[rng.IntN(len(fuzzNames))] }
	return fuzzCall{op: ops[rng.IntN(len(ops))], name: name(), to: name(), text: fmt.Sprintf("text %d\n", i)}
}

// differs says that the mount answers otherwise by design.
func (c fuzzCall) differs() bool {
	switch c.op {
	case "rename", "noreplace":
		from, to := fuzzKind(c.name), fuzzKind(c.to)
		// A note stays a note, and another file never becomes one. A note at a scratch
		// name is a copy for a moment.
		return from != to && (from == ".md" || to == ".md" && from != ".tmp" || from == ".bin" || to == "")
	case "create", "write":
		return fuzzKind(c.name) == "" // a file without an extension is a file, but what it is compared with is a folder
	}
	return false
}

// fuzzSide is one of the two trees.
type fuzzSide struct {
	dir  string
	open *os.File
}

func (s *fuzzSide) do(c fuzzCall) string {
	name, to := filepath.Join(s.dir, c.name), filepath.Join(s.dir, c.to)
	write := func(flags int) error {
		f, err := os.OpenFile(name, flags|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		if _, err = f.WriteString(c.text); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	}
	var err error
	switch c.op {
	case "create":
		err = write(os.O_CREATE | os.O_EXCL)
	case "write":
		err = write(os.O_CREATE | os.O_TRUNC)
	case "append":
		err = write(os.O_APPEND)
	case "truncate":
		err = unix.Truncate(name, 3)
	case "unlink":
		err = unix.Unlink(name)
	case "rename":
		err = unix.Rename(name, to)
	case "noreplace":
		err = unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	case "mkdir":
		err = unix.Mkdir(name, 0o755)
	case "rmdir":
		err = unix.Rmdir(name)
	case "open":
		s.close()
		s.open, err = os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			s.open = nil
		}
	case "close":
		err = s.close()
	case "write open":
		if s.open != nil {
			_, err = s.open.WriteAt([]byte(c.text), 0)
		}
	case "stat open":
		return s.statOpen()
	}
	if err == nil {
		return "ok"
	}
	tr := &trace{}
	tr.call("", err)
	return tr.lines[0]
}

func (s *fuzzSide) close() (err error) {
	if s.open != nil {
		err = s.open.Close()
	}
	s.open = nil
	return err
}

// holds says whether the open file is the one at name.
func (s *fuzzSide) holds(name string) bool {
	if s.open == nil {
		return false
	}
	there, err := os.Stat(filepath.Join(s.dir, name))
	if err != nil {
		return false
	}
	open, err := s.open.Stat()
	return err == nil && os.SameFile(there, open)
}

func (s *fuzzSide) statOpen() string {
	if s.open == nil {
		return "nothing is open"
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(s.open.Fd()), &st); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d bytes, %d links", st.Size, st.Nlink)
}

// state lists all names and contents.
func (s *fuzzSide) state() string {
	var list []string
	err := filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == s.dir {
			return err
		}
		rel, _ := filepath.Rel(s.dir, name)
		if d.IsDir() {
			list = append(list, rel+"/")
			return nil
		}
		data, err := os.ReadFile(name)
		info, statErr := d.Info()
		if err == nil && statErr == nil && info.Size() != int64(len(data)) {
			rel += fmt.Sprintf(" (stat says %d bytes)", info.Size())
		}
		list = append(list, fmt.Sprintf("%s %q", rel, data))
		return err
	})
	if err != nil {
		list = append(list, err.Error())
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// fuzzFolders is how many sequences one mount has folders for.
const fuzzFolders = 100

// fuzzTrees are a mount and a plain folder that hold the same.
type fuzzTrees struct {
	m     *harness.Mount
	plain string
	used  int
}

func newFuzzTrees(t *testing.T) *fuzzTrees {
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for i := range fuzzFolders {
		for _, name := range []string{"a.md", "x.bin", "d/a.md"} {
			files[fmt.Sprintf("%d/%s", i, name)] = "from before\n"
		}
	}
	return &fuzzTrees{m: s.Mount(t, s.Vault(t, "Vault", files), harness.FileModes["direct"]...), plain: s.Vault(t, "plain", files)}
}

// Random calls return on the mount what they return on a plain folder, and leave what
// they leave there.
func TestRandomCallsOnNames(t *testing.T) {
	trees := newFuzzTrees(t)
	randomtest.Check(t, 50, func(rt testing.TB, rng *rand.Rand) {
		if trees.used == fuzzFolders {
			trees = newFuzzTrees(t)
		}
		n := fmt.Sprint(trees.used)
		trees.used++
		randomSequence(rt, rng, trees.m.Path(n), filepath.Join(trees.plain, n))
	})
}

func randomSequence(t testing.TB, rng *rand.Rand, mounted, plain string) {
	const calls = 60
	a, b := &fuzzSide{dir: mounted}, &fuzzSide{dir: plain}
	defer a.close()
	defer b.close()
	var done []string
	start := time.Now()
	for i := range calls {
		c := randomCall(rng, i)
		if c.differs() {
			continue
		}
		if c.op == "rename" && fuzzKind(c.to) == ".md" && b.holds(c.to) {
			continue // what is then written to the open note is merged into the note
		}
		before := b.state()
		got, want := a.do(c), b.do(c)
		if want != "ok" && got == want {
			done = append(done, "# "+c.String())
		} else {
			done = append(done, c.String())
		}
		have, should := a.state(), b.state()
		if got == want && have == should {
			continue
		}
		if time.Since(start) > 2*time.Second {
			return // a name was missing for longer than a save takes
		}
		t.Fatalf("call %d, %s: %s, on a plain folder %s\nbefore:\n%s\nafter:\n%s\non a plain folder:\n%s\ncalls:\n%s",
			i, c, got, want, before, have, should, strings.Join(done, "\n"))
	}
}
