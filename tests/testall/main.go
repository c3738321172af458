// Command testall lints the module and runs all its tests. It prints a line per package, the complete output of failed
// tests, the reasons for skipped tests, and this last line:
//
//	N passed, N failed
//
// It exits with 1 if anything failed or nothing was run. tests/scripts/test.sh installs the requirements of the tests,
// and calls it.
//
// Packages run in four go test commands, of which three run at once:
//   - packages that start goroutines, with the race detector
//   - the other packages, without the race detector, because it makes tests several times as slow; also those packages
//     of the first command whose tests do less with the race detector
//   - fusefs and bridge/remote, which mostly wait, with the race detector
//   - the packages below tests, which drive the built program
//
// Tests named TestTimed... measure time, so they run at the end, one by one.
//
// A failed test runs again once, alone. If it passes then, it is listed as flaky. A test is not repeated after a data
// race or a panic, which a second run would hide.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

func main() {
	timeout := flag.Duration("timeout", 10*time.Minute, "time limit of one package")
	race := flag.String("race", "", "regular expression: packages to run with the race detector")
	both := flag.String("both", "", "regular expression: those of them to run without the race detector, too")
	cover := flag.String("cover", "", "directory: write coverage profiles of bridge, fusefs, mcpserver and diffwrap there")
	flag.Parse()
	a := &all{summary: newSummary(os.Stdout), timeout: *timeout, cover: *cover, scale: int(need.Scaled(1))}
	var err error
	if a.race, err = regexp.Compile(cmp.Or(*race, "^$")); err != nil {
		fail(err)
	}
	if a.both, err = regexp.Compile(cmp.Or(*both, "^$")); err != nil {
		fail(err)
	}
	out, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		fail(fmt.Errorf("go list: %w", err))
	}
	start := time.Now()
	a.run(strings.Fields(string(out)))
	a.again()
	fmt.Printf("%.0f s\n", time.Since(start).Seconds())
	if !a.summary.finish() {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "testall: %v\n", err)
	os.Exit(1)
}

type all struct {
	race    *regexp.Regexp
	both    *regexp.Regexp
	timeout time.Duration
	cover   string
	scale   int // factor for all time limits of an idle machine

	mu      sync.Mutex // guards the field below
	summary *summary
}

const crowd = 3

// withRace is the suffix of the names of packages that ran with the race detector.
const withRace = " -race"

const timed = "^TestTimed"

func (a *all) run(packages []string) {
	var raced, plain, driven, waiting []string
	for _, pkg := range packages {
		switch {
		case strings.Contains(pkg+"/", "/tests/"):
			driven = append(driven, pkg)
		case strings.HasSuffix(pkg, "/fusefs"), strings.HasSuffix(pkg, "/bridge/remote"):
			waiting = append(waiting, pkg)
		case a.race.MatchString(pkg):
			raced = append(raced, pkg)
			if a.both.MatchString(pkg) {
				plain = append(plain, pkg)
			}
		default:
			plain = append(plain, pkg)
		}
	}
	slices.SortStableFunc(driven, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	// Some tests wait, so three commands run at once. With more of them, or more packages in each, the tests of a machine
	// with two processors miss their time limits.
	some := fmt.Sprint(runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	group.Go(func() { a.goTest("driven", driven, crowd, "-skip", timed, "-p", some) })
	group.Go(func() { a.goTest("waiting", waiting, crowd, "-skip", timed, "-race", "-parallel", "4") }) // for servers and FUSE
	group.Go(func() {
		a.goTest("raced", raced, crowd, "-skip", timed, "-p", some, "-race")
		a.goTest("plain", plain, crowd, "-skip", timed, "-p", some)
	})
	var lint []byte
	var linted error
	group.Go(func() { lint, linted = exec.Command("tests/scripts/lint.sh").CombinedOutput() })
	group.Wait()
	fmt.Printf("%s", lint)
	if linted != nil {
		a.summary.died["lint"] = true
	}
	a.goTest("timed", withTimed(), 1, "-run", timed, "-p", "1", "-parallel", "1")
}

// longest are the driven packages that take longest. They start first, so that none of them runs alone at the end.
var longest = []string{"page", "files", "packages", "servers", "mcp", "model", "crash", "save", "render", "claude-code"}

func place(pkg string) int {
	if i := slices.Index(longest, path.Base(pkg)); i >= 0 {
		return i
	}
	return len(longest)
}

func withTimed() []string {
	files, err := exec.Command("git", "grep", "--untracked", "-l", "^func TestTimed", "--", "*_test.go").Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	} else if err != nil {
		fail(fmt.Errorf("git grep: %w", err))
	}
	var dirs []string
	for file := range strings.Lines(string(files)) {
		dirs = append(dirs, "./"+path.Dir(strings.TrimSpace(file)))
	}
	return slices.Compact(dirs)
}

func (a *all) again() {
	for name, pattern := range a.summary.again() {
		args := []string{"-run", pattern}
		pkg, raced := strings.CutSuffix(name, withRace)
		if raced {
			args = append(args, "-race")
		}
		a.goTest("again", []string{pkg}, 1, args...)
	}
}

// goTest runs the tests of the packages with scaled limits, and adds their results to the summary. It ignores the exit
// code, because the results include the failures.
func (a *all) goTest(name string, packages []string, scale int, args ...string) {
	if len(packages) == 0 {
		return
	}
	// -count=1: the test cache does not detect changes of the driven programs, nor new seeds. -vet=off: lint.sh vets
	// everything. -ldflags: stack traces need no debugging information.
	args = append([]string{"test", "-json", "-count=1", "-vet=off", "-ldflags=-s -w", "-timeout", a.timeout.String()}, args...)
	// The driven tests' own coverage is useless: the program that they drive writes its own.
	if a.cover != "" && name != "driven" {
		args = append(args, "-covermode=atomic", "-coverpkg=./bridge/...,./fusefs/...,./mcpserver/...,./diffwrap/...",
			"-coverprofile="+a.cover+"/"+name+".out")
	}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", need.ScaleEnv, a.scale*scale))
	// These tests make much garbage and keep little: by default, collecting it takes a third of their time. With the race
	// detector it takes little. Driven programs run with the settings that users have.
	if name == "plain" {
		cmd.Env = append(cmd.Env, "GOGC=400", "GOMEMLIMIT=1GiB")
	}
	suffix := ""
	if slices.Contains(args, "-race") {
		suffix = withRace
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		fail(err)
	}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	if err := a.read(events, suffix); err != nil {
		fail(fmt.Errorf("read the results of go test: %w", err))
	}
	cmd.Wait()
}
