package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// testID names a test; Test is empty for the package itself.
type testID struct{ Package, Test string }

// summary collects results. Only leaves are counted, since a test that has
// subtests is only their frame; a frame that fails on its own counts as well.
type summary struct {
	out     io.Writer
	output  map[testID][]string // of what has not ended yet
	result  map[testID]string   // "pass", "fail", "skip"
	order   []testID            // of result, each once
	flaky   []testID            // failed, and passed when run again
	fatal   map[testID]bool     // failed in a way that no second run may hide
	skipped []string
	builds  map[string][]string // compiler output by import path
}

func newSummary(out io.Writer) *summary {
	return &summary{
		out:    out,
		output: make(map[testID][]string),
		result: make(map[testID]string),
		fatal:  make(map[testID]bool),
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

// end records a result and prints what a person needs to know about it now.
func (s *summary) end(id testID, ev event) {
	lines := s.output[id]
	delete(s.output, id)
	before, known := s.result[id]
	s.result[id] = ev.Action
	if !known {
		s.order = append(s.order, id)
	}
	if before == "fail" && ev.Action == "pass" && id.Test != "" {
		s.flaky = append(s.flaky, id)
	}
	if ev.Action == "fail" && slices.ContainsFunc(lines, isFatal) {
		s.fatal[topLevel(id)] = true
	}
	switch {
	case ev.Action == "fail":
		lines = append(slices.Clone(s.builds[ev.FailedBuild]), lines...)
		fmt.Fprint(s.out, strings.Join(lines, ""))
	case ev.Action == "skip" && id.Test != "":
		s.skipped = append(s.skipped, fmt.Sprintf("%s: %s", id.Test, skipReason(lines)))
	case ev.Action == "pass" && id.Test == "":
		fmt.Fprintf(s.out, "ok  \t%s\t%.1fs\n", id.Package, ev.Elapsed)
	}
}

// isFatal says whether a line of a test's output tells of a bug that need not
// show itself again.
func isFatal(line string) bool {
	return strings.Contains(line, "DATA RACE") || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:")
}

// topLevel is the test that a subtest belongs to.
func topLevel(id testID) testID {
	top, _, _ := strings.Cut(id.Test, "/")
	return testID{id.Package, top}
}

// again lists the failed tests that are worth a second run, a line per package.
func (s *summary) again() string {
	tests := make(map[string][]string)
	for _, id := range s.order {
		if s.result[id] == "fail" && id.Test != "" && id == topLevel(id) && !s.fatal[id] {
			tests[id.Package] = append(tests[id.Package], id.Test)
		}
	}
	var out strings.Builder
	for _, pkg := range slices.Sorted(maps.Keys(tests)) {
		fmt.Fprintf(&out, "%s\t^(%s)$\n", pkg, strings.Join(tests[pkg], "|"))
	}
	return out.String()
}

// skipReason finds what t.Skip printed between the frame lines.
func skipReason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return line
		}
	}
	return "no reason given"
}

// count returns how many leaves passed and how many failed. A package that
// fails with no failing test (it did not build, it panicked) counts as one.
func (s *summary) count() (passed, failed int) {
	framed := make(map[testID]bool) // has a subtest, or a test for a package
	broken := make(map[testID]bool) // has a failure below it
	for id, result := range s.result {
		for up, ok := parent(id); ok; up, ok = parent(up) {
			framed[up] = true
			broken[up] = broken[up] || result == "fail"
		}
	}
	for id, result := range s.result {
		switch {
		case result == "fail" && !broken[id]:
			failed++
		case result == "pass" && !framed[id] && id.Test != "":
			passed++
		}
	}
	return passed, failed
}

// parent returns the test or package that id ran in.
func parent(id testID) (testID, bool) {
	if id.Test == "" {
		return testID{}, false
	}
	frame, _, sub := cutLast(id.Test, "/")
	if !sub {
		return testID{Package: id.Package}, true
	}
	return testID{id.Package, frame}, true
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// finish prints the end of the report and says whether all is well.
func (s *summary) finish() bool {
	passed, failed := s.count()
	for _, line := range s.skipped {
		fmt.Fprintf(s.out, "skipped\t%s\n", line)
	}
	for _, id := range s.flaky {
		fmt.Fprintf(s.out, "flaky\t%s %s: failed, and passed when run again\n", id.Package, id.Test)
	}
	for _, id := range s.order {
		if s.result[id] == "fail" {
			fmt.Fprintf(s.out, "failed\t%s %s\n", id.Package, id.Test)
		}
	}
	fmt.Fprintf(s.out, "%d passed, %d failed\n", passed, failed)
	return failed == 0 && passed > 0
}
