package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// shownPage is what tests/review-page/open.mjs says that the page shows.
type shownPage struct {
	Count, Message, Focused         string
	Headings, Suggestions, Comments []string
	Scripts                         int
	Errors                          []string
}

// browser is the review page, open.
type browser struct {
	keys  io.Writer
	shown *json.Decoder
}

// reviewPage starts `relayfs review` and returns the address that it prints.
func (s *sandbox) reviewPage(t *testing.T, args ...string) string {
	t.Helper()
	cmd := s.command(context.Background(), append([]string{"review"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("relayfs review: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func openPage(t *testing.T, address string) *browser {
	t.Helper()
	script, err := filepath.Abs("review-page/open.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("review-page/node_modules/jsdom"); err != nil {
		skip(t, "tests/review-page is not installed: run npm ci there")
	}
	cmd := exec.Command("node", script, address)
	cmd.Stderr = os.Stderr
	in, out := startPiped(t, cmd)
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the browser: %v", err)
		}
	})
	return &browser{in, json.NewDecoder(out)}
}

// do carries out a line of open.mjs's language.
func (b *browser) do(t *testing.T, line string) shownPage {
	t.Helper()
	if _, err := fmt.Fprintln(b.keys, line); err != nil {
		t.Fatal(err)
	}
	var p shownPage
	if err := b.shown.Decode(&p); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

var pageNotes = map[string]string{
	"Apples.md": "We sell {--one--}{++two++} apples.\n\nAnd {++green ++}{>>why <b>green</b>?<<}pears.\n\n<script>alert(1)</script> no {--plums--}{++<i>damsons</i>++} today.\n",
	"Bread.md":  "The {--oven--}{++kiln++} is hot.\n",
}

// A person accepts, edits, rejects and takes back on the page, sees what others
// change meanwhile, and the vault's files are as they must be.
func TestReviewPage(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", pageNotes)
	apples, bread := filepath.Join(vault, "Apples.md"), filepath.Join(vault, "Bread.md")
	b := openPage(t, s.reviewPage(t, vault))

	p := b.do(t, "wait 4 pending suggestions")
	if want := []string{"Vault/Apples.md", "Vault/Bread.md"}; !slices.Equal(p.Headings, want) {
		t.Errorf("headings %q, want %q", p.Headings, want)
	}
	if len(p.Suggestions) != 4 || !strings.HasPrefix(p.Suggestions[0], "We sell {--one--}{++two++} apples.") ||
		!strings.Contains(p.Suggestions[2], "<script>alert(1)</script> no {--plums--}{++<i>damsons</i>++} today.") {
		t.Errorf("suggestions %q", p.Suggestions)
	}
	if p.Scripts != 0 || !slices.Equal(p.Comments, []string{"why <b>green</b>?"}) {
		t.Errorf("%d scripts came in with the notes; comments %q", p.Scripts, p.Comments)
	}

	b.do(t, "press y")
	b.do(t, "wait 3 pending suggestions")
	checkText(t, "after accepting", readFile(t, apples), strings.Replace(pageNotes["Apples.md"], "{--one--}{++two++}", "two", 1))
	b.do(t, "press e")
	if p := b.do(t, "type ripe "); p.Focused != "TEXTAREA" {
		t.Errorf("editing, the focus is on %s", p.Focused)
	}
	b.do(t, "press Ctrl+Enter")
	b.do(t, "wait accepted as you wrote it")
	checkText(t, "after editing", readFile(t, apples),
		"We sell two apples.\n\nAnd ripe pears.\n\n<script>alert(1)</script> no {--plums--}{++<i>damsons</i>++} today.\n")
	b.do(t, "press n")
	b.do(t, "wait 1 suggestion rejected")
	b.do(t, "press u")
	b.do(t, "wait taken back in 1 note")
	b.do(t, "wait 2 pending suggestions")

	writeFile(t, bread, pageNotes["Bread.md"]+"And {++a live++} line.\n")
	b.do(t, "wait a live")
	b.do(t, "press /")
	if p := b.do(t, "type bread"); !slices.Equal(p.Headings, []string{"Vault/Bread.md"}) || p.Count != "2 pending suggestions" {
		t.Errorf("filtered: %+v", p)
	}
	b.do(t, "press Enter")
	b.do(t, "press A")
	p = b.do(t, "wait 2 suggestions accepted")
	checkText(t, "after accepting a note", readFile(t, bread), "The kiln is hot.\nAnd a live line.\n")
	if len(p.Errors) > 0 {
		t.Errorf("the page's scripts failed: %q", p.Errors)
	}
}

// The page of a vault that another process serves works through that process.
func TestReviewPageOfAMount(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", pageNotes)
	s.mount(t, vault)
	b := openPage(t, s.reviewPage(t))
	b.do(t, "wait 4 pending suggestions")
	b.do(t, "click Reject note")
	b.do(t, "wait 1 pending suggestion")
	checkText(t, "after rejecting a note", readFile(t, filepath.Join(vault, "Apples.md")),
		"We sell one apples.\n\nAnd pears.\n\n<script>alert(1)</script> no plums today.\n")
}

// Proposals read as in the list, one that is stale is accepted when the person
// says so, and a reason reaches the log.
func TestReviewPageOfProposals(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"Old.md": "old\n", "Plan.md": "plan\n", "Sub/a.md": "a\n"})
	m := s.mount(t, vault)
	for _, err := range []error{
		os.Rename(m.path("Plan.md"), m.path("Sub/Goal.md")),
		os.Remove(m.path("Old.md")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := openPage(t, s.reviewPage(t))
	p := b.do(t, "wait 2 pending suggestions")
	if want := []string{"rename to Vault/Sub/Goal.md", "delete"}; !slices.Equal(p.Suggestions, want) {
		t.Errorf("proposals read %q, want %q", p.Suggestions, want)
	}
	b.do(t, "press e") // a proposal has no text to edit
	b.do(t, "press r")
	if p := b.do(t, "type  the name is\ttaken "); p.Focused != "INPUT" {
		t.Errorf("giving a reason, the focus is on %s", p.Focused)
	}
	b.do(t, "press Enter")
	b.do(t, "wait 1 suggestion rejected")
	if out := s.run(t, "suggestions", "log"); !strings.Contains(out.stdout, "because the name is taken\n") {
		t.Errorf("log without the reason:\n%s", out.stdout)
	}
	writeFile(t, filepath.Join(vault, "Old.md"), "old, and a person's line\n")
	b.do(t, "wait changed since")
	b.do(t, "press y")
	if p := b.do(t, "wait 1 suggestion accepted"); len(p.Errors) > 0 {
		t.Errorf("the page's scripts failed: %q", p.Errors)
	}
	if _, err := os.Stat(filepath.Join(vault, "Old.md")); !os.IsNotExist(err) {
		t.Errorf("the deletion was accepted, and the note is there: %v", err)
	}
}

// Other machines, other pages and other users of this machine get nothing.
func TestReviewPageIsPrivate(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", pageNotes)
	if out := s.run(t, "review", "--listen", "0.0.0.0:0", vault); out.code != 2 || !strings.Contains(out.stderr, "other machines") {
		t.Errorf("--listen 0.0.0.0: exit %d, %q", out.code, out.stderr)
	}
	address, token, _ := strings.Cut(s.reviewPage(t, vault), "#")
	tests := []struct {
		name, path string
		header     map[string]string // Host as well
		want       int
	}{
		{"the page itself", "", nil, 200},
		{"with the token", "api/suggestions", map[string]string{"Authorization": "Bearer " + token}, 200},
		{"without a token", "api/suggestions", nil, 401},
		{"a wrong token", "api/suggestions", map[string]string{"Authorization": "Bearer " + strings.ToLower(token)}, 401},
		{"the token in the query", "api/suggestions?token=" + token, nil, 401},
		{"another page", "api/suggestions", map[string]string{"Authorization": "Bearer " + token, "Origin": "http://example.org"}, 403},
		{"a page of no origin", "api/suggestions", map[string]string{"Authorization": "Bearer " + token, "Origin": "null"}, 403},
		{"a name rebound to this address", "", map[string]string{"Host": "example.org"}, 421},
		{"a name rebound, with the token", "api/suggestions", map[string]string{"Authorization": "Bearer " + token, "Host": "example.org:80"}, 421},
		{"a decision by GET", "api/decide", map[string]string{"Authorization": "Bearer " + token}, 405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range tt.header {
				req.Header.Set(k, v)
			}
			if host := tt.header["Host"]; host != "" {
				req.Host = host
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != tt.want {
				t.Errorf("status %d, want %d", res.StatusCode, tt.want)
			}
			if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("policy %q", policy)
			}
		})
	}
}
