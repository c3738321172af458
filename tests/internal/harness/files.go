//go:build linux

package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// WriteFile writes a file and creates its folders. The lock prevents a program that another test starts from inheriting
// the open file and closing it, which would save a truncated note on a mount.
func WriteFile(t *testing.T, name, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// WriteProgram writes an executable script. It takes the lock because a program that another test starts in the
// meantime would inherit the file open for writing, and the kernel would then refuse to run the script.
func WriteProgram(t *testing.T, name, script string) {
	t.Helper()
	WriteFile(t, name, script)
	if err := os.Chmod(name, 0o700); err != nil {
		t.Fatal(err)
	}
}

func ReadFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// WriteAll is WriteFile for a write that may fail. It creates no folders. Unlike os.WriteFile it also returns the error
// of close after a failed write.
func WriteAll(name string, b []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

func WriteSynced(name, text string, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}

// AtomicSave writes a file as programs do that rename a new file over the old one.
func AtomicSave(t *testing.T, name, text string) {
	t.Helper()
	temp := filepath.Join(filepath.Dir(name), ".sync-temp")
	WriteFile(t, temp, text)
	if err := os.Rename(temp, name); err != nil {
		t.Fatal(err)
	}
}

// ListFiles returns the sorted paths below dir, without dot directories; folders end in "/".
func ListFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := WalkFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// WalkFiles does the same as ListFiles for a tree that may be changing.
func WalkFiles(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			name += "/"
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}
