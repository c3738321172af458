package tests

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
)

// Names and texts that cannot be, through system calls. The document is untouched.
func TestBadNamesAndTexts(t *testing.T) {
	var m *mount                             // of the running test
	long := strings.Repeat("n", 253) + ".md" // 256 bytes
	big := bytes.Repeat([]byte("sixteen bytes..\n"), 1<<20+1)
	tests := []struct {
		name string
		do   func() error
		want []error // any of these
	}{
		{"create with an over-long name", func() error { return writeAll(m.path(long), []byte("x")) }, []error{unix.ENAMETOOLONG}},
		{"mkdir with an over-long name", func() error { return os.Mkdir(m.path(long), 0o755) }, []error{unix.ENAMETOOLONG}},
		{"stat of an over-long name", func() error { _, err := os.Stat(m.path(long)); return err }, []error{unix.ENAMETOOLONG, unix.ENOENT}},
		{"create with an invalid UTF-8 name", func() error { return writeAll(m.path("bad\xff.md"), []byte("x")) }, []error{unix.EILSEQ, unix.EINVAL}},
		{"mkdir with an invalid UTF-8 name", func() error { return os.Mkdir(m.path("bad\xff"), 0o755) }, []error{unix.EILSEQ, unix.EINVAL}},
		{"write of invalid UTF-8", func() error { return writeAll(m.path("note.md"), []byte("bad \xff text\n")) }, []error{unix.EILSEQ}},
		{"rename of invalid UTF-8 over a note", func() error {
			if err := writeAll(m.path("temp.tmp"), []byte("bad \xc3\x28 text\n")); err != nil {
				return err
			}
			return errors.Join(os.Rename(m.path("temp.tmp"), m.path("note.md")), os.Remove(m.path("temp.tmp")))
		}, []error{unix.EILSEQ}},
		{"write of more than 16 MiB", func() error { return writeAll(m.path("note.md"), big) }, []error{unix.EFBIG}},
		{"hard link", func() error { return os.Link(m.path("note.md"), m.path("link.md")) }, []error{unix.EPERM, unix.EOPNOTSUPP}},
		{"fifo", func() error { return unix.Mkfifo(m.path("fifo"), 0o644) }, []error{unix.EPERM, unix.EOPNOTSUPP}},
		{"symbolic link as a note", func() error { return os.Symlink("note.md", m.path("link.md")) }, []error{unix.EPERM, unix.EOPNOTSUPP}},
		{"note as a folder", func() error { return writeAll(m.path("note.md/x.md"), nil) }, []error{unix.ENOTDIR}},
		{"folder as a note", func() error { return writeAll(m.path("folder"), nil) }, []error{unix.EISDIR}},
		{"file in the root", func() error { return writeAll(filepath.Join(m.dir, "loose.md"), []byte("x")) }, []error{unix.EPERM, unix.EACCES, unix.EROFS}},
		{"folder in the root", func() error { return os.Mkdir(filepath.Join(m.dir, "Other"), 0o755) }, []error{unix.EPERM, unix.EACCES, unix.EROFS}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSandbox(t)
			m = s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore, "folder/x.md": "x\n"}))
			checkErrno(t, tt.do(), tt.want...)
			checkText(t, "vault's note", readFile(t, m.vaultPath("note.md")), saveBefore)
			checkText(t, "mount's note", readFile(t, m.path("note.md")), saveBefore)
			if got, want := listFiles(t, m.vault), []string{"folder/", "folder/x.md", "note.md"}; !slices.Equal(got, want) {
				t.Errorf("vault holds %q, want %q", got, want)
			}
		})
	}
}

// The longest name there is works for a note: its temporary file in the vault
// has to fit as well.
func TestLongestName(t *testing.T) {
	s := newSandbox(t)
	name := strings.Repeat("é", 126) + ".md" // 255 bytes
	m := s.mount(t, s.vault(t, "Vault", map[string]string{name: saveBefore}))
	after := strings.Replace(saveBefore, "six", "seven", 1)
	if err := writeAll(m.path(name), []byte(after)); err != nil {
		t.Fatal(err)
	}
	m.checkSuggested(t, name, saveBefore, after)
}

// A file in the vault that is not valid UTF-8 is served byte for byte, read-only.
func TestInvalidUTF8InTheVault(t *testing.T) {
	s := newSandbox(t)
	const text = "caf\xe9 in Latin-1\n"
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"latin.md": text}))
	checkText(t, "note", readFile(t, m.path("latin.md")), text)
	checkErrno(t, writeAll(m.path("latin.md"), []byte("good text\n")), unix.EROFS, unix.EACCES)
	checkText(t, "vault's note", readFile(t, m.vaultPath("latin.md")), text)
}

// A vault that vanishes takes its Folder offline. Nothing counts as deleted,
// and when it is back, so is everything.
func TestVanishedVault(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore, "folder/b.md": "b\n"}))
	after := strings.Replace(saveBefore, "six", "seven", 1)
	writeFile(t, m.path("note.md"), after)
	if err := os.Rename(m.vault, m.vault+".away"); err != nil {
		t.Fatal(err)
	}
	checkErrno(t, writeAll(m.path("note.md"), []byte("lost?\n")), unix.EIO) // before the watcher has noticed, mostly
	if _, err := os.Stat(m.vault); !os.IsNotExist(err) {
		t.Errorf("the vanished vault was made anew: %v", err)
	}
	waitForOffline(t, s)
	checkErrno(t, writeAll(m.path("note.md"), []byte("lost?\n")), unix.EIO)
	checkErrno(t, writeAll(m.path("new.md"), []byte("lost?\n")), unix.EIO)
	if err := os.Rename(m.vault+".away", m.vault); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(after, "quiet", "loud", 1)
	eventually(t, startTimeout, func() error { return writeAll(m.path("note.md"), []byte(want)) })
	m.checkSuggested(t, "note.md", saveBefore, want)
	checkText(t, "other note", readFile(t, m.path("folder/b.md")), "b\n")
}

// A vault whose files all vanish at once is not a person deleting each note.
func TestEmptiedVault(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"note.md": saveBefore, "folder/b.md": "b\n"})
	m := s.mount(t, vault)
	after := strings.Replace(saveBefore, "six", "seven", 1)
	writeFile(t, m.path("note.md"), after)
	for _, name := range []string{"note.md", "folder"} {
		if err := os.Rename(filepath.Join(vault, name), s.path(name+".away")); err != nil {
			t.Fatal(err)
		}
	}
	waitForOffline(t, s)
	for _, name := range []string{"note.md", "folder"} {
		if err := os.Rename(s.path(name+".away"), filepath.Join(vault, name)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, startTimeout, func() error {
		got, err := os.ReadFile(m.path("note.md"))
		if err == nil && string(got) != after {
			err = fmt.Errorf("note is %q", got)
		}
		return err
	})
	m.checkSuggested(t, "note.md", saveBefore, after)
}

func waitForOffline(t *testing.T, s *sandbox) {
	t.Helper()
	eventually(t, startTimeout, func() error {
		if out := s.run(t, "status"); !strings.Contains(strings.ToLower(out.stdout), "offline") {
			return fmt.Errorf("status does not say offline: %s%s", out.stdout, out.stderr)
		}
		return nil
	})
}

// With --structure deny what marks cannot carry is refused, and nothing changes.
func TestStructureDenied(t *testing.T) {
	s := newSandbox(t)
	files := map[string]string{"note.md": saveBefore, "folder/b.md": "b\n", "image.png": "\x89PNG"}
	m := s.mount(t, s.vault(t, "Vault", files), "--structure", "deny")
	before := listFiles(t, m.vault)
	for name, do := range map[string]func() error{
		"rename a note":        func() error { return os.Rename(m.path("note.md"), m.path("other.md")) },
		"rename a folder":      func() error { return os.Rename(m.path("folder"), m.path("other")) },
		"write an attachment":  func() error { return writeAll(m.path("image.png"), []byte("x")) },
		"remove an attachment": func() error { return os.Remove(m.path("image.png")) },
		"remove a note":        func() error { return os.Remove(m.path("note.md")) },
	} {
		t.Run(name, func(t *testing.T) {
			checkErrno(t, do(), unix.EPERM, unix.EROFS)
			for _, root := range []string{m.vault, m.path("")} {
				if got := listFiles(t, root); !slices.Equal(got, before) {
					t.Errorf("%s holds %q, want %q", root, got, before)
				}
			}
		})
	}
}

// Direct structure renames and deletes for real; deleted notes go to .trash.
func TestStructureDirect(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore, "gone.md": "gone\n", "folder/b.md": "b\n"}), "--structure", "direct")
	if err := os.Rename(m.path("folder"), m.path("moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(m.path("note.md"), m.path("moved/renamed.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.path("gone.md")); err != nil {
		t.Fatal(err)
	}
	// An unlink may be the first half of a save, so it takes effect after a grace.
	want := []string{"moved/", "moved/b.md", "moved/renamed.md"}
	eventually(t, startTimeout, func() error {
		if got := listFiles(t, m.vault); !slices.Equal(got, want) {
			return fmt.Errorf("vault holds %q, want %q", got, want)
		}
		return nil
	})
	if got := listFiles(t, m.path("")); !slices.Equal(got, want) {
		t.Errorf("mount holds %q, want %q", got, want)
	}
	checkText(t, "trashed note", readFile(t, m.vaultPath(".trash/gone.md")), "gone\n")
}

func TestReadOnlyMount(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), "--read-only")
	checkText(t, "note", readFile(t, m.path("note.md")), saveBefore)
	checkErrno(t, writeAll(m.path("note.md"), []byte("x\n")), unix.EROFS)
	checkErrno(t, writeAll(m.path("new.md"), []byte("x\n")), unix.EROFS)
	checkErrno(t, os.Remove(m.path("note.md")), unix.EROFS)
}
