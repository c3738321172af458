package render

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/relayfs/relayfs/diffwrap"
)

// marked is how much of a text somebody marks: deletions and additions, and the characters in them but for line breaks.
type marked struct{ marks, chars int }

func (m *marked) add(text string) {
	m.marks++
	m.chars += visible(text)
}

func visible(text string) int {
	return utf8.RuneCountInString(text) - strings.Count(text, "\n") - strings.Count(text, "\r")
}

// byLens counts the marks of a pending text.
func byLens(raw string) (m marked) {
	marks, _, _ := diffwrap.Everything.Layout(raw)
	for _, x := range marks {
		for _, s := range []diffwrap.Span{x.Deleted, x.Added} {
			if !s.Empty() {
				m.add(raw[s.Start:s.End])
			}
		}
	}
	return m
}

// byGoDiff counts the marks of go-diff with its semantic clean-up.
func byGoDiff(before, after string) (m marked) {
	differ := diffmatchpatch.New()
	differ.DiffTimeout = time.Second
	for _, d := range differ.DiffCleanupSemantic(differ.DiffMain(before, after, true)) {
		if d.Type != diffmatchpatch.DiffEqual {
			m.add(d.Text)
		}
	}
	return m
}

// byGit counts the marks of git diff --word-diff, in one process for all edits. Words that follow each other on several
// lines are one mark.
func byGit(t *testing.T, all []edit) []marked {
	t.Helper()
	dir := t.TempDir()
	for i, e := range all {
		for side, text := range map[string]string{"a": e.before, "b": e.after} {
			name := filepath.Join(dir, side, strconv.Itoa(i)+".md")
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "diff", "--no-index", "--no-ext-diff", "--no-renames", "--text", "--unified=0", "--word-diff=porcelain", "a", "b")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("git diff: %v\n%s", err, stderr.Bytes())
	}
	counts := make([]marked, len(all))
	now, last, inHunk := 0, byte(0), false
	for _, line := range strings.Split(string(out), "\n") {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			if _, err := fmt.Sscanf(line, "diff --git a/a/%d.md", &now); err != nil {
				if _, err := fmt.Sscanf(line, "diff --git a/%d.md", &now); err != nil {
					t.Fatalf("git diff: %q: %v", line, err)
				}
			}
			inHunk = false
		case strings.HasPrefix(line, "@@"):
			inHunk, last = true, 0
		case !inHunk || line == "" || line == "~":
		case line[0] == '+' || line[0] == '-':
			if line[0] != last {
				counts[now].marks++
			}
			last = line[0]
			counts[now].chars += visible(line[1:])
		case line[0] == ' ':
			last = 0
		}
	}
	return counts
}

// grouped is the marks of lines: marks that touch are one group. Groups of whole lines do not count.
type grouped struct{ lines, groups, crowded int }

// crowd is from how many groups a line is hard to read.
const crowd = 8

func groupsOf(raw string) (g grouped) {
	marks, _, _ := diffwrap.Everything.Layout(raw)
	byLine := make(map[int]int)
	for i := 0; i < len(marks); {
		end := i + 1
		for end < len(marks) && marks[end].Start == marks[end-1].End {
			end++
		}
		if from := marks[i].Start; !strings.Contains(raw[from:marks[end-1].End], "\n") {
			byLine[strings.LastIndexByte(raw[:from], '\n')]++
		}
		i = end
	}
	for _, n := range byLine {
		g.lines++
		g.groups += n
		if n >= crowd {
			g.crowded++
		}
	}
	return g
}
