package page

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

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// shownPage is what tests/review-page/open.mjs says that the page shows.
type shownPage struct {
	Count, Message, Focused, Typed    string
	Places                            []string // of the queue; "" for the proposals
	Open, Badge                       string   // one of them, and what its title says beside the name
	Suggestions, Comments, Buttons    []string // of what is open
	Gists                             []string // what its cards say that they are about
	Who                               []string // may be chosen
	Listed                            string   // the one in the queue that has the focus
	Card, Row                         string   // text beside the card that has the focus, and the first one with changes that is in sight
	CardAt, RowAt, NoteAt, MessageAt  struct{ Top, Bottom float64 }
	Active                            int // elements that could do something
	RightToLeft                       int // texts that are read so
	Scrolled, Height, Overflow, Hints float64
	Question                          string   // that waits for an answer
	Failed                            string   // why the line could not be carried out
	Errors                            []string // so far
	Findings                          []string // of axe-core, when it was asked last
	Broken                            []string // numbers that a line break divides, when that was asked last
	Images                            []string // of the note: alternative text, width of the file, width on the page
	Formulas, Callouts                []string // of the note
	Small                             []string // in a narrow window, what is too small for a finger
	Measured                          struct {
		Ready, Memory, Bytes float64   // ms, MB
		Decided              []float64 // ms, each
	}
}

// reviewPage starts `relayfs review` and returns the address that it prints.
func reviewPage(t *testing.T, s *harness.Sandbox, args ...string) string {
	t.Helper()
	cmd := s.Command(context.Background(), append([]string{"review"}, args...)...)
	address := startPage(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("relayfs review: %v", err)
		}
	})
	return address
}

func startPage(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

var pageNotes = map[string]string{
	"Apples.md": "We sell {--one--}{++two++} apples.\n\nAnd {++green ++}{>>why <b>green</b>?<<}pears.\n\n<script>alert(1)</script> no {--plums--}{++<i>damsons</i>++} today.\n",
	"Bread.md":  "The {--oven--}{++kiln++} is hot.\n",
}

// A person accepts, edits, rejects and takes back on the page, sees what others
// change meanwhile, and the vault's files are as they must be.
func TestReviewPage(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", pageNotes)
	apples, bread := filepath.Join(vault, "Apples.md"), filepath.Join(vault, "Bread.md")
	b := openPage(t, reviewPage(t, s, vault))

	p := b.do(t, "wait 4 pending suggestions")
	if want := []string{"Vault/Apples.md", "Vault/Bread.md"}; !slices.Equal(p.Places, want) || p.Open != want[0] {
		t.Errorf("places %q, want %q; %q is open", p.Places, want, p.Open)
	}
	if len(p.Suggestions) != 3 || !strings.HasPrefix(p.Suggestions[0], "We sell {--one--}{++two++} apples.") ||
		!strings.Contains(p.Suggestions[2], "<script>alert(1)</script> no {--plums--}{++<i>damsons</i>++} today.") {
		t.Errorf("suggestions %q", p.Suggestions)
	}
	if p.Active != 0 || !slices.Equal(p.Comments, []string{"why <b>green</b>?"}) {
		t.Errorf("%d active elements came in with the notes; comments %q", p.Active, p.Comments)
	}

	b.do(t, "press y")
	b.do(t, "wait 3 pending suggestions")
	b.do(t, "wait 1 suggestion accepted")
	harness.FileBecomes(t, apples, strings.Replace(pageNotes["Apples.md"], "{--one--}{++two++}", "two", 1))
	b.do(t, "press e")
	if p := b.do(t, "type ripe "); p.Focused != "TEXTAREA" {
		t.Errorf("editing, the focus is on %s, want %s", p.Focused, "TEXTAREA")
	}
	b.do(t, "press Control+Enter")
	b.do(t, "wait accepted as you wrote it")
	harness.CheckText(t, "after editing", harness.ReadFile(t, apples),
		"We sell two apples.\n\nAnd ripe pears.\n\n<script>alert(1)</script> no {--plums--}{++<i>damsons</i>++} today.\n")
	b.do(t, "press n")
	b.do(t, "wait 1 suggestion rejected")
	b.do(t, "press u")
	b.do(t, "wait taken back: 1 suggestion rejected in Vault/Apples.md")
	b.do(t, "wait 2 pending suggestions")

	harness.WriteFile(t, bread, pageNotes["Bread.md"]+"And {++a live++} line.\n")
	b.do(t, "wait 3 pending suggestions")
	b.do(t, "press /")
	b.do(t, "type bread")
	if p := b.do(t, "wait a live"); !slices.Equal(p.Places, []string{"Vault/Bread.md"}) || p.Count != "2 of 3 pending" {
		t.Errorf("filtered: %+v", p)
	}
	b.do(t, "press Enter")
	b.do(t, "press A")
	b.do(t, "wait 2 suggestions accepted")
	harness.CheckText(t, "after accepting a note", harness.ReadFile(t, bread), "The kiln is hot.\nAnd a live line.\n")
}

// The page of a vault that another process serves works through that process.
func TestReviewPageOfAMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", pageNotes)
	s.Mount(t, vault)
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 4 pending suggestions")
	b.do(t, "click Reject 3 in this note")
	b.do(t, "wait 1 pending suggestion")
	harness.FileBecomes(t, filepath.Join(vault, "Apples.md"), "We sell one apples.\n\nAnd pears.\n\n<script>alert(1)</script> no plums today.\n")
}

// Proposals read as in the list, one that is stale is accepted when the person
// says so, and a reason reaches the log.
func TestReviewPageOfProposals(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Old.md": "old\n", "Plan.md": "plan\n", "Sub/a.md": "a\n"})
	m := s.Mount(t, vault)
	for _, err := range []error{
		os.Rename(m.Path("Plan.md"), m.Path("Sub/Goal.md")),
		os.Remove(m.Path("Old.md")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := openPage(t, reviewPage(t, s))
	p := b.do(t, "wait 2 pending suggestions")
	if want := []string{"Vault/Plan.md: rename to Vault/Sub/Goal.md", "Vault/Old.md: delete{--old--}"}; !slices.Equal(p.Suggestions, want) {
		t.Errorf("proposals read %q, want %q", p.Suggestions, want)
	}
	b.do(t, "press e") // a proposal has no text to edit
	b.do(t, "press r")
	if p := b.do(t, "type  the name is\ttaken "); p.Focused != "INPUT" {
		t.Errorf("giving a reason, the focus is on %s, want %s", p.Focused, "INPUT")
	}
	b.do(t, "press Enter")
	b.do(t, "wait 1 suggestion rejected")
	if out := s.Run(t, "suggestions", "log"); !strings.Contains(out.Stdout, "because the name is taken\n") {
		t.Errorf("log without the reason:\n%s", out.Stdout)
	}
	harness.WriteFile(t, filepath.Join(vault, "Old.md"), "old, and a person's line\n")
	b.do(t, "wait changed since")
	b.do(t, "press y") // it is not what was shown: the key is not for it yet
	b.do(t, "press y")
	b.do(t, "press Enter") // yes
	b.do(t, "wait 1 suggestion accepted")
	if _, err := os.Stat(filepath.Join(vault, "Old.md")); !os.IsNotExist(err) {
		t.Errorf("the deletion was accepted, and the note is there: %v", err)
	}
}

// askPage asks the review page at an address, which has the token, as its own script
// does: by POST if there is a body.
func askPage(t *testing.T, page, path, body string) (status int, answer string) {
	t.Helper()
	address, token, _ := strings.Cut(page, "#")
	method, reader := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, reader = http.MethodPost, strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address+"api"+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// Other machines, other pages and other users of this machine get nothing.
func TestReviewPageIsPrivate(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", pageNotes)
	address, token, _ := strings.Cut(reviewPage(t, s, vault), "#")
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("the page is at %s, which other machines may reach", address)
	}
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

func TestReviewPageIsCompressed(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	address, _, _ := strings.Cut(reviewPage(t, s, s.Vault(t, "Vault", pageNotes)), "#")
	res, err := http.Get(address + "page.js")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if script, err := io.ReadAll(res.Body); err != nil || !res.Uncompressed || !strings.Contains(string(script), "drawQueue") {
		t.Errorf("%.60q, compressed %v, %v", script, res.Uncompressed, err)
	}
}

// What the filter hides is not decided on, whoever decides on the note.
func TestReviewPageDecidesWhatTheFilterShows(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "One line.\n\nAnother line.\n"})
	s.Mount(t, vault)
	for author, edit := range map[string][2]string{"ann": {"One", "First"}, "bob": {"Another", "Second"}} {
		if out := s.Run(t, "edit", "--author", author, "Vault/Plan.md", "--old", edit[0], "--new", edit[1]); out.Code != 0 {
			t.Fatal(out.Stderr)
		}
	}
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 2 pending suggestions")
	b.do(t, "press /")
	if p := b.do(t, "type ann"); p.Count != "1 of 2 pending" || len(p.Suggestions) != 1 {
		t.Errorf("filtered: %+v", p)
	}
	b.do(t, "press Enter")
	b.do(t, "press A")
	b.do(t, "wait 1 suggestion accepted")
	b.do(t, "wait Nothing that the filter shows is pending; 1 other waits.")
	raw := harness.ReadFile(t, filepath.Join(vault, "Plan.md"))
	if !strings.HasPrefix(raw, "First line.") || !strings.Contains(raw, "{++Second++}") {
		t.Errorf("the note: %q", raw)
	}
}

// A key is for the card that has the focus and is in sight. If none is, it decides
// nothing.
func TestReviewPageKeysMeanTheFocusedCard(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	note := ""
	for i := range 30 {
		note += fmt.Sprintf("Line %02d {++added++}\n\n\n\n", i)
	}
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": note})
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 30 pending suggestions")
	after := strings.Replace(note, "Line 03 {++added++}", "Line 03 added", 1)
	if p := b.do(t, "focus Line 03"); !strings.Contains(p.Card, "Line 03") {
		t.Fatalf("the focus is in %q", p.Card)
	}
	b.do(t, "press y")
	b.do(t, "wait 29 pending suggestions")
	harness.FileBecomes(t, filepath.Join(vault, "Note.md"), after)

	b.do(t, "scroll bottom")
	if p := b.do(t, "press y"); !strings.Contains(p.Card, "Line 04") {
		t.Errorf("the focus is in %q", p.Card)
	}
	if p := b.do(t, "press j"); !strings.Contains(p.Card, "Line 05") { // the key before has had its effect
		t.Errorf("the focus is in %q", p.Card)
	}
	if got := s.Run(t, "suggestions", "list", vault); !strings.Contains(got.Stdout, "29 pending") {
		t.Errorf("a card out of sight was decided:\n%s", got.Stdout)
	}
	b.do(t, "press y")
	b.do(t, "wait 28 pending suggestions")
	harness.FileBecomes(t, filepath.Join(vault, "Note.md"), strings.Replace(after, "Line 05 {++added++}", "Line 05 added", 1))
}

// Of more suggestions than are drawn at a time, and of proposals behind them, each
// can be reached, and none is decided before it was drawn.
func TestReviewPageReachesEverything(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	note := ""
	for i := range 600 {
		note += fmt.Sprintf("- item %03d {++added++}\n", i)
	}
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": note, "Old.md": "old\n", "Plan.md": "plan\n"})
	m := s.Mount(t, vault)
	for _, err := range []error{os.Remove(m.Path("Old.md")), os.Rename(m.Path("Plan.md"), m.Path("Goal.md"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 602 pending suggestions")
	p := b.do(t, "wait rename to")
	if want := []string{"", "Vault/Note.md"}; !slices.Equal(p.Places, want) || len(p.Suggestions) != 2 {
		t.Fatalf("places %q, want %q; drawn %q", p.Places, want, p.Suggestions)
	}
	b.do(t, "press j")
	b.do(t, "press j") // on into the note
	p = b.do(t, "wait item 599")
	if p.Open != "Vault/Note.md" || len(p.Suggestions) != 600 || !strings.Contains(p.Card, "item 000") {
		t.Fatalf("%s is open with %d suggestions, the focus is in %q", p.Open, len(p.Suggestions), p.Card)
	}
	b.do(t, "press k") // and back
	if p = b.do(t, "wait rename to"); p.Open != "" || len(p.Suggestions) != 2 {
		t.Errorf("one before the note: %q is open, with %q", p.Open, p.Suggestions)
	}
	b.do(t, "press j")
	b.do(t, "wait item 599")
	b.do(t, "focus item 499")
	for range 5 {
		p = b.do(t, "press j")
	}
	if !strings.Contains(p.Card, "item 504") || p.CardAt.Top < p.NoteAt.Top || p.CardAt.Bottom > p.NoteAt.Bottom {
		t.Errorf("five on, the focus is in %q at %v, seen is %v", p.Card, p.CardAt, p.NoteAt)
	}
	b.do(t, "press y")
	b.do(t, "wait 601 pending suggestions")
	want := strings.Replace(note, "item 504 {++added++}", "item 504 added", 1)
	harness.FileBecomes(t, m.VaultPath("Note.md"), want)

	// The note's buttons mean what is shown of it.
	b.do(t, "click Reject 599 in this note")
	if p = b.do(t, "wait Reject 599 suggestions in"); p.Question != "Reject 599 suggestions in Vault/Note.md?" {
		t.Errorf("asked %q", p.Question)
	}
	b.do(t, "press Escape")
	if p = b.do(t, "press n"); p.Question != "" || p.Count != "601 pending suggestions" { // the key brings the focus back only
		t.Errorf("after no: asked %q, %s", p.Question, p.Count)
	}
	b.do(t, "click Reject 599 in this note")
	b.do(t, "press Enter")
	b.do(t, "wait 599 suggestions rejected")
	if got := strings.Count(harness.ReadFile(t, m.VaultPath("Note.md")), "added"); got != 1 {
		t.Errorf("%d are accepted or pending, want 1", got)
	}
	b.do(t, "press /")
	b.do(t, "type delete")
	b.do(t, "wait Old.md: delete")
	b.do(t, "press Enter")
	b.do(t, "press y")
	b.do(t, "wait 1 suggestion accepted")
	if _, err := os.Stat(m.VaultPath("Old.md")); !os.IsNotExist(err) {
		t.Errorf("the deletion was accepted, and the note is there: %v", err)
	}
}

// Undo takes back what was decided in this tab, by name, also after a reload; not
// what another tab or the command line decided, and no change of front matter.
func TestReviewPageUndoesItsOwn(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"A.md": "a {++one++}\n", "B.md": "b {++two++}\n", "C.md": "c {++three++}\n", "D.md": "---\nk: v\n---\nd {++four++}\n",
	})
	m := s.Mount(t, vault)
	text := func(name string) string { return harness.ReadFile(t, m.VaultPath(name)) }
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 4 pending suggestions")
	b.do(t, "press y") // A, in the first tab
	b.do(t, "wait 1 suggestion accepted")
	b.do(t, "tab 2")
	b.do(t, "wait 3 pending suggestions")
	b.do(t, "press u")
	b.do(t, "wait nothing to take back here")
	harness.CheckText(t, "what the other tab decided", text("A.md"), "a one\n")
	b.do(t, "press y") // B, in the second tab
	b.do(t, "wait 2 pending suggestions")
	var id string
	for _, x := range s.Suggestions(t, vault) {
		if x.Path == "Vault/C.md" {
			id = x.ID
		}
	}
	if out := s.Run(t, "suggestions", "accept", id, vault); out.Code != 0 { // C, on the command line
		t.Fatal(out.Stderr)
	}
	harness.WriteFile(t, m.Path("D.md"), strings.Replace(harness.ReadFile(t, m.Path("D.md")), "k: v", "k: w", 1)) // an agent's front matter

	b.do(t, "tab 1")
	b.do(t, "wait 1 pending suggestion")
	b.do(t, "reload")
	b.do(t, "press u")
	b.do(t, "wait taken back: 1 suggestion accepted in Vault/A.md")
	b.do(t, "wait 2 pending suggestions")
	b.do(t, "press u")
	b.do(t, "wait nothing to take back here")
	for name, want := range map[string]string{"A.md": "a {++one++}\n", "B.md": "b two\n", "C.md": "c three\n", "D.md": "---\nk: w\n---\nd {++four++}\n"} {
		harness.CheckText(t, name, text(name), want)
	}
	b.do(t, "tab 2")
	b.do(t, "press u")
	b.do(t, "wait taken back: 1 suggestion accepted in Vault/B.md")
	harness.CheckText(t, "B.md", text("B.md"), "b {++two++}\n")

	// The history names what others did, front matter too, and takes back what one names.
	b.do(t, "click History")
	b.do(t, "wait k: vk: w")
	b.do(t, "beside k: vk: w > Take back")
	b.do(t, "wait taken back: properties changed in Vault/D.md")
	harness.CheckText(t, "D.md", text("D.md"), "---\nk: v\n---\nd {++four++}\n")
	b.do(t, "beside Vault/C.md > Take back")
	b.do(t, "wait taken back: accepted in Vault/C.md")
	harness.CheckText(t, "C.md", text("C.md"), "c {++three++}\n")
}

// The page's API decides on what was shown and on nothing else, and takes back only
// what is named.
func TestReviewPageDecidesWhatWasShown(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Old.md": "old\n", "Note.md": "a {++word++}\n"})
	m := s.Mount(t, vault)
	if err := os.Remove(m.Path("Old.md")); err != nil {
		t.Fatal(err)
	}
	page := reviewPage(t, s, vault)
	api := func(path, body string) (int, string) {
		t.Helper()
		return askPage(t, page, path, body)
	}
	shown := make(map[string]string)
	var list []struct{ ID, Revision, Kind string }
	_, text := api("/suggestions", "")
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, x := range list {
		shown[x.ID] = x.Revision
	}
	all, _ := json.Marshal(shown)
	// A person changes what is to be deleted: the proposal is another one now.
	harness.WriteFile(t, m.VaultPath("Old.md"), "old, and a person's line\n")
	harness.Eventually(t, harness.StartTimeout, func() error {
		if _, text := api("/suggestions", ""); !strings.Contains(text, `"stale":true`) {
			return fmt.Errorf("not stale: %s", text)
		}
		return nil
	})
	for name, tt := range map[string]struct {
		path, body string
		want       int
	}{
		"no more as shown":       {"/decide", fmt.Sprintf(`{"verdict":"accepted","force":true,"shown":%s}`, all), http.StatusConflict},
		"never shown":            {"/decide", fmt.Sprintf(`{"verdict":"accepted","ids":[%q]}`, list[0].ID), http.StatusBadRequest},
		"unknown":                {"/decide", `{"verdict":"accepted","shown":{"0123456789":"x"}}`, http.StatusConflict},
		"the newest, whatever":   {"/undo", `{}`, http.StatusBadRequest},
		"taken back or no batch": {"/undo", `{"batch":"20200101T000000.000-abcd"}`, http.StatusGone},
	} {
		if code, text := api(tt.path, tt.body); code != tt.want {
			t.Errorf("%s: %d %s, want %d", name, code, text, tt.want)
		}
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("Note.md")), "a {++word++}\n")
	harness.CheckText(t, "the other", harness.ReadFile(t, m.VaultPath("Old.md")), "old, and a person's line\n")
}

// Decisions in two tabs and on the command line at once: each suggestion is decided
// once, and the page shows what is left.
func TestReviewPageBesideOthers(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for i := range 24 {
		files[fmt.Sprintf("N%02d.md", i)] = "a {--b--}{++c++} d\n"
	}
	vault := s.Vault(t, "Vault", files)
	s.Mount(t, vault)
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "tab 2")
	list := s.Suggestions(t, vault)
	commands := make(chan harness.Output)
	go func() {
		for _, x := range list[16:] {
			commands <- s.Run(t, "suggestions", "accept", x.ID, vault)
		}
		close(commands)
	}()
	for i := range 8 {
		b.do(t, fmt.Sprintf("tab %d", i%2+1))
		b.do(t, "press y")
	}
	for out := range commands {
		if out.Code != 0 {
			t.Error(out.Stderr)
		}
	}
	harness.Eventually(t, harness.StartTimeout, func() error {
		log := s.Run(t, "suggestions", "log", "--json", "--limit", "1000", vault)
		var entries []struct{ Suggestions []struct{ ID string } }
		if err := json.Unmarshal([]byte(log.Stdout), &entries); err != nil {
			return err
		}
		seen := make(map[string]bool)
		for _, e := range entries {
			for _, x := range e.Suggestions {
				if seen[x.ID] {
					t.Fatalf("%s was decided twice:\n%s", x.ID, log.Stdout)
				}
				seen[x.ID] = true
			}
		}
		want := plural(len(list)-len(seen), "pending suggestion")
		for _, tab := range []string{"tab 1", "tab 2"} {
			if p := b.do(t, tab); p.Count != want {
				return fmt.Errorf("%s shows %q, want %q", tab, p.Count, want)
			}
		}
		return nil
	})
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A page that is open finds its way back: to the vault's next owner, and to the
// next `relayfs review`.
func TestReviewPageComesBack(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", pageNotes))
	var b *browser
	review := s.Command(context.Background(), "review", m.Vault)
	first := startPage(t, review)
	t.Cleanup(func() { // of a test that ends early, too
		_ = review.Process.Kill()
		_ = review.Wait()
	})
	b = openPage(t, first)
	b.do(t, "wait 4 pending suggestions")
	m.Stop(t)
	b.do(t, "wait has ended")
	m = s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
	harness.WriteFile(t, m.VaultPath("Bread.md"), "The oven is hot.\n")
	if p := b.do(t, "wait 3 pending suggestions"); p.Message != "" {
		t.Errorf("it still says %q", p.Message)
	}

	_ = review.Process.Signal(syscall.SIGTERM)
	_ = review.Wait()
	b.do(t, "wait start it again")
	if again := reviewPage(t, s, m.Vault); again != first {
		t.Errorf("the page is at %s, and was at %s", again, first)
	}
	harness.WriteFile(t, m.VaultPath("Bread.md"), "The {++old ++}oven is hot.\n")
	b.do(t, "wait 4 pending suggestions")
	b.do(t, "press y")
	b.do(t, "press y")
	b.do(t, "wait accepted")
}

// The review page's address stays, and what it answers comes from whoever serves
// the vault.
func TestReviewPageOutlivesItsOwner(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", harness.ReviewNotes))
	address := reviewPage(t, s, m.Vault)
	if code, body := askPage(t, address, "/suggestions", ""); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	m.Stop(t)
	if code, body := askPage(t, address, "/suggestions", ""); code == http.StatusOK || !strings.Contains(body, "has ended") {
		t.Errorf("without an owner: %d %s", code, body)
	}
	s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
	if code, body := askPage(t, address, "/suggestions", ""); code != http.StatusOK || !strings.Contains(body, "damsons") {
		t.Errorf("with the next owner: %d %s", code, body)
	}
}

// A page that is started again is where it was, for the page that is still open in
// a browser; another vault's is elsewhere, and so is a second one of the same.
func TestReviewPageStaysWhereItWas(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", harness.ReviewNotes)
	other := s.Vault(t, "Other", map[string]string{"a.md": "{++a++}\n"})
	var first string
	t.Run("first", func(t *testing.T) { first = reviewPage(t, s, vault) })
	again := reviewPage(t, s, vault)
	if again != first {
		t.Errorf("the page is at %s, and was at %s", again, first)
	}
	if elsewhere := reviewPage(t, s, other); elsewhere == first {
		t.Errorf("the pages of two vaults are both at %s", first)
	}
	second := reviewPage(t, s, vault)
	if host, _, _ := strings.Cut(second, "#"); strings.HasPrefix(first, host) {
		t.Errorf("two pages at %s", host)
	}
}
