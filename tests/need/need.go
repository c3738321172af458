// Package need has what a test may ask of a machine. It skips tests for which this machine has not everything,
// and bounds how much time and memory a call on hostile input may take ([Call], [Linear]), and how long
// anything may take on a machine that is busy with something else ([Scaled]).
//
// RELAYFS_TESTS=all, as make test sets it, runs all tests; plain go test runs those that need only Go.
// With CI=true next to it, a test fails that would have to skip.
package need

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// Everything reports whether the tests run in full, as make test runs them.
func Everything() bool { return os.Getenv("RELAYFS_TESTS") == "all" }

// raced is whether the race detector is built in.
var raced bool

// Raced reports whether the race detector is on. Packages that are tested with it are tested without it, too, several
// times as fast: so what costs much and has one goroutine can be left to that.
func Raced() bool { return raced }

// Full skips unless the tests run in full; why names what the test needs, or how long it takes.
func Full(t testing.TB, why string) {
	t.Helper()
	if !Everything() {
		t.Skipf("runs with RELAYFS_TESTS=all: %s", why)
	}
}

// Missing skips for want of something, which CI must have when the tests run in full.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	missing := fmt.Sprintf(format, args...)
	if Everything() && os.Getenv("CI") == "true" {
		t.Fatalf("CI must have everything: %s", missing)
	}
	t.Skip(missing)
}

// Programs skips unless the tests run in full and the programs are installed.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Full(t, "it needs "+name)
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, "%s is not installed", name)
		}
	}
}

// Waiting lets more parallel tests run at the same time than there are processors, for the TestMain of a package the
// tests of which wait most of their time. go test -parallel overrides it.
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
