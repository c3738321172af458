package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suggestion is an element of `relayfs suggestions list --json`.
type suggestion struct {
	ID, Path, Kind, Old, New, Author, Session, Time string
	Line                                            int
	Stale                                           bool
}

func (sg suggestion) String() string {
	return fmt.Sprintf("%s:%d %s %q -> %q", sg.Path, sg.Line, sg.Kind, sg.Old, sg.New)
}

// suggestions lists what waits for a person.
func (s *sandbox) suggestions(t *testing.T, args ...string) []suggestion {
	t.Helper()
	out := s.run(t, append([]string{"suggestions", "list", "--json"}, args...)...)
	if out.code != 0 {
		t.Fatalf("suggestions list: exit %d\n%s", out.code, out.stderr)
	}
	var list []suggestion
	if err := json.Unmarshal([]byte(out.stdout), &list); err != nil {
		t.Fatalf("suggestions list --json: %v\n%s", err, out.stdout)
	}
	return list
}

// gists are the queue's entries, a line each, sorted.
func gists(list []suggestion) []string {
	var lines []string
	for _, q := range list {
		line := fmt.Sprintf("%s %s > %s", q.Kind, q.Old, q.New)
		if q.Stale {
			line += " stale"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// idOf is the id of what is proposed for the file that path ends in.
func idOf(t *testing.T, list []suggestion, path string) string {
	t.Helper()
	for _, q := range list {
		if strings.HasSuffix(q.Path, path) {
			return q.ID
		}
	}
	t.Fatalf("nothing is proposed for %s: %v", path, list)
	return ""
}

// checkListing compares what is below dir, hidden things left aside.
func checkListing(t *testing.T, dir string, want []string) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(dir, p); {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && p != dir:
			if d.IsDir() {
				return filepath.SkipDir
			}
		case rel != ".":
			got = append(got, rel)
		}
		return nil
	})
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s holds %q, %v; want %q", dir, got, err, want)
	}
}

// decideOn runs a verb of the queue and expects the exit code.
func (s *sandbox) decideOn(t *testing.T, code int, args ...string) output {
	t.Helper()
	out := s.run(t, append([]string{"suggestions"}, args...)...)
	if out.code != code {
		t.Fatalf("suggestions %v: exit %d, want %d\n%s%s", args, out.code, code, out.stdout, out.stderr)
	}
	return out
}

// decided is what a decision or an undo says that it did.
type decided struct {
	Batch string
	Notes int
	Away  []struct{ Path, Text, Why string }
}

// decide runs a command of the queue.
func (s *sandbox) decide(t *testing.T, args ...string) (d decided) {
	t.Helper()
	out := s.run(t, append([]string{"suggestions"}, append(args, "--json")...)...)
	if err := json.Unmarshal([]byte(out.stdout), &d); err != nil || out.code != 0 {
		t.Fatalf("%v: %v, exit %d: %s", args, err, out.code, out.stderr)
	}
	return d
}
