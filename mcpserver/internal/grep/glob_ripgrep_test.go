package grep_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// For generated trees and lists of patterns the files are those that
// `rg --files --glob` lists.
func TestGlobsEqualRipgrep(t *testing.T) {
	need.Programs(t, "rg")
	randomtest.Check(t, 10, equalsRipgrep)
}

func equalsRipgrep(t testing.TB, rnd *rand.Rand) {
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	dir := t.TempDir()
	var files []string
	for range 60 {
		name := pick("", "a/", "b/", "a/b/", "a/c/d/", "b/a/") + pick("a", "b", "ab", "c é", ".h", "x.y") + pick(".md", ".MD", ".txt", "")
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			continue // a folder of that name
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			continue // a file is where the folder would be
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for range 10 {
		var patterns []string
		args := []string{"--no-config", "--files", "--hidden", "--no-ignore"}
		for range 1 + rnd.IntN(3) {
			p := pick("", "", "!") + pick("", "/", "a/", "**/", "a/**/", "*/", "{a,b}/") + pick("*", "a", "b", "a*", "?", "[ab]", "[!a]", "{a,ab}", "c*", "**") + pick("", "", ".md", ".*", ".{md,txt}")
			patterns = append(patterns, p)
			args = append(args, "--glob", p)
		}
		set, err := grep.ParseGlobs(patterns...)
		if err != nil {
			t.Fatalf("%q: %v", patterns, err)
		}
		var got []string
		for _, f := range files {
			if set.Has(f) {
				got = append(got, f)
			}
		}
		if want := ripgrepFiles(t, dir, args); !slices.Equal(got, want) {
			t.Fatalf("%q\n got %q\nwant %q", patterns, got, want)
		}
	}
}

func ripgrepFiles(t testing.TB, dir string, args []string) []string {
	t.Helper()
	cmd := exec.Command("rg", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 1 {
		t.Fatalf("rg %q: %s", args, exit.Stderr)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	slices.Sort(files)
	return slices.DeleteFunc(files, func(f string) bool { return f == "" })
}
