package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// reviewAPI is the API of `relayfs review`, as it is documented.
type reviewAPI struct{ base, token string }

func startReviewAPI(t *testing.T, s *harness.Sandbox, vault string) reviewAPI {
	t.Helper()
	cmd := s.Command(t.Context(), "review", vault)
	out, err := cmd.StdoutPipe()
	if err == nil {
		cmd.Stderr = os.Stderr
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return reviewAPI{"http://" + u.Host + "/api", u.Fragment}
}

func (a reviewAPI) ask(t *testing.T, path string, body, answer any) {
	t.Helper()
	method, data := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		data, _ = json.Marshal(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, a.base+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", path, resp.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("%s: %v in %s", path, err, text)
	}
}

// doors decides on the suggestions of one vault, by one door or by any.
type doors struct {
	s       *harness.Sandbox
	vault   string
	api     reviewAPI
	any     bool
	batches []string
}

// made is what must stay the same of a suggestion.
type made struct{ id, time string }

func (d *doors) list(t *testing.T) []harness.Suggestion {
	t.Helper()
	return d.s.Suggestions(t, d.vault)
}

// decide decides on the nth suggestion by the page's API, in a terminal, or by a command.
func (d *doors) decide(t *testing.T, n int, verdict string, door int) {
	t.Helper()
	list := d.list(t)
	id := list[n].ID
	switch {
	case d.any && door == 0:
		var pending []struct{ ID, Revision string }
		d.api.ask(t, "/suggestions", nil, &pending)
		var out struct{ Batch string }
		for _, p := range pending {
			if p.ID == id {
				d.api.ask(t, "/decide", map[string]any{"shown": map[string]string{id: p.Revision}, "verdict": verdict + "ed"}, &out)
			}
		}
		d.batches = append(d.batches, out.Batch)
	case d.any && door == 1:
		x := harness.StartTerminal(t, d.s.Command(t.Context(), "suggestions", "review", d.vault))
		x.Shows(t, fmt.Sprintf("1 of %d", len(list)))
		x.Press(t, strings.Repeat("j", n))
		x.Shows(t, fmt.Sprintf("%d of %d", n+1, len(list)))
		x.Press(t, map[string]string{"accept": "y", "reject": "n"}[verdict])
		x.Shows(t, "1 suggestion "+verdict+"ed")
		x.Press(t, "q")
		x.Wait(t)
		d.batches = append(d.batches, d.newest(t))
	default:
		d.batches = append(d.batches, d.s.Decide(t, verdict, id, d.vault).Batch)
	}
}

// newest is the batch of the last decision.
func (d *doors) newest(t *testing.T) string {
	t.Helper()
	var log []struct{ Batch string }
	d.api.ask(t, "/journal?limit=1", nil, &log)
	return log[0].Batch
}

// undo takes back the nth of the batches that are left.
func (d *doors) undo(t *testing.T, n, door int) {
	t.Helper()
	batch := d.batches[n]
	d.batches = append(d.batches[:n:n], d.batches[n+1:]...)
	if d.any && door == 0 {
		var out struct{ Batch string }
		d.api.ask(t, "/undo", map[string]any{"batch": batch}, &out)
		return
	}
	d.s.Decide(t, "undo", batch, d.vault)
}

// TestDecisionsByEveryDoor: the same decisions and undos lead to the same bytes, whether each is made on the page, in a
// terminal or by a command; and a suggestion that is pending again has its id and time.
func TestDecisionsByEveryDoor(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { decideByEveryDoor(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func decideByEveryDoor(t *testing.T, r *rand.Rand) {
	const words = "one and two and three and four.\n\n- five and six\n- seven and eight\n"
	s := harness.NewSandbox(t)
	var both []*doors
	for _, name := range []string{"Any", "Command"} {
		m := s.Mount(t, s.Vault(t, name, map[string]string{"note.md": words}), "--author", "agent")
		harness.ReadFile(t, m.Path("note.md"))
		harness.WriteFile(t, m.Path("note.md"), strings.NewReplacer("one", "1", "two", "2 2", "and four", "", "five", "5", "- seven", "- 0\n- 7", "eight\n", "8\n\n9\n").Replace(words))
		both = append(both, &doors{s: s, vault: m.Vault, api: startReviewAPI(t, s, m.Vault), any: name == "Any"})
	}
	known := make(map[string]made)
	for i := range 9 {
		pending := both[0].list(t)
		for _, sg := range pending {
			is, key := made{sg.ID, sg.Time}, sg.Old+" > "+sg.New
			if old, ok := known[key]; ok && old != is {
				t.Errorf("step %d: %v was %v, is %v", i, sg, old, is)
			}
			known[key] = is
		}
		door, undo := r.IntN(3), len(pending) == 0 || len(both[0].batches) > 0 && r.IntN(3) == 0
		var what string
		if undo {
			n := r.IntN(len(both[0].batches))
			what = fmt.Sprintf("undo of %d by door %d", n, door)
			for _, d := range both {
				d.undo(t, n, door)
			}
		} else {
			n, verdict := r.IntN(len(pending)), []string{"accept", "reject"}[r.IntN(2)]
			what = fmt.Sprintf("%s of %v by door %d", verdict, pending[n], door)
			for _, d := range both {
				d.decide(t, n, verdict, door)
			}
		}
		if got, want := harness.ReadFile(t, both[0].vault+"/note.md"), harness.ReadFile(t, both[1].vault+"/note.md"); got != want {
			t.Fatalf("step %d, %s: %q, by commands alone %q", i, what, got, want)
		}
	}
}
