package ycrdt

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A fixture is a history that tests/peer/fixtures.mjs made with Yjs.
type fixture struct {
	Name                string
	Updates             []string
	State, SV, Snapshot string
	JSON                any
}

func readFixtures(t testing.TB) (fixtures []fixture) {
	t.Helper()
	f, err := os.Open("testdata/yjs-13.6.33.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var fx fixture
		if err := json.Unmarshal(lines.Bytes(), &fx); err != nil {
			t.Fatal(err)
		}
		fixtures = append(fixtures, fx)
	}
	if len(fixtures) < 150 {
		t.Fatalf("%d fixtures", len(fixtures))
	}
	return fixtures
}

// TestFixtures gives the updates of each fixture to documents in order, in
// reverse order, merged and as a whole, and expects the bytes of Yjs back.
func TestFixtures(t *testing.T) {
	for _, fx := range readFixtures(t) {
		t.Run(fx.Name, func(t *testing.T) {
			var updates [][]byte
			for _, u := range fx.Updates {
				updates = append(updates, unhex(t, u))
			}
			fx.load(t, "in order", updates...)
			fx.load(t, "as a whole", unhex(t, fx.State))
			fx.load(t, "twice", unhex(t, fx.State), unhex(t, fx.State))
			merged, err := MergeUpdates(updates...)
			if err != nil {
				t.Fatal(err)
			}
			fx.load(t, "merged", merged)
			slices.Reverse(updates)
			fx.load(t, "in reverse order", updates...)
		})
	}
}

func (fx *fixture) load(t *testing.T, how string, updates ...[]byte) {
	t.Helper()
	r := newReplica(99)
	for _, u := range updates {
		apply(t, r.doc, u)
	}
	got := map[string]any{"t": r.text.String(), "m": packValue(r.m).(map[string]any)["$m"], "a": packValue(r.array).(map[string]any)["$a"]}
	for _, err := range []error{
		same(how+": JSON", normalize(got), fx.JSON),
		same(how+": state vector", hex.EncodeToString(r.doc.EncodeStateVector()), fx.SV),
		same(how+": state", hex.EncodeToString(r.doc.EncodeStateAsUpdate(nil)), fx.State),
		same(how+": snapshot", hex.EncodeToString(r.doc.Snapshot().Encode()), fx.Snapshot),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestFormattedText edits the text "a" + bold "bc" + "d" of a peer. Formats take no part in positions, and new text has
// the format of the text to its left.
func TestFormattedText(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	apply(t, d, uints(1, 5, 50, 0, 4, 1, "t", "a", byte(0x86), 50, 0, "b", "true", byte(0x84), 50, 1, "bc", byte(0x86), 50, 3, "b", "null", byte(0x84), 50, 4, "d", 0))
	text := d.Text("t")
	d.Transact(func(tx *Txn) {
		text.Insert(tx, 3, "X") // bold
		text.Insert(tx, 1, "Y") // plain
		text.Delete(tx, 2, 1)
	})
	if got, want := text.String(), "aYcXd"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	bold := ""
	on := false
	for r := d.store.Roots["t"].Start; r != 0; r = d.store.Items[r].Right {
		switch it := &d.store.Items[r]; {
		case it.Kind == wire.KindFormat:
			on = strings.Contains(string(d.store.Arena.Of(it)), "true")
		case it.VisibleUnits() > 0 && on:
			bold += string(d.store.Arena.Of(it))
		}
	}
	if bold != "cX" {
		t.Errorf("%q is bold, want %q", bold, "cX")
	}
	checkReload(t, d)
}
