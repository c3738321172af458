package page

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What was decided at once is taken back one by one, where it stands and in the history, or what is left of it at once.
func TestOneOfManyIsTakenBack(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	const pending = "One {--a--}{++b++} here.\n\nTwo {--c--}{++d++} here.\n\nThree {--e--}{++f++} and {--g--}{++h++} here.\n"
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"A.md": pending, "B.md": "Other {--x--}{++y++}.\n"}))
	note := func(want string) {
		t.Helper()
		harness.FileBecomes(t, m.VaultPath("A.md"), want)
	}
	b := openPage(t, reviewPage(t, s))
	b.do(t, "wait 5 pending suggestions")
	b.do(t, "wait Accept 4 in this note")
	b.do(t, "press A")
	b.do(t, "wait 4 suggestions accepted")
	note("One b here.\n\nTwo d here.\n\nThree f and h here.\n")
	b.do(t, "beside Three > Undo: e → f")
	b.do(t, "wait taken back: e → f")
	note("One b here.\n\nTwo d here.\n\nThree {--e--}{++f++} and h here.\n")
	p := b.do(t, "wait 2 pending suggestions")
	for label, want := range map[string]int{"Undo all 3": 3, "Undo all 4": 0} { // beside each of the three paragraphs
		n := 0
		for _, l := range p.Buttons {
			if l == label {
				n++
			}
		}
		if n != want {
			t.Errorf("%d buttons %s, want %d: %q", n, label, want, p.Buttons)
		}
	}
	b.do(t, "press y") // it has the focus
	b.do(t, "wait 1 suggestion accepted")
	b.do(t, "beside Two > Undo: c → d")
	b.do(t, "wait taken back: c → d")
	note("One b here.\n\nTwo {--c--}{++d++} here.\n\nThree f and h here.\n")

	// Elsewhere one of them is taken back: the page forgets that alone.
	var id string
	if log := s.Run(t, "suggestions", "log"); log.Code == 0 {
		for line := range strings.Lines(log.Stdout) {
			if strings.Contains(line, "{--a--}{++b++}") {
				id = strings.Fields(line)[1]
			}
		}
	}
	s.Decide(t, "undo", id)
	b.do(t, "wait 3 pending suggestions")
	note("One {--a--}{++b++} here.\n\nTwo {--c--}{++d++} here.\n\nThree f and h here.\n")
	b.do(t, "press u")
	b.do(t, "wait taken back: 1 suggestion accepted in Vault/A.md")
	b.do(t, "press u")
	b.do(t, "wait taken back: what is left of 4 suggestions accepted in Vault/A.md")
	note(pending)

	b.do(t, "press R")
	b.do(t, "wait 4 suggestions rejected")
	b.do(t, "press h")
	b.do(t, "wait taken back")
	b.do(t, "beside rejected > Take back: rejected: c → d")
	b.do(t, "wait taken back: rejected: c → d")
	note("One a here.\n\nTwo {--c--}{++d++} here.\n\nThree e and g here.\n")
	b.do(t, "beside rejected > Take back 3: rejected in Vault/A.md")
	b.do(t, "wait taken back: rejected in Vault/A.md")
	note(pending)
}

// Each press of u takes back a decision, even while relayfs has not answered to the one before.
func TestUndoInAHurry(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	const pending = "One {--a--}{++b++} here.\n\nTwo {--c--}{++d++} here.\n\nThree {--e--}{++f++} here.\n\nFour {--g--}{++h++} here.\n"
	vault := s.Vault(t, "Vault", map[string]string{"A.md": pending})
	b := openPage(t, reviewPage(t, s, vault))
	b.do(t, "wait 4 pending suggestions")
	b.do(t, "wait Accept 4 in this note")
	b.do(t, "keys yyyy")
	harness.FileBecomes(t, filepath.Join(vault, "A.md"), "One b here.\n\nTwo d here.\n\nThree f here.\n\nFour h here.\n")
	b.do(t, "wait 0 pending suggestions")
	b.do(t, "hold /undo")
	b.do(t, "keys uuuu")
	b.do(t, "release")
	b.do(t, "wait 4 pending suggestions")
	harness.FileBecomes(t, filepath.Join(vault, "A.md"), pending)
}

// Programs take back suggestions by their ids, each once, and the journal says which were.
func TestAPITakesBackByID(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"A.md": "One {--a--}{++b++}.\n\nTwo {--c--}{++d++}.\n\nThree {--e--}{++f++}.\n"}))
	reviewPage(t, s)
	a := newAPI(t, s)
	var list []apiSuggestion
	a.ask("GET", "/suggestions", nil, &list)
	shown := make(map[string]string)
	for _, x := range list {
		shown[x.ID] = x.Revision
	}
	var decided, out struct {
		Batch string
		Notes int
	}
	a.ask("POST", "/decide", map[string]any{"shown": shown, "verdict": "accepted"}, &decided)
	a.ask("POST", "/undo", map[string]any{"ids": []string{list[1].ID}}, &out)
	harness.FileBecomes(t, m.VaultPath("A.md"), "One b.\n\nTwo {--c--}{++d++}.\n\nThree f.\n")
	if status, text := a.send("POST", "/undo", map[string]any{"ids": []string{list[1].ID}}); status != http.StatusGone || !strings.Contains(text, "has already been undone") {
		t.Errorf("once more: %d %s", status, text)
	}
	if status, text := a.send("POST", "/undo", map[string]any{"ids": []string{list[0].ID, list[1].ID}}); status != http.StatusGone {
		t.Errorf("with another: %d %s", status, text)
	}
	if status, text := a.send("POST", "/undo", map[string]any{"ids": []string{""}}); status != http.StatusBadRequest {
		t.Errorf("an empty id: %d %s", status, text)
	}
	undone := func() (ids []string, all bool) {
		var log []struct {
			Batch       string
			Undone      bool
			Suggestions []struct {
				ID     string
				Undone bool
			}
		}
		a.ask("GET", "/journal?limit=50", nil, &log)
		for _, x := range log {
			if x.Batch == decided.Batch {
				for _, sg := range x.Suggestions {
					if sg.Undone {
						ids = append(ids, sg.ID)
					}
				}
				all = x.Undone
			}
		}
		return ids, all
	}
	if ids, all := undone(); len(ids) != 1 || ids[0] != list[1].ID || all {
		t.Errorf("undone %q, %v, want %s", ids, all, list[1].ID)
	}
	a.ask("POST", "/undo", map[string]any{"batch": decided.Batch, "ids": []string{list[0].ID}}, &out)
	a.ask("POST", "/undo", map[string]any{"batch": decided.Batch}, &out)
	if ids, all := undone(); len(ids) != 3 || !all || out.Notes != 1 {
		t.Errorf("in the end %q, %v, %+v", ids, all, out)
	}
}
