package page

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// largeVault has that many suggestions in each of that many notes.
func largeVault(notes, each int) map[string]string {
	files := make(map[string]string, notes)
	for i := range notes {
		var b strings.Builder
		fmt.Fprintf(&b, "# Note %d\n\n", i)
		for j := range each {
			fmt.Fprintf(&b, "Paragraph %d has some words about the {--garden--}{++allotment++} and its pond, which is deep.\n\n", j)
		}
		files[fmt.Sprintf("Folder %02d/Note %04d.md", i%20, i)] = b.String()
	}
	return files
}

// generous bounds a time on a machine that does other work. The figure that counts is printed.
func generous(ms float64) float64 {
	return 10 * ms * float64(need.Scaled(time.Second)) / float64(time.Second)
}

// With ten thousand suggestions in a thousand notes the page is there at once, a decision is shown at once, and
// a change of one note sends that note.
func TestTimedReviewPageOfALargeVault(t *testing.T) {
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", largeVault(1000, 10))
	s.Mount(t, vault)
	s.Suggestions(t, vault) // so that it is known what is pending
	b := openPage(t, reviewPage(t, s, vault))
	p := b.do(t, "wait 10000 pending suggestions")
	ready := p.Measured.Ready
	b.do(t, "bytes")
	b.do(t, "decide y 9")
	b.do(t, "wait 9991 pending suggestions")
	p = b.do(t, "wait ✓ accepted")
	perDecision := p.Measured.Bytes / 9
	for i := range 5 {
		b.do(t, "press ]")
		b.do(t, fmt.Sprintf("wait Note %d", 20*(i+1)))
		p = b.do(t, "decide y 9")
	}
	times := slices.Sorted(slices.Values(p.Measured.Decided))
	p95 := times[len(times)*95/100]
	b.do(t, "bytes")
	other := filepath.Join(vault, "Folder 19/Note 0999.md")
	harness.WriteFile(t, other, harness.ReadFile(t, other)+"\nOne {++more++}.\n")
	p = b.do(t, "wait 9947 pending suggestions")
	change := p.Measured.Bytes
	memory := b.do(t, "memory").Measured.Memory
	t.Logf("ready after %.0f ms; a decision is shown after %.0f ms (95 of 100), %.0f ms (half), and sends %.0f bytes; a change of another note sends %.0f bytes; the tab has %.0f MB",
		ready, p95, times[len(times)/2], perDecision, change, memory)
	for _, limit := range []struct {
		what      string
		got, want float64
	}{
		{"ms until it is ready", ready, generous(1000)},
		{"ms until a decision is shown", p95, generous(100)},
		{"bytes for a change of another note", change, 20_000},
		{"MB of memory", memory, 150},
	} {
		if limit.got > limit.want {
			t.Errorf("%s: %.0f, want at most %.0f", limit.what, limit.got, limit.want)
		}
	}
}

// A note with thousands of changes is open at once, all of them can be reached, and a decision is shown at once.
func TestTimedReviewPageOfALargeNote(t *testing.T) {
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", largeVault(1, 5000))
	b := openPage(t, reviewPage(t, s, vault))
	p := b.do(t, "wait 5000 pending suggestions")
	ready := p.Measured.Ready
	if p = b.do(t, "wait Paragraph 0"); len(p.Suggestions) >= 5000 {
		t.Errorf("all %d are drawn", len(p.Suggestions))
	}
	b.do(t, "decide y 1")
	b.do(t, "wait Paragraph 0 has some words about the allotment") // as it is answered after the decision: everything has come
	b.do(t, "decide y 20")
	b.do(t, "wait Paragraph 20 has some words about the allotment")
	before := b.do(t, "scroll bottom")
	if last := b.do(t, "wait Paragraph 4999"); last.Row == "" || math.Abs(last.Scrolled-before.Scrolled) > 2*last.Height {
		t.Errorf("at the end %q is in sight, scrolled to %v of %v", last.Row, last.Scrolled, before.Scrolled)
	}
	p = b.do(t, "press y") // it is out of sight: the key brings it there
	if !strings.Contains(p.Card, "Paragraph 21 ") || p.CardAt.Top < p.NoteAt.Top || p.CardAt.Bottom > p.NoteAt.Bottom || p.Count != "4979 pending suggestions" {
		t.Errorf("%s; %q has the focus at %v", p.Count, p.Card, p.CardAt)
	}
	times := slices.Sorted(slices.Values(p.Measured.Decided))
	shown := times[len(times)*95/100]
	t.Logf("ready after %.0f ms; a decision is shown after %.0f ms (95 of 100)", ready, shown)
	if shown > generous(100) {
		t.Errorf("a decision is shown after %.0f ms, want at most %.0f", shown, generous(100))
	}
}
