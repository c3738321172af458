package save

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// claudeEdit makes the system calls that Claude Code's Edit makes: through a
// path-only handle of the folder it reads the note, writes a temporary file
// beside it, gives that the note's mode, syncs it and renames it over the note.
func claudeEdit(t *testing.T, dir, old, text string) {
	t.Helper()
	if err := claudeEditFile(dir, "note.md", old, text); err != nil {
		t.Fatal(err)
	}
}

func claudeEditFile(dir, name, old, text string) error {
	dirFD, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dirFD)
	target := fmt.Sprintf("/proc/self/fd/%d/%s", dirFD, name)
	temp := fmt.Sprintf("%s.tmp.%d.%012x", target, os.Getpid(), 0xc0ffee)

	f, err := os.OpenFile(target, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	content := make([]byte, info.Size())
	if _, err := f.ReadAt(content, 0); err != nil {
		return err
	}
	if !strings.Contains(string(content), old) {
		return fmt.Errorf("no %q in %s", old, name)
	}
	edited := strings.Replace(string(content), old, text, 1)
	if err := harness.WriteSynced(temp, edited, info.Mode()); err != nil {
		return err
	}
	if err := os.Rename(temp, target); err != nil {
		return err
	}
	after, err := os.Stat(target)
	if err == nil && after.Size() != int64(len(edited)) {
		err = fmt.Errorf("size after rename is %d, want %d", after.Size(), len(edited))
	}
	return err
}

// claudeEditInPlace is what Claude Code falls back to where it cannot rename:
// no truncation on open, the new bytes over the old ones, then the rest cut off.
func claudeEditInPlace(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(dir+"/note.md", os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, info.Size())
	if _, err := f.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(content), "mend the sail", "mend it", 1)
	_, err = f.WriteAt([]byte(edited), 0)
	if err := errors.Join(err, f.Truncate(int64(len(edited))), f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Claude Code stats a note after its own write and takes a later mtime for
// somebody else's change: mtime must stand still once the write is done.
func TestModTimeStandsAfterAWrite(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "other.md": harness.TideTable}))
	dir := m.Path("")
	claudeEdit(t, dir, "six", "seven")
	first, err := os.Stat(m.Path("note.md"))
	if err != nil {
		t.Fatal(err)
	}
	// By the time a later change of the vault is visible, the echo of the write
	// above has come back from the file system as well.
	harness.WriteFile(t, m.VaultPath("other.md"), "a person's text\n")
	harness.FileBecomes(t, m.Path("other.md"), "a person's text\n")
	second, err := os.Stat(m.Path("note.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !second.ModTime().Equal(first.ModTime()) {
		t.Errorf("mtime moved from %v to %v with no change of the content", first.ModTime(), second.ModTime())
	}
}
