package page

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// The filter knows the words that people have for kinds of suggestions.
func TestFilterKnowsKinds(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{
		"A.md": "a {--b--} c\n\nd {++e++}{>>why?<<} f\n", "B.md": "Only a remark{>>is it?<<}.\n", "C.md": "c\n", "D.md": "d\n",
	}))
	for _, err := range []error{os.Remove(m.Path("C.md")), os.Rename(m.Path("D.md"), m.Path("E.md"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 4 pending suggestions")
	b.do(t, "press /")
	for _, c := range []struct{ words, count, places string }{
		{"deletion", "2 of 4 pending", ",Vault/A.md"},
		{"deletions", "2 of 4 pending", ",Vault/A.md"},
		{"renames", "1 of 4 pending", ""},
		{"question", "1 of 4 pending", "Vault/A.md,Vault/B.md"},
		{"comments", "1 of 4 pending", "Vault/A.md,Vault/B.md"},
	} {
		b.do(t, "type nothing has this") // the count before may be the same
		b.do(t, "wait 0 of 4 pending")
		b.do(t, "type "+c.words)
		if p := b.do(t, "wait "+c.count); p.Count != c.count || strings.Join(p.Places, ",") != c.places {
			t.Errorf("%s: %s, in %q; want %s, in %q", c.words, p.Count, p.Places, c.count, c.places)
		}
	}
}

// Of an author with several sessions each can be chosen, by when it began.
func TestSessionsAreNamedByTheirStart(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"A.md": "one\n\ntwo\n\nthree\n"})
	for _, edit := range [][3]string{{"ann", "one", "1"}, {"bob", "two", "2"}, {"ann", "three", "3"}} {
		if out := s.Run(t, "edit", "--source", vault, "--author", edit[0], "Vault/A.md", "--old", edit[1], "--new", edit[2]); out.Code != 0 {
			t.Fatal(out.Stderr)
		}
	}
	b := openPage(t, reviewPage(t, s, vault))
	p := b.do(t, "wait 3 pending suggestions")
	want := regexp.MustCompile(`^everybody\|ann \(2\)\|ann, since \d[^|]* \(1\)\|ann, since \d[^|]* \(1\)\|bob \(1\)$`)
	if got := strings.Join(p.Who, "|"); !want.MatchString(got) || p.Who[2] == p.Who[3] {
		t.Fatalf("to be chosen are %q", got)
	}
	b.do(t, "choose "+p.Who[2])
	if p = b.do(t, "wait 1 of 3 pending"); len(p.Suggestions) != 1 || !strings.Contains(p.Suggestions[0], "one") {
		t.Errorf("the first session has %q", p.Suggestions)
	}
}

// A session stands in the list by the name that its agent gave it, also if it is the only one; the name is text.
func TestSessionsAreNamedByTheirAgents(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"A.md": "one\n"})
	c := s.MCP(t, "--author", "ann", "--toolsets", "claude,vault", vault)
	c.MustCall(t, "read", "file_path", "Vault/A.md")
	c.MustCall(t, "edit", "file_path", "Vault/A.md", "old_string", "one", "new_string", "two")
	c.MustCall(t, "set_session_note", "name", "<i>tides</i>")
	c.Close(t)
	p := openPage(t, reviewPage(t, s, vault)).do(t, "wait 1 pending suggestion")
	want := regexp.MustCompile(`^everybody\|ann \(1\)\|ann, “<i>tides</i>” since \d[^|]* \(1\)$`)
	if got := strings.Join(p.Who, "|"); !want.MatchString(got) {
		t.Errorf("to be chosen are %q", got)
	}
}
