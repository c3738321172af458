//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// Main runs the tests of a package, for its TestMain.
func Main(m *testing.M) {
	// Under nohup SIGHUP is ignored, also by what is started here: a handler ends that.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	code := m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

// Binary is the absolute path of the program under test. The first test that asks for it builds it, unless
// RELAYFS_BINARY names one.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := theBinary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var theBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("RELAYFS_BINARY"); path != "" {
		return path, nil
	}
	return Build("cmd/relayfs", os.Getenv("RELAYFS_RACE") == "1")
})

// builtIn is the directory of what was built here, "" if nothing was.
var builtIn string

// Build builds a program of the repository, or of a module below it. It returns its path, which goes with the tests.
func Build(dir string, race bool) (string, error) {
	if builtIn == "" {
		var err error
		if builtIn, err = os.MkdirTemp("", "relayfs-bin-"); err != nil {
			return "", err
		}
		// Other users must be able to run it: one test drops root's rights.
		if err := os.Chmod(builtIn, 0o755); err != nil {
			return "", err
		}
	}
	path := filepath.Join(builtIn, filepath.Base(dir))
	args := []string{"build", "-o", path}
	if race {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = Repo(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", dir, err, out)
	}
	return path, nil
}

// Repo returns the path of something in the repository. A test runs in the folder of its package, somewhere below.
func Repo(elem ...string) string {
	root, err := theRoot()
	if err != nil {
		panic(err)
	}
	return filepath.Join(append([]string{root}, elem...)...)
}

var theRoot = sync.OnceValues(func() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above %s", start)
		}
	}
})
