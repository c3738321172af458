package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

type testID struct{ Package, Test string }

// summary collects results. It counts only tests without subtests, and tests that fail although none of their subtests
// fails.
type summary struct {
	out     io.Writer
	output  map[testID][]string // output lines of running tests
	result  map[testID]string   // "pass", "fail", "skip"
	order   []testID            // keys of result
	flaky   []testID            // tests that failed and then passed
	fatal   map[testID]bool     // tests that failed in a way that a second run must not hide
	died    map[string]bool     // failures without a failed test: build errors, panics and lint
	took    map[testID]float64  // seconds of packages and top-level tests, summed over all runs
	skipped []string
	builds  map[string][]string // compiler output by import path
}

func newSummary(out io.Writer) *summary {
	return &summary{
		out:    out,
		output: make(map[testID][]string),
		result: make(map[testID]string),
		fatal:  make(map[testID]bool),
		died:   make(map[string]bool),
		took:   make(map[testID]float64),
		builds: make(map[string][]string),
	}
}

func (s *summary) add(ev event) {
	id := testID{ev.Package, ev.Test}
	switch ev.Action {
	case "build-output":
		s.builds[ev.ImportPath] = append(s.builds[ev.ImportPath], ev.Output)
	case "output":
		s.output[id] = append(s.output[id], ev.Output)
	case "pass", "fail", "skip":
		s.end(id, ev)
	}
}

func (s *summary) end(id testID, ev event) {
	lines := s.output[id]
	delete(s.output, id)
	before, ok := s.result[id]
	s.result[id] = ev.Action
	if !ok {
		s.order = append(s.order, id)
	}
	if before == "fail" && ev.Action == "pass" && id.Test != "" {
		s.flaky = append(s.flaky, id)
	}
	if ev.Action == "fail" && slices.ContainsFunc(lines, isFatal) {
		s.fatal[topLevel(id)] = true
	}
	if id == topLevel(id) {
		s.took[id] += ev.Elapsed
	}
	if id.Test == "" && ev.Action == "fail" && !s.hasFailure(id.Package) {
		s.died[id.Package] = true
	}
	switch {
	case ev.Action == "fail":
		lines = append(slices.Clone(s.builds[ev.FailedBuild]), lines...)
		if id.Test == "" { // tests that were running when the process died
			for other, rest := range s.output {
				if other.Package == id.Package {
					lines = append(lines, rest...)
				}
			}
		}
		fmt.Fprint(s.out, strings.Join(lines, ""))
	case slices.ContainsFunc(lines, isRace): // the report may be in the output of a test that passes
		fmt.Fprint(s.out, strings.Join(lines, ""))
	case ev.Action == "skip" && id.Test != "":
		s.skipped = append(s.skipped, fmt.Sprintf("%s: %s", id.Test, skipReason(lines)))
	case ev.Action == "pass" && id.Test == "":
		fmt.Fprintf(s.out, "ok  \t%s\t%.1fs\n", id.Package, ev.Elapsed)
	}
}

func isFatal(line string) bool {
	return isRace(line) || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:")
}

// isRace reports whether a line belongs to a data race. Each test that runs at that time fails and says so.
func isRace(line string) bool {
	return strings.Contains(line, "DATA RACE") || strings.Contains(line, "race detected during execution of test")
}

func topLevel(id testID) testID {
	top, _, _ := strings.Cut(id.Test, "/")
	return testID{id.Package, top}
}

func (s *summary) hasFailure(pkg string) bool {
	for id, result := range s.result {
		if id.Package == pkg && id.Test != "" && result == "fail" {
			return true
		}
	}
	return false
}

// again returns a pattern for -run for each package with failed tests that may be repeated. The pattern matches these
// tests.
func (s *summary) again() map[string]string {
	tests := make(map[string][]string)
	for _, id := range s.order {
		if s.result[id] == "fail" && id.Test != "" && id == topLevel(id) && !s.fatal[id] {
			tests[id.Package] = append(tests[id.Package], id.Test)
		}
	}
	patterns := make(map[string]string)
	for pkg, names := range tests {
		patterns[pkg] = "^(" + strings.Join(names, "|") + ")$"
	}
	return patterns
}

func skipReason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return line
		}
	}
	return "no reason given"
}

// count returns the number of passed tests without subtests, and the number of failed tests without failed subtests. A
// package that died counts as one failure.
func (s *summary) count() (passed, failed int) {
	framed := make(map[testID]bool) // tests that have a subtest
	broken := make(map[testID]bool) // tests with a failure below them
	for id, result := range s.result {
		for up, ok := parent(id); ok; up, ok = parent(up) {
			framed[up] = true
			broken[up] = broken[up] || result == "fail"
		}
	}
	for id, result := range s.result {
		switch {
		case id.Test == "":
		case result == "fail" && !broken[id]:
			failed++
		case result == "pass" && !framed[id]:
			passed++
		}
	}
	return passed, failed + len(s.died)
}

func parent(id testID) (testID, bool) {
	i := strings.LastIndex(id.Test, "/")
	if i < 0 {
		return testID{}, false
	}
	return testID{id.Package, id.Test[:i]}, true
}

func (s *summary) slowest() {
	ids := slices.SortedFunc(maps.Keys(s.took), func(a, b testID) int { return cmp.Compare(s.took[b], s.took[a]) })
	for _, id := range ids[:min(30, len(ids))] {
		fmt.Fprintf(s.out, "time\t%.0fs\t%s %s\n", s.took[id], id.Package, id.Test)
	}
}

// finish prints the end of the report, and reports whether nothing failed and at least one test passed.
func (s *summary) finish() bool {
	passed, failed := s.count()
	for _, line := range s.skipped {
		fmt.Fprintf(s.out, "skipped\t%s\n", line)
	}
	for _, id := range s.flaky {
		fmt.Fprintf(s.out, "flaky\t%s %s: failed, but passed when repeated\n", id.Package, id.Test)
	}
	for _, id := range s.order {
		if s.result[id] == "fail" && id.Test != "" {
			fmt.Fprintf(s.out, "failed\t%s %s\n", id.Package, id.Test)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(s.died)) {
		fmt.Fprintf(s.out, "failed\t%s, see above\n", pkg)
	}
	s.slowest()
	fmt.Fprintf(s.out, "%d passed, %d failed\n", passed, failed)
	return failed == 0 && passed > 0
}
