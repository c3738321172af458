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

func (s *Sandbox) Suggestions(t *testing.T, args ...string) (list []Suggestion) {
	t.Helper()
	s.suggestionsJSON(t, append([]string{"list"}, args...), &list)
	return list
}

// suggestionsJSON decodes the output of `relayfs suggestions` with args into v.
func (s *Sandbox) suggestionsJSON(t *testing.T, args []string, v any) {
	t.Helper()
	out := s.DecideOn(t, 0, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out.Stdout), v); err != nil {
		t.Fatalf("suggestions %v: %v\n%s", args, err, out.Stdout)
	}
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
	s.suggestionsJSON(t, args, &d)
	return d
}
