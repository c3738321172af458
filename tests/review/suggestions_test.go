package review

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// queueVault is a vault with that many suggestions spread over that many notes,
// and its files.
func queueVault(t *testing.T, s *harness.Sandbox, name string, notes, suggestions int) (string, map[string]string) {
	t.Helper()
	files := make(map[string]string, notes)
	for i := range notes {
		paragraphs := []string{fmt.Sprintf("# Note %d", i)}
		for j := range 12 {
			paragraphs = append(paragraphs, fmt.Sprintf("Paragraph %d has some words about the garden and its pond, which is deep.", j))
		}
		for k := i; k < suggestions; k += notes {
			p := &paragraphs[1+k/notes]
			switch k % 3 {
			case 0:
				*p = strings.Replace(*p, "garden", "{--garden--}{++allotment++}", 1)
			case 1:
				*p += "{++ It freezes over.++}"
			case 2:
				*p = strings.Replace(*p, " some", "{-- some--}", 1)
			}
		}
		files[fmt.Sprintf("folder %d/note %d.md", i%20, i)] = strings.Join(paragraphs, "\n\n") + "\n"
	}
	return s.Vault(t, name, files), files
}

// timed runs relayfs suggestions and returns how long that took.
func timed(t *testing.T, s *harness.Sandbox, args ...string) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.QueueTimeout)
	defer cancel()
	start := time.Now()
	out := harness.RunCommand(t, s.Command(ctx, append([]string{"suggestions"}, args...)...))
	took := time.Since(start)
	if out.Code != 0 {
		t.Fatalf("suggestions %v: exit %d: %s", args, out.Code, out.Stderr)
	}
	return took
}

// checkVault compares every file with what it must be, made of what it was.
func checkVault(t *testing.T, vault string, files map[string]string, want func(string) string) {
	t.Helper()
	harness.CheckNames(t, vault, files)
	for name, raw := range files {
		harness.CheckText(t, name, harness.ReadFile(t, filepath.Join(vault, name)), want(raw))
	}
}

// Everything in a large vault is accepted, and everything in another rejected,
// and undo brings back every byte.
func TestDecideOnALargeVault(t *testing.T) {
	t.Parallel()
	notes := 500
	if os.Getenv("RELAYFS_SOAK") != "" {
		notes = 2000
	}
	s := harness.NewSandbox(t)
	accepted, files := queueVault(t, s, "Accepted", notes, notes*5/2)
	rejected, _ := queueVault(t, s, "Rejected", notes, notes*5/2)
	took := timed(t, s, "accept", "--all", "--yes", accepted) + timed(t, s, "reject", "--all", "--yes", rejected)
	t.Logf("accepted and rejected in %v", took)
	checkVault(t, accepted, files, diffwrap.Accepted)
	checkVault(t, rejected, files, diffwrap.Original)
	for _, vault := range []string{accepted, rejected} {
		t.Logf("undone in %v", timed(t, s, "undo", vault))
		checkVault(t, vault, files, func(raw string) string { return raw })
	}
}

// kill -9 while everything is accepted leaves each note decided or as it was, the
// next start knows what is pending, and what was decided can be undone.
func TestKillWhileDeciding(t *testing.T) {
	t.Parallel()
	const notes = 300
	rng := randomtest.New(t)
	s := harness.NewSandbox(t)
	vault, files := queueVault(t, s, "Vault", notes, 3*notes)
	var left int
	for range 5 {
		killAfter(t, s, rng.IntN(notes/5), vault, files)
		if left = checkDecidedOrNot(t, s, vault, files); t.Failed() {
			return
		}
		t.Logf("%d notes were left", left)
	}
	if left > 0 {
		timed(t, s, "accept", "--all", "--yes", vault)
	}
	checkVault(t, vault, files, diffwrap.Accepted)
	for range 6 { // as many batches as there can be; a kill may have come before the first note
		s.Run(t, "suggestions", "undo", vault)
	}
	checkVault(t, vault, files, func(raw string) string { return raw })
}

// killAfter accepts everything and kills that when n notes more are decided.
func killAfter(t *testing.T, s *harness.Sandbox, n int, vault string, files map[string]string) {
	t.Helper()
	start := decidedNotes(t, vault, files)
	if start == len(files) {
		return
	}
	cmd := s.Command(t.Context(), "suggestions", "accept", "--all", "--yes", vault)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed, or done before that
		close(ended)
	}()
	harness.Eventually(t, harness.StartTimeout, func() error {
		select {
		case <-ended:
			return nil
		default:
		}
		if got := decidedNotes(t, vault, files) - start; got < n {
			return fmt.Errorf("%d of %d notes decided", got, n)
		}
		return nil
	})
	_ = cmd.Process.Kill()
	<-ended
}

func decidedNotes(t *testing.T, vault string, files map[string]string) int {
	t.Helper()
	n := 0
	for name, raw := range files {
		if st, err := os.Stat(filepath.Join(vault, name)); err != nil || st.Size() != int64(len(raw)) {
			n++
		}
	}
	return n
}

// checkDecidedOrNot returns how many notes have suggestions left.
func checkDecidedOrNot(t *testing.T, s *harness.Sandbox, vault string, files map[string]string) int {
	t.Helper()
	out := s.Run(t, "suggestions", "list", "--json", vault) // which finishes what was begun
	want := make(map[string]int)
	for name, raw := range files {
		switch got := harness.ReadFile(t, filepath.Join(vault, name)); got {
		case raw:
			want[filepath.Base(vault)+"/"+name] = len(diffwrap.Suggestions(raw))
		case diffwrap.Everything.Accepted(raw):
		default:
			t.Errorf("%s is neither decided nor as it was: %q", name, got)
		}
	}
	var list []struct{ Path string }
	if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil {
		t.Fatalf("list: %v: %s", err, out.Stderr)
	}
	got := make(map[string]int)
	for _, x := range list {
		got[x.Path]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d notes have suggestions by the list, %d by their files", len(got), len(want))
	}
	harness.CheckNames(t, vault, files)
	return len(want)
}
