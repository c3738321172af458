package save

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// What an operation has made is there when it returns: for every operation that
// comes next, and in the listing.
func TestNewFileIsThereAtOnce(t *testing.T) {
	t.Parallel()
	create := func(name string) error { return os.WriteFile(name, []byte("data"), 0o600) }
	steps := []struct {
		name string
		do   func(name string) error
	}{
		{"create, unlink", func(name string) error {
			return errors.Join(create(name), os.Remove(name))
		}},
		{"create, stay open, unlink", func(name string) error {
			f, err := os.Create(name)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("data")
			return errors.Join(err, os.Remove(name))
		}},
		{"create, list", func(name string) error {
			return errors.Join(create(name), listed(name, true))
		}},
		{"create, unlink, list", func(name string) error {
			return errors.Join(create(name), os.Remove(name), listed(name, false))
		}},
		{"create, rename", func(name string) error {
			to := filepath.Join(filepath.Dir(name), "moved-"+filepath.Base(name))
			return errors.Join(create(name), os.Rename(name, to), listed(name, false), listed(to, true))
		}},
		{"create, rename over", func(name string) error {
			to := filepath.Join(filepath.Dir(name), "moved-"+filepath.Base(name))
			return errors.Join(create(name), create(to), os.Rename(name, to), listed(to, true), os.Remove(to))
		}},
		{"create, rename, unlink", func(name string) error {
			return errors.Join(create(name), os.Rename(name, name+"2"), os.Remove(name+"2"))
		}},
		{"create, unlink, create", func(name string) error {
			return errors.Join(create(name), os.Remove(name), create(name), os.Remove(name))
		}},
		{"create, mkdir there", func(name string) error {
			if err := errors.Join(create(name), os.Remove(name), os.Mkdir(name, 0o755)); err != nil {
				return err
			}
			return os.Remove(name)
		}},
		{"create, truncate, stat", func(name string) error {
			if err := errors.Join(create(name), os.Truncate(name, 1)); err != nil {
				return err
			}
			info, err := os.Stat(name)
			if err == nil && info.Size() != 1 {
				err = fmt.Errorf("%d bytes, want %d", info.Size(), 1)
			}
			return errors.Join(err, os.Remove(name))
		}},
		{"mknod, unlink", func(name string) error {
			return errors.Join(syscall.Mknod(name, syscall.S_IFREG|0o644, 0), os.Remove(name))
		}},
		{"mkdir, rename, rmdir", func(name string) error {
			return errors.Join(os.Mkdir(name, 0o755), os.Rename(name, name+"2"), os.Remove(name+"2"))
		}},
		{"mkdir, fill, remove all", func(name string) error {
			return errors.Join(os.MkdirAll(filepath.Join(name, "sub"), 0o755), create(filepath.Join(name, "sub/a.bin")),
				create(filepath.Join(name, "b.bin")), os.RemoveAll(name), listed(name, false))
		}},
		{"mkdir, fill, rename, remove all", func(name string) error {
			return errors.Join(os.Mkdir(name, 0o755), create(filepath.Join(name, "a.bin")), os.Rename(name, name+"2"),
				create(filepath.Join(name+"2", "b.bin")), os.RemoveAll(name+"2"))
		}},
		{"download, rename, unlink", func(name string) error {
			return errors.Join(create(name+".part"), os.Rename(name+".part", name), listed(name, true), os.Remove(name))
		}},
		{"link and symlink are refused, create", func(name string) error {
			if err := os.Link(filepath.Join(filepath.Dir(name), "note.md"), name); !errors.Is(err, syscall.EPERM) {
				return fmt.Errorf("link: %w", errOr(err, "it works"))
			}
			if err := os.Symlink("note.md", name); !errors.Is(err, syscall.EPERM) {
				return fmt.Errorf("symlink: %w", errOr(err, "it works"))
			}
			return errors.Join(listed(name, false), create(name), os.Remove(name))
		}},
	}
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), harness.FileModes["direct"]...)
	for i, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			for n := range 10 {
				if err := step.do(m.Path(fmt.Sprintf("%d-%d.bin", i, n))); err != nil {
					t.Fatalf("round %d: %v", n, err)
				}
			}
		})
	}
}

// listed says whether a name is in its folder's listing, as it is to be, and whether
// stat agrees.
func listed(name string, want bool) error {
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return err
	}
	got := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == filepath.Base(name) })
	if got != want {
		err = fmt.Errorf("%s is in the listing: %v, want %v", filepath.Base(name), got, want)
	}
	if _, statErr := os.Lstat(name); (statErr == nil) != want {
		err = errors.Join(err, fmt.Errorf("stat %s: %w", filepath.Base(name), errOr(statErr, "it is there")))
	}
	return err
}

// Programs that make and remove files beside their own work as on a plain folder.
func TestProgramsWithFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	programs := []saver{
		{"sqlite3", []string{"sqlite3"}, harness.Shell(`
for i in 1 2 3 4 5; do
	sqlite3 data.db 'create table if not exists t(a); insert into t values(1);' || exit 1
done
sqlite3 data.db 'select count(*) from t' > out.txt`)},
		{"sqlite3, write-ahead log", []string{"sqlite3"}, harness.Shell(`
sqlite3 data.db 'pragma journal_mode=wal; create table t(a); insert into t values(1); insert into t values(2);' > out.txt`)},
		{"gzip", []string{"gzip"}, harness.Shell(`seq 1000 > list.txt && gzip list.txt && gunzip list.txt.gz`)},
		{"tar and rm", []string{"tar"}, harness.Shell(`
mkdir d && seq 100 > d/a.txt && seq 10 > d/b.txt && tar cf d.tar d && rm -rf d && tar xf d.tar && rm d.tar && mv d e`)},
		{"rsync", []string{"rsync"}, harness.Shell(`
mkdir from && seq 100 > from/a.txt && seq 10 > from/b.csv && rsync -a from/ to/ && rm from/a.txt && rsync -a --delete from/ to/`)},
		{"mktemp", nil, harness.Shell(`for i in 1 2 3 4 5 6; do f=$(mktemp out.XXXX) && echo $i > $f && mv $f final.txt || exit 1; done`)},
	}
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), harness.FileModes["direct"]...)
	for i, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			need.Programs(t, p.tools...)
			plain, dir := t.TempDir(), m.Path(fmt.Sprint(i))
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			p.save(t, plain)
			p.save(t, dir)
			want := harness.ListFiles(t, plain)
			for where, dir := range map[string]string{"mount": dir, "vault": m.VaultPath(fmt.Sprint(i))} {
				if got := harness.ListFiles(t, dir); !slices.Equal(got, want) {
					t.Errorf("%s holds %q, a plain folder %q", where, got, want)
					continue
				}
				for _, name := range want {
					if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".csv") {
						harness.CheckText(t, where+": "+name, harness.ReadFile(t, filepath.Join(dir, name)), harness.ReadFile(t, filepath.Join(plain, name)))
					}
				}
			}
		})
	}
}

// A file that is removed at the moment at which the vault's watcher tells of it stays
// removed.
func TestRemovedWhileItIsNoticed(t *testing.T) {
	t.Parallel()
	const lanes, rounds = 32, 10
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), harness.FileModes["direct"]...)
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			for i := range rounds {
				name := m.Path(fmt.Sprintf("%d-%d.bin", lane, i))
				if err := os.WriteFile(name, []byte("data"), 0o600); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(50*time.Millisecond + time.Duration(rand.Int64N(int64(80*time.Millisecond))))
				if err := os.Remove(name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	time.Sleep(500 * time.Millisecond) // longer than the watcher takes
	for where, dir := range map[string]string{"mount": m.Path(""), "vault": m.Vault} {
		if got := harness.ListFiles(t, dir); !slices.Equal(got, []string{"note.md"}) {
			t.Errorf("%s holds %q, want %q", where, got, []string{"note.md"})
		}
	}
	if out := s.Run(t, "ls", m.Vault); strings.Contains(out.Stdout, ".bin") {
		t.Errorf("agents are shown what is gone: %s", out.Stdout)
	}
}

// What a program has made on the mount is there at once for agents that use tools.
func TestNewFileIsThereForTools(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), harness.FileModes["direct"]...)
	client := s.MCP(t, m.Vault)
	for i := range 20 {
		name := fmt.Sprintf("new %d.canvas", i)
		if err := os.WriteFile(m.Path(name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := client.MustCall(t, "glob", "pattern", "**/*.canvas"); !strings.Contains(got, name) {
			t.Fatalf("glob does not find %s: %s", name, got)
		}
		if err := os.Remove(m.Path(name)); err != nil {
			t.Fatal(err)
		}
		if got := client.MustCall(t, "glob", "pattern", "**/*.canvas"); strings.Contains(got, name) {
			t.Fatalf("glob finds %s, which is gone: %s", name, got)
		}
	}
}
