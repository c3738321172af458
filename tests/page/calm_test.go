package page

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// longNote has n paragraphs with a change each.
func longNote(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Line %02d is {--one--}{++two++}.\n\n", i)
	}
	return b.String()
}

// near reports whether something stands where it stood, but for the size of a paragraph.
func near(a, b float64) bool { return math.Abs(a-b) < 200 }

// What is decided in the middle of a note leaves the reader there, and what is said of it is in sight. The next
// change has the focus, below no header; a second click is not for it.
func TestReviewPageStaysWhereOneDecides(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": longNote(60)})
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 60 pending suggestions")
	before := b.do(t, "focus Line 30")
	if before.Scrolled < 500 {
		t.Fatalf("scrolled by %v only", before.Scrolled)
	}
	b.do(t, "twice beside Line 30 > Accept")
	b.do(t, "wait 59 pending suggestions")
	p := b.do(t, "wait 1 suggestion accepted")
	if !near(p.Scrolled, before.Scrolled) || !strings.Contains(p.Card, "Line 31") {
		t.Errorf("scrolled to %v, it was %v; the focus is in %q", p.Scrolled, before.Scrolled, p.Card)
	}
	if p.MessageAt.Top < 0 || p.MessageAt.Bottom > p.Height {
		t.Errorf("the message is at %v of %v", p.MessageAt, p.Height)
	}
	for i := range 40 {
		if i == 25 {
			b.do(t, "press k")
		}
		if p = b.do(t, "press j"); p.CardAt.Top < p.NoteAt.Top || p.CardAt.Bottom > p.NoteAt.Bottom {
			t.Errorf("%q has the focus at %v, seen is %v", p.Card, p.CardAt, p.NoteAt)
		}
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, filepath.Join(vault, "Note.md")),
		strings.Replace(longNote(60), "Line 30 is {--one--}{++two++}", "Line 30 is two", 1))
}

// A note that an agent writes in does not move under the reader, and takes no focus.
func TestReviewPageStaysWhileAgentsWrite(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	text := strings.ReplaceAll(longNote(40), "{--one--}{++two++}", "one")
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": text, "Other.md": "a {++b++}\n"})
	m := s.Mount(t, vault)
	text = strings.ReplaceAll(text, "one", "two")
	harness.WriteFile(t, m.Path("Note.md"), text)
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 41 pending suggestions")
	before := b.do(t, "focus Line 20")
	text = "# An agent's heading\n\n" + text
	harness.WriteFile(t, m.Path("Note.md"), text)
	after := b.do(t, "wait An agent's heading")
	if math.Abs(before.CardAt.Top-after.CardAt.Top) > 1 || after.Card != before.Card {
		t.Errorf("%q is at %v; before the write %q was at %v", after.Card, after.CardAt, before.Card, before.CardAt)
	}
	b.do(t, "press /")
	before = b.do(t, "scroll bottom")
	harness.WriteFile(t, m.Path("Note.md"), text+"\nAnother line.\n")
	harness.WriteFile(t, m.VaultPath("Note.md"), "A person's line.\n\n"+harness.ReadFile(t, m.VaultPath("Note.md")))
	b.do(t, "wait A person's line")
	after = b.do(t, "wait Another line")
	if math.Abs(before.RowAt.Top-after.RowAt.Top) > 1 || after.Row != before.Row || after.Focused != "INPUT" {
		t.Errorf("%q is at %v, the focus on %s; before the write %q was at %v", after.Row, after.RowAt, after.Focused, before.Row, before.RowAt)
	}
	if after.Open != "Vault/Note.md" {
		t.Errorf("%s is open", after.Open)
	}
}

// What a person typed is not lost when its suggestion was decided elsewhere meanwhile.
func TestReviewPageKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": "a {--one--}{++two++} b\n"})
	m := s.Mount(t, vault)
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 1 pending suggestion")
	b.do(t, "press e")
	b.do(t, "type three, after long thought")
	s.Decide(t, "reject", "--all", vault)
	b.do(t, "press Control+Enter")
	b.do(t, "wait nothing was decided")
	if p := b.do(t, "wait What you typed"); p.Typed != "three, after long thought" {
		t.Errorf("the focus is on %s with %q", p.Focused, p.Typed)
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("Note.md")), "a one b\n")
}

// A text that cannot be taken is said to be none, and stays to be corrected.
func TestReviewPageKeepsWhatWasRefused(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": "a {--one--}{++two++} b\n"})
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 1 pending suggestion")
	b.do(t, "press e")
	b.do(t, "type three {++four++}")
	b.do(t, "press Control+Enter")
	p := b.do(t, "wait CriticMarkup")
	if p.Typed != "three {++four++}" || strings.Contains(p.Message, "accepted as you wrote it") {
		t.Errorf("the focus is on %s with %q; the page says %q", p.Focused, p.Typed, p.Message)
	}
}

// A note of which nothing is left but its front matter is shown, and what comes after it.
func TestReviewPageOfAnEmptiedNote(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"A.md": "---\na: 1\n---\n{--only line\n--}", "B.md": "a {--one--}{++two++} b\n"})
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 2 pending suggestions")
	b.do(t, "wait only line")
	b.do(t, "press y")
	b.do(t, "wait 1 pending suggestion")
	b.do(t, "click B")
	if p := b.do(t, "wait two"); len(p.Errors) > 0 {
		t.Errorf("errors %q", p.Errors)
	}
	harness.FileBecomes(t, filepath.Join(vault, "A.md"), "---\na: 1\n---\n") // the page shows the decision before it is carried out
}

// The note reads as a document: its changes in place, comments in plain text too, nothing that could act; as
// source at a key.
func TestReviewPageShowsADocument(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": `---
status: draft
---
# On {--chutney--}{++everything++}

- [{-- --}{++x++}] a [[Plan|plan]]{>>whose?<<} and ![map](http://example.org/x.png) <img src=http://example.org/y.png onerror=alert(1)>

[x](javascript:alert(1)) <iframe src="http://example.org"></iframe>

| a | b |
|---|---|
| 1 | {--2--}{++3++} |

[ref]: {--http://a.example--}{++http://b.example++}

<script>alert(1)</script>

{--Parking is on the meadow behind the church, and nowhere else on that day.--}{++There is no room for cars. Everybody comes by bus this year, please.++}

שלום {--עולם--}{++גן++}
`})
	b := openPage(t, reviewPage(t, s, vault))
	p := b.do(t, "wait 6 pending suggestions")
	want := []string{
		"On {--chutney--}{++everything++}",
		"{--☐--}{++☑++}a plan and map <img src=http://example.org/y.png onerror=alert(1)>",
		"ab12{--2--}{++3++}",
		"",
		"{--Parking is on the meadow behind the church, and nowhere else on that day.--}{++There is no room for cars. Everybody comes by bus this year, please.++}",
		"שלום {--עולם--}{++גן++}",
	}
	want[2] = "ab1{--2--}{++3++}[ref]: {--http://a.example--}{++http://b.example++}\n" // no block shows the target of a reference
	want[3] = want[2]
	if !slices.Equal(p.Suggestions, want) {
		t.Errorf("shown is\n%q, want\n%q", p.Suggestions, want)
	}
	if p.Active != 0 || p.RightToLeft != 1 || !slices.Equal(p.Comments, []string{"whose?"}) {
		t.Errorf("%d active elements, %d texts from right to left, comments %q", p.Active, p.RightToLeft, p.Comments)
	}
	b.do(t, "wait draft")
	b.do(t, "press t")
	if p := b.do(t, "wait status: draft"); len(p.Suggestions) != 6 || !strings.HasPrefix(p.Suggestions[1], "- [{-- --}{++x++}] a [[Plan|plan]]") {
		t.Errorf("the source: %q", p.Suggestions)
	}
	for _, width := range []string{"1280 800", "800 900", "390 800", "320 568"} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(t, "look "+width+" "+scheme)
			if p := b.do(t, "scroll top"); p.Overflow > 0 || (p.Hints == 0) != strings.HasPrefix(width, "3") {
				t.Errorf("at %s: %v too wide, hints are %v high", width, p.Overflow, p.Hints)
			}
		}
	}
}

// Changes side by side are decided at once, or one by one; so is a paragraph, and what an author did. The number
// on a button is what it does.
func TestReviewPageDecidesTogether(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"A.md": "The {--old--}{++oldest++} tree bears {++sweet ++}plums, which nobody can reach from the ground without any {--help--}{++ladder++}.\n",
		"B.md": "One line.\n\nAnother line.\n",
	})
	m := s.Mount(t, vault)
	for author, edit := range map[string][2]string{"ann": {"One", "First"}, "bob": {"Another", "Second"}} {
		if out := s.Run(t, "edit", "--author", author, "Vault/B.md", "--old", edit[0], "--new", edit[1]); out.Code != 0 {
			t.Fatal(out.Stderr)
		}
	}
	b := openPage(t, reviewPage(t, s, vault))
	p := b.do(t, "wait 5 pending suggestions")
	for _, label := range []string{"Accept 3 in this note", "Accept 3 here", "Accept 2", "Accept"} {
		if !slices.Contains(p.Buttons, label) {
			t.Errorf("no button %q: %q", label, p.Buttons)
		}
	}
	b.do(t, "press y") // two at once
	b.do(t, "wait 2 suggestions accepted")
	text := func() string { return harness.ReadFile(t, m.VaultPath("A.md")) }
	harness.CheckText(t, "after y", text(), "The oldest tree bears sweet plums, which nobody can reach from the ground without any {--help--}{++ladder++}.\n")
	b.do(t, "press u")
	b.do(t, "wait taken back")
	b.do(t, "press s")
	b.do(t, "press n") // one of the two
	b.do(t, "wait 1 suggestion rejected")
	harness.CheckText(t, "after one", text(), "The old tree bears {++sweet ++}plums, which nobody can reach from the ground without any {--help--}{++ladder++}.\n")
	b.do(t, "click Reject 2 here")
	b.do(t, "wait 2 suggestions rejected")
	harness.CheckText(t, "after the paragraph", text(), "The old tree bears plums, which nobody can reach from the ground without any help.\n")

	b.do(t, "choose bob (1)")
	p = b.do(t, "wait Second")
	if p.Count != "1 of 2 pending" || len(p.Suggestions) != 1 || !strings.Contains(p.Suggestions[0], "Second") {
		t.Errorf("bob's: %+v", p)
	}
	b.do(t, "click Accept 1 in 1 note")
	b.do(t, "wait Nothing that the filter shows is pending; 1 other waits.")
	b.do(t, "wait 1 suggestion accepted")
	b.do(t, "click Clear the filter")
	if p = b.do(t, "wait First"); p.Count != "1 pending suggestion" {
		t.Errorf("left: %+v", p)
	}
	if raw := harness.ReadFile(t, m.VaultPath("B.md")); !strings.Contains(raw, "{++First++}") || !strings.Contains(raw, "\nSecond line.") {
		t.Errorf("the note: %q", raw)
	}
}
