// Package need checks whether the machine meets the requirements of a test, and skips the test if it does not. It also
// limits the time and memory of calls on hostile input ([Call], [Linear]), and scales all time limits for a busy
// machine ([Scaled]).
//
// RELAYFS_TESTS=all, which make test sets, runs all tests. With CI=true as well, a test whose requirement is missing
// fails instead of skipping. Without RELAYFS_TESTS=all, tests that take a long time or need more than Go are
// skipped.
package need

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

func Everything() bool { return os.Getenv("RELAYFS_TESTS") == "all" }

var raced bool

func Raced() bool { return raced }

// Plain skips the test under the race detector. It is for expensive tests whose goroutines wait for each other: make
// test also runs them without the detector, several times as fast.
func Plain(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("runs without the race detector")
	}
}

// Full skips the test unless RELAYFS_TESTS=all. why names the requirement or the duration of the test.
func Full(t testing.TB, why string) {
	t.Helper()
	if !Everything() {
		t.Skipf("runs with RELAYFS_TESTS=all: %s", why)
	}
}

// Missing skips the test because a requirement is missing, or fails it in CI.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	missing := fmt.Sprintf(format, args...)
	if Everything() && os.Getenv("CI") == "true" {
		t.Fatalf("CI must have everything: %s", missing)
	}
	t.Skip(missing)
}

// Programs skips the test unless RELAYFS_TESTS=all and the programs are installed.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Full(t, "it needs "+name)
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, "%s is not installed", name)
		}
	}
}

// Waiting raises the number of parallel tests. Call it in the TestMain of a package whose tests mostly wait. go test
// -parallel overrides it.
func Waiting() {
	const perProcessor = 4
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(perProcessor*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
}

// Root returns the root of the module that contains the current folder.
var Root = sync.OnceValues(func() (string, error) {
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
