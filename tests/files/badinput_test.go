package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Names and texts that cannot be, through system calls. The document is untouched.
func TestBadNamesAndTexts(t *testing.T) {
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "folder/x.md": "x\n"}))
	long := strings.Repeat("n", 253) + ".md" // 256 bytes
	big := bytes.Repeat([]byte("sixteen bytes..\n"), 1<<20+1)
	tests := []struct {
		name string
		do   func() error
		want []error // any of these
	}{
		{"create with an over-long name", func() error { return harness.WriteAll(m.Path(long), []byte("x")) }, []error{unix.ENAMETOOLONG}},
		{"mkdir with an over-long name", func() error { return os.Mkdir(m.Path(long), 0o755) }, []error{unix.ENAMETOOLONG}},
		{"stat of an over-long name", func() error { _, err := os.Stat(m.Path(long)); return err }, []error{unix.ENAMETOOLONG, unix.ENOENT}},
		{"create with an invalid UTF-8 name", func() error { return harness.WriteAll(m.Path("bad\xff.md"), []byte("x")) }, []error{unix.EILSEQ, unix.EINVAL}},
		{"mkdir with an invalid UTF-8 name", func() error { return os.Mkdir(m.Path("bad\xff"), 0o755) }, []error{unix.EILSEQ, unix.EINVAL}},
		{"write of invalid UTF-8", func() error { return harness.WriteAll(m.Path("note.md"), []byte("bad \xff text\n")) }, []error{unix.EILSEQ}},
		{"rename of invalid UTF-8 over a note", func() error {
			if err := harness.WriteAll(m.Path("temp.tmp"), []byte("bad \xc3\x28 text\n")); err != nil {
				return err
			}
			return errors.Join(os.Rename(m.Path("temp.tmp"), m.Path("note.md")), os.Remove(m.Path("temp.tmp")))
		}, []error{unix.EILSEQ}},
		{"write of more than 16 MiB", func() error { return harness.WriteAll(m.Path("note.md"), big) }, []error{unix.EFBIG}},
		{"hard link", func() error { return os.Link(m.Path("note.md"), m.Path("link.md")) }, []error{unix.EPERM, unix.EOPNOTSUPP}},
		{"fifo", func() error { return unix.Mkfifo(m.Path("fifo"), 0o644) }, []error{unix.EPERM, unix.EOPNOTSUPP}},
		{"symbolic link as a note", func() error { return os.Symlink("note.md", m.Path("link.md")) }, []error{unix.EPERM, unix.EOPNOTSUPP}},
		{"note as a folder", func() error { return harness.WriteAll(m.Path("note.md/x.md"), nil) }, []error{unix.ENOTDIR}},
		{"folder as a note", func() error { return harness.WriteAll(m.Path("folder"), nil) }, []error{unix.EISDIR}},
		{"file in the root", func() error { return harness.WriteAll(filepath.Join(m.Dir, "loose.md"), []byte("x")) }, []error{unix.EPERM, unix.EACCES, unix.EROFS}},
		{"folder in the root", func() error { return os.Mkdir(filepath.Join(m.Dir, "Other"), 0o755) }, []error{unix.EPERM, unix.EACCES, unix.EROFS}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			harness.CheckErrno(t, tt.do(), tt.want...)
			harness.CheckText(t, "vault's note", harness.ReadFile(t, m.VaultPath("note.md")), harness.TideTable)
			harness.CheckText(t, "mount's note", harness.ReadFile(t, m.Path("note.md")), harness.TideTable)
			if got, want := harness.ListFiles(t, m.Vault), []string{"folder/", "folder/x.md", "note.md"}; !slices.Equal(got, want) {
				t.Errorf("vault holds %q, want %q", got, want)
			}
		})
	}
}

// The longest name there is works for a note: its temporary file in the vault
// has to fit as well.
func TestLongestName(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	name := strings.Repeat("é", 126) + ".md" // 255 bytes
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{name: harness.TideTable}))
	after := strings.Replace(harness.TideTable, "six", "seven", 1)
	if err := harness.WriteAll(m.Path(name), []byte(after)); err != nil {
		t.Fatal(err)
	}
	m.CheckSuggested(t, name, harness.TideTable, after)
}

// A file in the vault that is not valid UTF-8 is served byte for byte, read-only.
func TestInvalidUTF8InTheVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	const text = "caf\xe9 in Latin-1\n"
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"latin.md": text}))
	harness.CheckText(t, "note", harness.ReadFile(t, m.Path("latin.md")), text)
	harness.CheckErrno(t, harness.WriteAll(m.Path("latin.md"), []byte("good text\n")), unix.EROFS, unix.EACCES)
	harness.CheckText(t, "vault's note", harness.ReadFile(t, m.VaultPath("latin.md")), text)
}

// A vault that vanishes takes its Folder offline. Nothing counts as deleted,
// and when it is back, so is everything.
func TestVanishedVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "folder/b.md": "b\n"}))
	after := strings.Replace(harness.TideTable, "six", "seven", 1)
	harness.WriteFile(t, m.Path("note.md"), after)
	if err := os.Rename(m.Vault, m.Vault+".away"); err != nil {
		t.Fatal(err)
	}
	harness.CheckErrno(t, harness.WriteAll(m.Path("note.md"), []byte("lost?\n")), unix.EIO) // before the watcher has noticed, mostly
	if _, err := os.Stat(m.Vault); !os.IsNotExist(err) {
		t.Errorf("the vanished vault was made anew: %v", err)
	}
	waitForOffline(t, s)
	harness.CheckErrno(t, harness.WriteAll(m.Path("note.md"), []byte("lost?\n")), unix.EIO)
	harness.CheckErrno(t, harness.WriteAll(m.Path("new.md"), []byte("lost?\n")), unix.EIO)
	if err := os.Rename(m.Vault+".away", m.Vault); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(after, "quiet", "loud", 1)
	harness.Eventually(t, harness.StartTimeout, func() error { return harness.WriteAll(m.Path("note.md"), []byte(want)) })
	m.CheckSuggested(t, "note.md", harness.TideTable, want)
	harness.CheckText(t, "other note", harness.ReadFile(t, m.Path("folder/b.md")), "b\n")
}

// A vault whose files all vanish at once is not a person deleting each note.
func TestEmptiedVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "folder/b.md": "b\n"})
	m := s.Mount(t, vault)
	after := strings.Replace(harness.TideTable, "six", "seven", 1)
	harness.WriteFile(t, m.Path("note.md"), after)
	for _, name := range []string{"note.md", "folder"} {
		if err := os.Rename(filepath.Join(vault, name), s.Path(name+".away")); err != nil {
			t.Fatal(err)
		}
	}
	waitForOffline(t, s)
	for _, name := range []string{"note.md", "folder"} {
		if err := os.Rename(s.Path(name+".away"), filepath.Join(vault, name)); err != nil {
			t.Fatal(err)
		}
	}
	harness.Eventually(t, harness.StartTimeout, func() error {
		got, err := os.ReadFile(m.Path("note.md"))
		if err == nil && string(got) != after {
			err = fmt.Errorf("note is %q, want %q", got, after)
		}
		return err
	})
	m.CheckSuggested(t, "note.md", harness.TideTable, after)
}

func waitForOffline(t *testing.T, s *harness.Sandbox) {
	t.Helper()
	harness.Eventually(t, harness.StartTimeout, func() error {
		if out := s.Run(t, "status"); !strings.Contains(strings.ToLower(out.Stdout), "offline") {
			return fmt.Errorf("status does not say offline: %s%s", out.Stdout, out.Stderr)
		}
		return nil
	})
}

// With --structure deny what marks cannot carry is refused, and nothing changes.
func TestStructureDenied(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := map[string]string{"note.md": harness.TideTable, "folder/b.md": "b\n", "image.png": "\x89PNG"}
	m := s.Mount(t, s.Vault(t, "Vault", files), "--structure", "deny")
	before := harness.ListFiles(t, m.Vault)
	for name, do := range map[string]func() error{
		"rename a note":        func() error { return os.Rename(m.Path("note.md"), m.Path("other.md")) },
		"rename a folder":      func() error { return os.Rename(m.Path("folder"), m.Path("other")) },
		"write an attachment":  func() error { return harness.WriteAll(m.Path("image.png"), []byte("x")) },
		"remove an attachment": func() error { return os.Remove(m.Path("image.png")) },
		"remove notes":         func() error { return errors.Join(os.Remove(m.Path("note.md")), os.Remove(m.Path("folder/b.md"))) },
	} {
		t.Run(name, func(t *testing.T) {
			harness.CheckErrno(t, do(), unix.EPERM, unix.EROFS)
			if got := harness.ListFiles(t, m.Vault); !slices.Equal(got, before) {
				t.Errorf("the vault holds %q, want %q", got, before)
			}
			harness.Eventually(t, harness.StartTimeout, func() error { // the first note of several may be about to be written again
				if got, err := harness.WalkFiles(m.Path("")); err != nil || !slices.Equal(got, before) {
					return fmt.Errorf("the mount holds %q, want %q, %v", got, before, err)
				}
				return nil
			})
		})
	}
	if out := s.Run(t, "why", m.Path("note.md")); !strings.Contains(out.Stdout, "structure policy") {
		t.Errorf("why does not say that the note is back: %s%s", out.Stdout, out.Stderr)
	}
}

// Direct structure renames and deletes for real; deleted notes go to .trash.
func TestStructureDirect(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "gone.md": "gone\n", "folder/b.md": "b\n"}), "--structure", "direct")
	if err := os.Rename(m.Path("folder"), m.Path("moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(m.Path("note.md"), m.Path("moved/renamed.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.Path("gone.md")); err != nil {
		t.Fatal(err)
	}
	// An unlink may be the first half of a save, so it takes effect after a grace.
	want := []string{"moved/", "moved/b.md", "moved/renamed.md"}
	harness.Eventually(t, harness.StartTimeout, func() error {
		if got := harness.ListFiles(t, m.Vault); !slices.Equal(got, want) {
			return fmt.Errorf("vault holds %q, want %q", got, want)
		}
		return nil
	})
	if got := harness.ListFiles(t, m.Path("")); !slices.Equal(got, want) {
		t.Errorf("mount holds %q, want %q", got, want)
	}
	harness.CheckText(t, "trashed note", harness.ReadFile(t, m.VaultPath(".trash/gone.md")), "gone\n")
}

func TestReadOnlyMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), "--read-only")
	harness.CheckText(t, "note", harness.ReadFile(t, m.Path("note.md")), harness.TideTable)
	harness.CheckErrno(t, harness.WriteAll(m.Path("note.md"), []byte("x\n")), unix.EROFS)
	harness.CheckErrno(t, harness.WriteAll(m.Path("new.md"), []byte("x\n")), unix.EROFS)
	harness.CheckErrno(t, os.Remove(m.Path("note.md")), unix.EROFS)
}
