package mcpserver_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

const (
	raceClients = 8
	raceNotes   = 20
)

// raceNote has a counter for each client, one that all want, and one of a person.
func raceNote() string {
	var b strings.Builder
	b.WriteString("# Counters\n\nperson=0;\n\nshared=0;\n\n")
	for c := range raceClients {
		fmt.Fprintf(&b, "Some words before client%d=0; and after.\n\n", c)
	}
	return b.String()
}

// race is what the test knows of one note.
type race struct {
	path string

	mu     sync.RWMutex // held by a person between reading and saving
	person int

	counted sync.Mutex // protects the following
	own     [raceClients]int
	shared  int
}

// Clients edit the same notes while a person does. Every edit that succeeds is in
// the text, at its place and once; every one that fails says why; and what the
// person wrote stays.
func TestConcurrentEdits(t *testing.T) {
	edits := 1000
	if !need.Everything() {
		edits = 200
	}
	files := make(map[string]string)
	races := make([]*race, raceNotes)
	for i := range races {
		races[i] = &race{path: fmt.Sprintf("V/note %d.md", i)}
		files[races[i].path] = raceNote()
	}
	f, srv := serve(t, files)
	done := make(chan struct{})
	var persons, clients sync.WaitGroup
	persons.Go(func() {
		rnd := rand.New(rand.NewPCG(1, 99))
		for {
			select {
			case <-done:
				return
			default:
			}
			r := races[rnd.IntN(raceNotes)]
			r.mu.Lock()
			old := fmt.Sprintf("person=%d;", r.person)
			r.person++
			f.Person(r.path, strings.Replace(f.SourceText(r.path), old, fmt.Sprintf("person=%d;", r.person), 1))
			r.mu.Unlock()
		}
	})
	for c := range raceClients {
		clients.Go(func() { raceClient(t, srv, races, c, edits/raceClients) })
	}
	clients.Wait()
	close(done)
	persons.Wait()
	for _, r := range races {
		checkRace(t, r, f.SourceText(r.path))
	}
}

// raceClient makes n edits, each of its own counter or of the shared one.
func raceClient(t *testing.T, srv *mcpserver.Server, races []*race, c, n int) {
	rnd := rand.New(rand.NewPCG(2, uint64(c)))
	client := connect(t, srv, fmt.Sprintf("client-%d", c))
	read := make(map[*race]bool)
	for range n {
		r := races[rnd.IntN(raceNotes)]
		if !read[r] {
			if text, isError := client.callTool("read", map[string]any{"file_path": r.path}); isError {
				t.Errorf("read: %s", text)
			}
			read[r] = true
		}
		r.mu.RLock()
		if rnd.IntN(3) == 0 {
			raceShared(t, client, r)
		} else {
			raceOwn(t, client, r, c)
		}
		r.mu.RUnlock()
	}
}

func raceEdit(client *rpc, r *race, counter string, from int) (text string, isError bool) {
	return client.callTool("edit", map[string]any{
		"file_path": r.path, "old_string": fmt.Sprintf("%s=%d;", counter, from), "new_string": fmt.Sprintf("%s=%d;", counter, from+1),
	})
}

// raceOwn counts what nobody else does: it must succeed.
func raceOwn(t *testing.T, client *rpc, r *race, c int) {
	text, isError := raceEdit(client, r, fmt.Sprintf("client%d", c), r.own[c])
	if isError {
		t.Errorf("%s: client %d: %s", r.path, c, text)
		return
	}
	r.own[c]++
}

// raceShared counts what the others may be counting too: then it fails and says
// that the text is not there, or not any more.
func raceShared(t *testing.T, client *rpc, r *race) {
	r.counted.Lock()
	from := r.shared
	r.counted.Unlock()
	text, isError := raceEdit(client, r, "shared", from)
	if isError {
		if !strings.Contains(text, "old_string not found") && !strings.Contains(text, "has changed since you read it: old_string was on line") {
			t.Errorf("%s: %s", r.path, text)
		}
		return
	}
	r.counted.Lock()
	r.shared++
	r.counted.Unlock()
}

func checkRace(t *testing.T, r *race, raw string) {
	t.Helper()
	want := strings.Replace(raceNote(), "person=0;", fmt.Sprintf("person=%d;", r.person), 1)
	if got := diffwrap.Everything.Original(raw); got != want {
		t.Errorf("%s: what people wrote is\n%s\nwant\n%s", r.path, got, want)
	}
	want = strings.Replace(want, "shared=0;", fmt.Sprintf("shared=%d;", r.shared), 1)
	for c, n := range r.own {
		want = strings.Replace(want, fmt.Sprintf("client%d=0;", c), fmt.Sprintf("client%d=%d;", c, n), 1)
	}
	if got := diffwrap.Everything.Accepted(raw); got != want {
		t.Errorf("%s: the text is\n%s\nwant\n%s", r.path, got, want)
	}
}

// Patches of one file that is not a note follow each other: none undoes another.
func TestConcurrentPatchesOfAFile(t *testing.T) {
	const path, each = "V/race.base", 10
	var text strings.Builder
	for c := range raceClients {
		fmt.Fprintf(&text, "client%d: 0\n", c)
	}
	for _, mode := range []bridge.Mode{bridge.Suggest, bridge.Direct} {
		f := bridgetest.New(t, map[string]string{path: text.String()}, func(o *bridge.Options) { o.Mode = mode })
		approve := mcpserver.Approvals{"update": "auto"}
		srv := mcpserver.New(f.Workspace, mcpserver.Options{Toolsets: []string{"content"}, Approve: approve})
		t.Cleanup(srv.Close)
		var clients sync.WaitGroup
		for c := range raceClients {
			client := newTools(t, srv)
			clients.Go(func() {
				for n := 0; n < each; {
					res := client.call("patch_content", "entity_type", "base", "path", path,
						"old_string", fmt.Sprintf("client%d: %d\n", c, n), "new_string", fmt.Sprintf("client%d: %d\n", c, n+1))
					if !res.IsError {
						n++
					} else if !strings.Contains(res.Text[0], "changes too often") {
						t.Errorf("mode %v: %s", mode, res.Text)
						return
					}
				}
			})
		}
		clients.Wait()
		got := newTools(t, srv).ok("get_content", "entity_type", "base", "path", path)
		for c := range raceClients {
			if want := fmt.Sprintf(`client%d: %d\n`, c, each); !strings.Contains(got, want) {
				t.Errorf("mode %v: %s is not in %s", mode, want, got)
			}
		}
	}
}
