//go:build linux

package harness

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
)

func Main(m *testing.M) {
	// nohup ignores SIGHUP, and background jobs of a shell ignore SIGINT. Child processes inherit ignored signals, but
	// not signals that have a handler.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Setenv("RELAYFS_AGENTS", "none") // the tests decide on suggestions, even if an agent runs the tests
	need.Waiting()                      // the tests mostly wait for other processes and for periods of the product
	code := m.Run()
	atEnd.Lock()
	defer atEnd.Unlock()
	for _, end := range atEnd.funcs {
		end()
	}
	os.Exit(code)
}

// MainFull is like Main, for a package whose tests all need FUSE. Without RELAYFS_TESTS=all it runs no tests.
func MainFull(m *testing.M) {
	if !need.Everything() {
		fmt.Println("make test runs it")
		return
	}
	Main(m)
}

var atEnd struct {
	sync.Mutex
	funcs []func()
}

// AtEnd registers a function to call after all tests of the package, for shared resources such as a server.
func AtEnd(end func()) {
	atEnd.Lock()
	defer atEnd.Unlock()
	atEnd.funcs = append(atEnd.funcs, end)
}

// Binary returns the absolute path of the program under test, which is built once unless RELAYFS_BINARY names one.
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

var builtIn = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "relayfs-bin-")
	if err != nil {
		return "", err
	}
	AtEnd(func() { os.RemoveAll(dir) })
	// Other users must be able to run the program, because one test drops root's rights.
	return dir, os.Chmod(dir, 0o755)
})

// Build builds a program of this module, or of a module below it. The binary is removed after the tests.
func Build(dir string, race bool) (string, error) {
	in, err := builtIn()
	if err != nil {
		return "", err
	}
	path := filepath.Join(in, filepath.Base(dir))
	args, cgo := []string{"build", "-o", path}, "CGO_ENABLED=0"
	if race {
		args, cgo = append(args, "-race"), "CGO_ENABLED=1"
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir, cmd.Env = Repo(dir), append(os.Environ(), cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", dir, err, out)
	}
	return path, nil
}

func Repo(elem ...string) string {
	root, err := need.Root()
	if err != nil {
		panic(err)
	}
	return filepath.Join(append([]string{root}, elem...)...)
}
