package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const (
	raceClients = 8 // half of them over HTTP, half on stdio
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
	name string // in the vault

	mu     sync.RWMutex // held by the person between reading and saving
	person int

	counted sync.Mutex // protects the following
	own     [raceClients]int
	shared  int
}

// raceCaller calls a tool for one client.
type raceCaller func(tool string, args ...any) harness.ToolResult

// Eight clients of the built program, attached and over HTTP, edit twenty notes
// while a person does. Every edit that succeeds is in the text, at its place and
// once; every one that fails says why; and what the person wrote stays.
func TestMCPConcurrentEdits(t *testing.T) {
	t.Parallel()
	edits := 600
	if os.Getenv("RELAYFS_SOAK") != "" {
		edits = 20_000
	}
	seed := randomtest.New(t).Uint64()
	s := harness.NewSandbox(t)
	races, files := make([]*race, raceNotes), make(map[string]string)
	for i := range races {
		races[i] = &race{name: fmt.Sprintf("note %d.md", i)}
		files[races[i].name] = raceNote()
	}
	vault := s.Vault(t, "Vault", files)
	h := serveHTTP(t, s, vault)
	done := make(chan struct{})
	var person, clients sync.WaitGroup
	person.Go(func() { racePerson(t, rand.New(rand.NewPCG(seed, raceClients)), vault, races, done) })
	for c := range raceClients {
		call := h.caller(t)
		if c%2 == 0 {
			stdio := s.MCP(t, vault)
			call = func(tool string, args ...any) harness.ToolResult { return stdio.Call(t, tool, args...) }
		}
		clients.Go(func() { raceClient(t, rand.New(rand.NewPCG(seed, uint64(c))), call, races, c, edits/raceClients) })
	}
	clients.Wait()
	close(done)
	person.Wait()
	made, shared, saved := 0, 0, 0
	for _, r := range races {
		checkRace(t, r, harness.ReadFile(t, filepath.Join(vault, r.name)))
		for _, n := range r.own {
			made += n
		}
		shared, saved = shared+r.shared, saved+r.person
	}
	t.Logf("%d edits: %d of counters of one's own, %d of shared ones, the others refused; a person saved %d times", edits, made, shared, saved)
	if made == 0 || shared == 0 || saved == 0 {
		t.Error("somebody did nothing")
	}
}

// caller starts a session over HTTP.
func (h *httpServer) caller(t *testing.T) raceCaller {
	session := h.open(t)
	return func(tool string, args ...any) harness.ToolResult {
		arguments := make(map[string]any)
		for i := 0; i < len(args); i += 2 {
			arguments[args[i].(string)] = args[i+1]
		}
		answer := h.call(t, session, tool, arguments)
		var reply struct {
			Result *struct {
				Content []struct{ Text string }
				IsError bool
			}
		}
		if err := json.Unmarshal([]byte(answer), &reply); err != nil || reply.Result == nil {
			t.Errorf("%s over HTTP: %v: %s", tool, err, answer)
			return harness.ToolResult{Text: answer, IsError: true}
		}
		var text strings.Builder
		for _, block := range reply.Result.Content {
			text.WriteString(block.Text + "\n")
		}
		return harness.ToolResult{Text: text.String(), IsError: reply.Result.IsError}
	}
}

// racePerson counts in the vault's files, saved as Obsidian does or as sync tools
// do.
func racePerson(t *testing.T, rnd *rand.Rand, vault string, races []*race, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(rnd.IntN(10)) * time.Millisecond):
		}
		r := races[rnd.IntN(raceNotes)]
		r.mu.Lock()
		file, old := filepath.Join(vault, r.name), fmt.Sprintf("person=%d;", r.person)
		raw := harness.ReadFile(t, file)
		if !strings.Contains(raw, old) {
			t.Errorf("%s: %s is gone from\n%s", r.name, old, raw)
		}
		r.person++
		save := harness.WriteFile
		if rnd.IntN(2) == 0 {
			save = harness.AtomicSave
		}
		save(t, file, strings.Replace(raw, old, fmt.Sprintf("person=%d;", r.person), 1))
		r.mu.Unlock()
	}
}

// raceClient makes n edits, each of its own counter or of the shared one.
func raceClient(t *testing.T, rnd *rand.Rand, call raceCaller, races []*race, c, n int) {
	read := make(map[*race]bool)
	for range n {
		r := races[rnd.IntN(raceNotes)]
		if !read[r] {
			if res := call("read", "file_path", "Vault/"+r.name); res.IsError {
				t.Errorf("read: %s", res.Text)
			}
			read[r] = true
		}
		r.mu.RLock()
		if rnd.IntN(3) == 0 {
			raceShared(t, call, r)
		} else {
			raceOwn(t, call, r, c)
		}
		r.mu.RUnlock()
	}
}

func raceEdit(call raceCaller, r *race, counter string, from int) harness.ToolResult {
	return call("edit", "file_path", "Vault/"+r.name,
		"old_string", fmt.Sprintf("%s=%d;", counter, from), "new_string", fmt.Sprintf("%s=%d;", counter, from+1))
}

// raceOwn counts what nobody else does: it must succeed.
func raceOwn(t *testing.T, call raceCaller, r *race, c int) {
	if res := raceEdit(call, r, fmt.Sprintf("client%d", c), r.own[c]); res.IsError {
		t.Errorf("%s: client %d: %s", r.name, c, res.Text)
		return
	}
	r.own[c]++
}

// raceShared counts what the others may be counting too: then it fails and says
// that the text is not there, or not any more.
func raceShared(t *testing.T, call raceCaller, r *race) {
	r.counted.Lock()
	from := r.shared
	r.counted.Unlock()
	res := raceEdit(call, r, "shared", from)
	if res.IsError {
		if !strings.Contains(res.Text, "old_string not found") && !strings.Contains(res.Text, "has changed since you read it: old_string was on line") {
			t.Errorf("%s: %s", r.name, res.Text)
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
	harness.CheckText(t, r.name+" as people wrote it", diffwrap.Everything.Original(raw), want)
	want = strings.Replace(want, "shared=0;", fmt.Sprintf("shared=%d;", r.shared), 1)
	for c, n := range r.own {
		want = strings.Replace(want, fmt.Sprintf("client%d=0;", c), fmt.Sprintf("client%d=%d;", c, n), 1)
	}
	harness.CheckText(t, r.name, diffwrap.Everything.Accepted(raw), want)
}
