//go:build linux

package harness

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type Suggestion struct {
	ID, Path, Kind, Old, New, Author, Session, Time string
	Line                                            int
	Stale                                           bool
}

func (sg Suggestion) String() string {
	return fmt.Sprintf("%s:%d %s %q -> %q", sg.Path, sg.Line, sg.Kind, sg.Old, sg.New)
}

func (s *Sandbox) Suggestions(t *testing.T, args ...string) []Suggestion {
	t.Helper()
	out := s.Run(t, append([]string{"suggestions", "list", "--json"}, args...)...)
	if out.Code != 0 {
		t.Fatalf("suggestions list: exit %d\n%s", out.Code, out.Stderr)
	}
	var list []Suggestion
	if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil {
		t.Fatalf("suggestions list --json: %v\n%s", err, out.Stdout)
	}
	return list
}

func Gists(list []Suggestion) []string {
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

// IDOf returns the ID of the first proposal for a file whose path ends in the given path.
func IDOf(t *testing.T, list []Suggestion, path string) string {
	t.Helper()
	for _, q := range list {
		if strings.HasSuffix(q.Path, path) {
			return q.ID
		}
	}
	t.Fatalf("no proposal for %s: %v", path, list)
	return ""
}

func CheckListing(t *testing.T, dir string, want []string) {
	t.Helper()
	var got []string
	for _, name := range ListFiles(t, dir) {
		if !strings.HasPrefix(filepath.Base(name), ".") {
			got = append(got, strings.TrimSuffix(name, "/"))
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func (s *Sandbox) DecideOn(t *testing.T, code int, args ...string) Output {
	t.Helper()
	out := s.Run(t, append([]string{"suggestions"}, args...)...)
	if out.Code != code {
		t.Fatalf("suggestions %v: exit %d, want %d\n%s%s", args, out.Code, code, out.Stdout, out.Stderr)
	}
	return out
}

type Decided struct {
	Batch string
	Notes int
	Away  []struct{ Path, Text, Why string }
}

func (s *Sandbox) Decide(t *testing.T, args ...string) (d Decided) {
	t.Helper()
	out := s.Run(t, append([]string{"suggestions"}, append(args, "--json")...)...)
	if err := json.Unmarshal([]byte(out.Stdout), &d); err != nil || out.Code != 0 {
		t.Fatalf("%v: %v, exit %d: %s", args, err, out.Code, out.Stderr)
	}
	return d
}
