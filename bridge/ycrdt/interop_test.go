package ycrdt

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// peerDir holds the Node program that runs the real Yjs.
const peerDir = "../../tests/peer"

// A yjsPeer is the running Node program of tests/peer.
type yjsPeer struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// startPeer starts Node. Without Node or the packages it skips the test.
func startPeer(t testing.TB) *yjsPeer {
	t.Helper()
	need.Programs(t, "node")
	if _, err := os.Stat(filepath.Join(peerDir, "node_modules", "yjs")); err != nil {
		need.Missing(t, "no Yjs: run npm ci in tests/peer: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "peer.mjs")
	cmd.Dir = peerDir
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &yjsPeer{in, bufio.NewReaderSize(out, 1<<20)}
}

// replay replays the scenario with the given seed. One that fails is made again with the state after every step, to
// name the step.
func (p *yjsPeer) replay(t testing.TB, seed int) {
	t.Helper()
	for _, full := range []bool{false, true} {
		var log scenarioLog
		p.ask(t, map[string]any{"cmd": "scenario", "seed": seed, "full": full}, &log)
		err := replay(&log)
		if err == nil && !full {
			return
		}
		t.Error(err)
	}
}

// ask sends a request and reads the answer.
func (p *yjsPeer) ask(t testing.TB, request map[string]any, answer any) {
	t.Helper()
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.in.Write(append(data, '\n')); err != nil {
		t.Fatalf("peer: %v", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	var failure struct{ Error string }
	if err := errors.Join(json.Unmarshal(line, &failure), json.Unmarshal(line, answer)); err != nil {
		t.Fatalf("peer: %v: %.200s", err, line)
	}
	if failure.Error != "" {
		t.Fatalf("peer: %s", failure.Error)
	}
}

// rare are scenarios with what chance brings once in ten thousand: two structs that are known and split an item at one
// place, beside GC structs that stay unmerged; and an update merged from a GC struct and the item that it was.
var rare = []int{527187218, 795618838}

// TestYjs replays random scenarios of several Yjs documents and expects the same bytes and content at every step.
func TestYjs(t *testing.T) {
	peer := startPeer(t)
	for _, seed := range rare {
		peer.replay(t, seed)
	}
	randomtest.Check(t, 150, func(t testing.TB, r *rand.Rand) { peer.replay(t, r.IntN(1e9)) })
}

// history makes a document with edits by two clients, and one update more.
func history(seed uint64) (state, later []byte) {
	r := rand.New(rand.NewPCG(seed, 5))
	docs := []*Doc{NewDoc(Options{ClientID: 1}), NewDoc(Options{ClientID: 2})}
	edit := func(d *Doc) {
		text := d.Text("t")
		pieces := text.Pieces(0, text.Len())
		d.Transact(func(tx *Txn) {
			if len(pieces) > 0 { // also where only deleted text is
				p := pieces[r.IntN(len(pieces))]
				p.ID.Clock += uint64(p.Len - 1)
				text.InsertAt(tx, p.ID, After, []string{"back ", "🙂"}[r.IntN(2)])
			}
			text.InsertAfter(tx, r.IntN(text.LenIn(tx)+1), "after ")
			text.Insert(tx, r.IntN(text.LenIn(tx)+1), []string{"one ", "2", "é😀", "three\n"}[r.IntN(4)])
			text.Delete(tx, r.IntN(text.LenIn(tx)+1), r.IntN(3))
		})
	}
	for range 30 {
		a, b := r.IntN(2), r.IntN(2)
		edit(docs[a])
		if err := docs[b].ApplyUpdate(docs[1-b].EncodeStateAsUpdate(nil)); err != nil {
			panic(err)
		}
	}
	state = docs[0].EncodeStateAsUpdate(nil)
	for range 20 {
		edit(docs[0])
	}
	return state, docs[0].EncodeStateAsUpdate(nil)
}

// TestYjsReads has Yjs load documents that were written here.
func TestYjsReads(t *testing.T) {
	peer := startPeer(t)
	for seed := range uint64(50) {
		state, later := history(seed)
		d := NewDoc(Options{})
		apply(t, d, later)
		var got struct {
			JSON struct{ T string }
			SV   string
		}
		peer.ask(t, map[string]any{"cmd": "load", "updates": []string{hex.EncodeToString(state), hex.EncodeToString(later)}}, &got)
		if want := d.Text("t").String(); got.JSON.T != want {
			t.Errorf("seed %d: Yjs reads %q, want %q", seed, got.JSON.T, want)
		}
		if want := hex.EncodeToString(d.EncodeStateVector()); got.SV != want {
			t.Errorf("seed %d: state vector is %s, want %s", seed, got.SV, want)
		}
	}
}
