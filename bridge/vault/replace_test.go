package vault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
)

// leftovers lists this package's temp files anywhere in dir.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), ".relayfs-") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestReplaceKeepsModeAndOwner(t *testing.T) {
	v, p := open(t, vault.Options{})
	p.Save("N.md", "one")
	p.check(os.Chmod(p.path("N.md"), 0o604))
	wantUID := os.Getuid()
	if wantUID == 0 {
		wantUID = 4321
		p.check(os.Chown(p.path("N.md"), wantUID, 4321))
	}
	_, stamp, err := v.Read(t.Context(), "N.md")
	p.check(err)
	_, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("two"), ModTime: time.Now()})
	p.check(err)
	p.check(v.Close()) // the displaced file is removed
	var st unix.Stat_t
	p.check(unix.Stat(p.path("N.md"), &st))
	if st.Mode&0o7777 != 0o604 || int(st.Uid) != wantUID {
		t.Errorf("mode %o, owner %d, want 604, %d", st.Mode&0o7777, st.Uid, wantUID)
	}
	if left := leftovers(t, p.dir); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestReplaceErrorsLeaveTheFile(t *testing.T) {
	t.Run("read-only vault", func(t *testing.T) {
		v, p := open(t, vault.Options{ReadOnly: true})
		p.Save("N.md", "one")
		_, stamp, err := v.Read(t.Context(), "N.md")
		p.check(err)
		_, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("two"), ModTime: time.Now()})
		checkFailed(t, p, err, model.ErrReadOnly)
		_, err = v.OpenFile("N.md", os.O_RDWR, 0)
		checkFailed(t, p, err, model.ErrReadOnly)
		wantError(t, "rename", v.Rename(t.Context(), "N.md", "M.md", false), model.ErrReadOnly)
	})
	t.Run("no permission", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may write anywhere")
		}
		v, p := open(t, vault.Options{})
		p.Save("N.md", "one")
		_, stamp, err := v.Read(t.Context(), "N.md")
		p.check(err)
		p.check(os.Chmod(p.dir, 0o555))
		defer os.Chmod(p.dir, 0o755)
		_, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("two"), ModTime: time.Now()})
		checkFailed(t, p, err, fs.ErrPermission)
	})
}

func checkFailed(t *testing.T, p person, err, want error) {
	t.Helper()
	wantError(t, "change", err, want)
	if got := p.Content("N.md"); got != "one" {
		t.Errorf("file holds %q, want it untouched", got)
	}
	if left := leftovers(t, p.dir); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func wantError(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// save is one way in which programs save a file they have read.
type save func(path, old, line string) error

func saveInPlace(path, old, line string) error {
	return os.WriteFile(path, []byte(old+line), 0o644)
}

func saveByRename(path, old, line string) error {
	temp := path + "~tmp"
	if err := os.WriteFile(temp, []byte(old+line), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func saveByAppend(path, _, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	return err
}

// TestReplaceAgainstAPerson lets a user add lines at the end of a note while a program adds lines at its top. Whatever falls
// together, at the end every line of the user is there. So is every line of the program, unless the user saved, between
// reading and saving, over it: appending never does.
func TestReplaceAgainstAPerson(t *testing.T) {
	t.Parallel()
	for name, save := range map[string]save{"in place": saveInPlace, "by rename": saveByRename, "append": saveByAppend} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, p := open(t, vault.Options{})
			p.Save("N.md", "# Note\n\nmiddle\n\n")
			done := make(chan int)
			go func() { done <- personWrites(t, p, save) }()
			programLines, conflicts := programWrites(t, v, done)
			p.check(v.Close()) // late saves are merged
			t.Logf("%d lines of the program, %d conflicts", programLines, conflicts)
			if name == "append" {
				checkAllLines(t, p, "program", programLines)
			}
			checkAllLines(t, p, "person", rounds)
			if left := leftovers(t, p.dir); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// rounds is how many lines the user writes.
const rounds = 60

func personWrites(t *testing.T, p person, save save) int {
	for i := range rounds {
		// The exact moment is left to chance: Read waits for 30 ms of quiet, so
		// that pauses around that length fall together with its end.
		time.Sleep(time.Duration(25000+rand.IntN(20000)) * time.Microsecond)
		old, err := os.ReadFile(p.path("N.md"))
		if err == nil {
			err = save(p.path("N.md"), string(old), fmt.Sprintf("person %d.\n", i))
		}
		if err != nil {
			t.Error(err)
		}
	}
	return rounds
}

// programWrites adds lines at the top until done, again from the start after a conflict.
func programWrites(t *testing.T, v *vault.Vault, done <-chan int) (lines, conflicts int) {
	for {
		select {
		case <-done:
			return lines, conflicts
		default:
		}
		data, stamp, err := v.Read(t.Context(), "N.md")
		if err != nil {
			t.Error(err)
		}
		data = append([]byte(fmt.Sprintf("program %d.\n", lines)), data...)
		_, err = v.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: data, ModTime: time.Now()})
		switch {
		case err == nil:
			lines++
		case errors.Is(err, model.ErrConflict):
			conflicts++
		default:
			t.Error(err)
		}
	}
}

// checkAllLines wants each line in the note, or in a conflicted copy of it.
func checkAllLines(t *testing.T, p person, who string, lines int) {
	t.Helper()
	entries, err := os.ReadDir(p.dir)
	p.check(err)
	var all strings.Builder
	for _, e := range entries {
		all.WriteString(p.Content(e.Name()))
		if e.Name() != "N.md" {
			t.Logf("also there: %s", e.Name())
		}
	}
	for i := range lines {
		if line := fmt.Sprintf("%s %d.\n", who, i); !strings.Contains(all.String(), line) {
			t.Errorf("%q is lost", line)
		}
	}
}
