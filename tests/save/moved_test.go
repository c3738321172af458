package save

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// moveSavers read the note at a path, and return a function that saves it with another line.
var moveSavers = map[string]func(note string) (func() error, error){
	"handle, truncated": func(note string) (func() error, error) { return byHandle(note, os.O_RDWR|os.O_TRUNC) },
	"handle, in place":  func(note string) (func() error, error) { return byHandle(note, os.O_RDWR) },
	"handle, appended":  func(note string) (func() error, error) { return byHandle(note, os.O_RDWR|os.O_APPEND) },
	"path": func(note string) (func() error, error) {
		text, err := os.ReadFile(note)
		return func() error { return os.WriteFile(note, append(text, "added\n"...), 0o644) }, err
	},
	"rename": func(note string) (func() error, error) {
		text, err := os.ReadFile(note)
		temp := filepath.Join(filepath.Dir(note), ".note.md.swp")
		err = errors.Join(err, os.WriteFile(temp, append(text, "added\n"...), 0o644))
		return func() error { return os.Rename(temp, note) }, err
	},
}

func byHandle(note string, flags int) (save func() error, err error) {
	text, err := os.ReadFile(note)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(note, flags, 0)
	return func() error {
		if flags&os.O_APPEND != 0 {
			text = nil
		}
		_, err := f.Write(append(text, "added\n"...))
		return errors.Join(err, f.Close())
	}, err
}

// A user moves a note, or a folder around it, and relayfs has not followed yet. A save of the note by an agent reaches
// the note at its new path, and nothing comes to the old path.
func TestSaveWhileUserMoves(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\n"
	moves := map[string][2]string{"note": {"Sub/note.md", "Sub/moved.md"}, "folder": {"Sub", "Moved"}, "into another": {"Sub/note.md", "Other/note.md"}}
	for what, move := range moves {
		for how, prepare := range moveSavers {
			t.Run(what+", "+how, func(t *testing.T) {
				t.Parallel()
				s := harness.NewSandbox(t)
				m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Sub/note.md": text, "Other/keep.md": "keep\n"}), "--mode", "direct")
				save, err := prepare(m.Path("Sub/note.md"))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(m.VaultPath(move[0]), m.VaultPath(move[1])); err != nil {
					t.Fatal(err)
				}
				if err := save(); err != nil {
					t.Fatalf("save: %v", err)
				}
				at := move[1]
				if !strings.HasSuffix(at, ".md") {
					at += "/note.md"
				}
				harness.FileBecomes(t, m.VaultPath(at), text+"added\n")
				harness.FileBecomes(t, m.Path(at), text+"added\n")
				want := []string{"Other/keep.md", at}
				slices.Sort(want)
				for _, dir := range []string{m.Vault, m.Path("")} {
					harness.Eventually(t, harness.StartTimeout, func() error { // the kernel may still have the old name
						names, err := harness.WalkFiles(dir)
						names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".md") })
						if err == nil && !slices.Equal(names, want) {
							err = fmt.Errorf("%s has %q, want %q", dir, names, want)
						}
						if _, statErr := os.Stat(filepath.Join(dir, "Sub/note.md")); !errors.Is(statErr, os.ErrNotExist) {
							err = errors.Join(err, fmt.Errorf("the old path: %v", statErr))
						}
						return err
					})
				}
			})
		}
	}
}

// A user moves the folder in which an agent has created a note, and relayfs has not followed yet. The first save of the
// note reaches the folder at its new path.
func TestNewNoteWhileUserMovesItsFolder(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Sub/note.md": "one\n"}), "--mode", "direct")
	f, err := os.Create(m.Path("Sub/new.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(m.VaultPath("Sub"), m.VaultPath("Moved")); err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("new\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatalf("save: %v", err)
	}
	harness.FileBecomes(t, m.VaultPath("Moved/new.md"), "new\n")
	harness.FileBecomes(t, m.Path("Moved/new.md"), "new\n")
	if _, err := os.Stat(m.VaultPath("Sub")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old folder: %v", err)
	}
}
