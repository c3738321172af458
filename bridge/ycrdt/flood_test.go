package ycrdt

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/tests/need"
)

// The tests of this file apply updates that are valid, but larger or more contrived than any writer's. Where work could be
// quadratic, they end in seconds only if it is not, or if a step of it costs next to nothing.

// checkReload compares d with a copy made from its state.
func checkReload(t *testing.T, d *Doc) {
	t.Helper()
	verify(t, d)
	other, state := NewDoc(Options{ClientID: 2}), d.EncodeStateAsUpdate(nil)
	apply(t, other, state)
	if !bytes.Equal(other.EncodeStateAsUpdate(nil), state) {
		t.Error("a copy has another state")
	}
}

// TestManyItems loads a million items of one unit each, which cannot be merged since each was inserted before the last one.
func TestManyItems(t *testing.T) {
	const n = 1_000_000
	update := uints(1, n, 50, 0, 4, 1, "t", "x")
	for i := range n - 1 {
		update = append(update, 0x44)
		update = lib0.AppendUint(append(update, 50), uint64(i))
		update = append(update, 1, 'x')
	}
	d := NewDoc(Options{ClientID: 1})
	applyAll(t, d, [][]byte{append(update, 0)})
	text := d.Text("t")
	d.Transact(func(tx *Txn) {
		text.Insert(tx, n/2, "middle")
		text.Delete(tx, n/4, n/4)
	})
	if got, want := text.String(), strings.Repeat("x", n/4)+"middle"+strings.Repeat("x", n/2); got != want {
		t.Errorf("text has %d bytes, want %d", len(got), len(want))
	}
	checkReload(t, d)
}

// TestManyDeletes deletes every other unit of a text in a million ranges.
func TestManyDeletes(t *testing.T) {
	const n = 1_000_000
	d := NewDoc(Options{ClientID: 1})
	text := d.Text("t")
	d.Transact(func(tx *Txn) { text.Insert(tx, 0, strings.Repeat("xy", n)) })
	update := uints(0, 1, 1, n)
	for i := range n {
		update = append(lib0.AppendUint(update, uint64(2*i)), 1)
	}
	applyAll(t, d, [][]byte{update})
	if got, want := text.String(), strings.Repeat("y", n); got != want {
		t.Errorf("text has %d bytes, want %d", len(got), len(want))
	}
	checkReload(t, d)
}

// TestManyPendingDeletes floods a document with deletions of what it does not have.
func TestManyPendingDeletes(t *testing.T) {
	const n = 1_000_000
	d := some(t)
	before := d.EncodeStateAsUpdate(nil)
	update := uints(0, 1, 50, n)
	for i := range n {
		update = append(lib0.AppendUint(update, uint64(2*i)), 1)
	}
	if err := d.ApplyUpdate(update); !errors.Is(err, ErrPendingLimit) {
		t.Errorf("ApplyUpdate = %v, want ErrPendingLimit", err)
	}
	if !bytes.Equal(d.EncodeStateAsUpdate(nil), before) {
		t.Error("the document has changed")
	}
	verify(t, d)
}

// TestOverlappingDeletes deletes everything of a document a thousand times in
// one update. The ranges are joined first, or each would walk the document.
func TestOverlappingDeletes(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	text := d.Text("t")
	d.Transact(func(tx *Txn) {
		for range 50_000 {
			text.Insert(tx, 0, "x")
		}
	})
	update := uints(0, 1, 1, 1000)
	for i := range 1000 {
		update = append(update, uints(i, 1<<40)...)
	}
	if u, err := wire.Scan(update); err != nil || !slices.Equal(u.Deletes, wire.DeleteSet{{Client: 1, Clock: 0, Length: 1<<40 + 999}}) {
		t.Errorf("deletes are %v, %v", u.Deletes, err)
	}
	applyAll(t, d, [][]byte{update})
	if n := text.Len(); n != 0 {
		t.Errorf("%d units are left", n)
	}
	checkReload(t, d)
}

// TestLastClocks has a text at the end of the clocks.
func TestLastClocks(t *testing.T) {
	const end = 1<<32 - 1
	d := NewDoc(Options{ClientID: 1})
	apply(t, d, uints(1, 2, 50, 0, 1, 1, "t", end-3, byte(0x84), 50, end-4, "abc", 1, 50, 1, end-2, 1))
	text := d.Text("t")
	d.Transact(func(tx *Txn) { text.Insert(tx, 1, "-") })
	if got, want := text.String(), "a-c"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	checkReload(t, d)
	before := d.EncodeStateAsUpdate(nil)
	if err := d.ApplyUpdate(uints(1, 1, 50, end, byte(0x84), 50, end-1, "d", 0)); !errors.Is(err, ErrMalformed) {
		t.Errorf("one unit more: %v, want ErrMalformed", err)
	}
	if !bytes.Equal(d.EncodeStateAsUpdate(nil), before) {
		t.Error("the document has changed")
	}
}

// TestCircularParents has types that lie inside of one another, and so wait
// for one another, alone or with what would belong into them.
func TestCircularParents(t *testing.T) {
	nested := func(client, parent int) []byte { return uints(1, client, 0, 7, 0, parent, 0, 0) }
	ring := [][]byte{nested(60, 50), nested(50, 70), nested(70, 60)}
	child := uints(1, 80, 0, 4, 0, 60, 0, "inside")
	for name, updates := range map[string][][]byte{
		"two in one update":    {uints(2, nested(60, 50), nested(50, 60), 0)},
		"three in one update":  {uints(4, child, ring[2], ring[0], ring[1], 0)},
		"three, one by one":    {uints(1, ring[0], 0), uints(1, child, 0), uints(1, ring[1], 0), uints(1, ring[2], 0)},
		"through left origins": {uints(2, 1, 60, 0, byte(0x87), 50, 0, 0, 1, 50, 0, 7, 0, 60, 0, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			d := some(t)
			before, snap := Content(d), d.Snapshot()
			for range 3 {
				for _, u := range updates {
					apply(t, d, u)
				}
			}
			if !snap.Equal(d.Snapshot()) || d.updates.Waiting() == 0 {
				t.Error("they have been integrated")
			}
			if got := d.updates.Waiting(); got > 100 {
				t.Errorf("%d bytes wait", got)
			}
			if got := Content(d); !reflect.DeepEqual(got, before) {
				t.Errorf("content is %v, want %v", got, before)
			}
			checkReload(t, d)
		})
	}
}

// TestFloodAtOnePlace lets thousands of clients insert at one place, in the
// orders in which each has to be compared with all others.
func TestFloodAtOnePlace(t *testing.T) {
	const clients = 4000
	letter := func(i int) string { return string(rune('a' + i%26)) }
	var want strings.Builder
	updates := make([][]byte, clients)
	for i := range clients {
		updates[i] = uints(1, 1, 100+i, 0, byte(0xc4), 1, 0, 1, 1, letter(i), 0)
		want.WriteString(letter(i))
	}
	merged, err := MergeUpdates(updates...)
	if err != nil {
		t.Fatal(err)
	}
	descending := slices.Clone(updates)
	slices.Reverse(descending)
	base := uints(1, 1, 1, 0, 4, 1, "t", "[]", 0)
	for name, order := range map[string][][]byte{
		"ascending":  updates,
		"descending": descending,
		"at once":    {merged},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDoc(Options{ClientID: 2})
			applyAll(t, d, [][]byte{base})
			applyAll(t, d, order)
			if got := d.Text("t").String(); got != "["+want.String()+"]" {
				t.Errorf("text is %.100q", got)
			}
			checkReload(t, d)
		})
	}
}

// TestFloodOfTwoClients lets two clients insert at one place again and again. Each item of the second client passes all
// items of the first. This took seven seconds.
func TestFloodOfTwoClients(t *testing.T) {
	const n = 10_000
	d := NewDoc(Options{ClientID: 1})
	start := time.Now()
	for client := 50; client <= 51; client++ {
		apply(t, d, uints(1, n, client, 0, bytes.Repeat(uints(4, 1, "t", string(rune('a'+client-50))), n), 0))
	}
	if took := time.Since(start); took > need.Scaled(3*time.Second) {
		t.Errorf("it took %v", took)
	}
	if got, want := d.Text("t").String(), strings.Repeat("a", n)+strings.Repeat("b", n); got != want {
		t.Errorf("text is %.100q", got)
	}
	checkReload(t, d)
}

// TestFloodOfChains makes scans pass items whose origins they have to look up:
// each client inserts at the start, and then behind what it has inserted.
func TestFloodOfChains(t *testing.T) {
	const clients = 2000
	d, other := NewDoc(Options{ClientID: 1}), NewDoc(Options{ClientID: 2})
	updates := make([][]byte, clients)
	for i := range updates {
		id := 100 + i
		// The right origin keeps the second item from being merged.
		updates[i] = uints(1, 3, id, 0, 4, 1, "t", "a", byte(0x84), id, 0, "b", byte(0xc4), id, 0, id, 1, "c", 0)
	}
	applyAll(t, d, updates)
	slices.Reverse(updates)
	applyAll(t, other, updates)
	if got, want := d.Text("t").String(), strings.Repeat("acb", clients); got != want {
		t.Errorf("text is %.100q", got)
	}
	if !bytes.Equal(d.EncodeStateAsUpdate(nil), other.EncodeStateAsUpdate(nil)) {
		t.Error("the order of updates matters")
	}
	checkReload(t, d)
}

// TestChainOfClients has a struct of each of many clients that refers to one of
// the next client, in the order in which all have to wait for the last.
func TestChainOfClients(t *testing.T) {
	const clients = 100_000
	update := uints(clients)
	for id := clients; id > 1; id-- {
		update = append(update, uints(1, id, 0, byte(0x84), id-1, 0, "x")...)
	}
	chain := uints(update, uints(1, 1, 0, 4, 1, "t", "x"), 0)
	cut := uints(update, uints(1, 1, 1, byte(0x84), 1, 0, "x"), 0)
	d := NewDoc(Options{ClientID: 1 << 40})
	applyAll(t, d, [][]byte{cut})
	if n := d.Text("t").Len(); n != 0 {
		t.Errorf("%d units without the first", n)
	}
	applyAll(t, d, [][]byte{chain})
	if n := d.Text("t").Len(); n != clients+1 {
		t.Errorf("%d units, want %d", n, clients+1)
	}
	checkReload(t, d)
}

// TestPendingDrip has many structs that wait, and lets them go one by one. Each
// update that does so goes through all that wait.
func TestPendingDrip(t *testing.T) {
	const n = 500_000
	update := uints(1, n, 50, 0)
	for i := range n {
		update = append(lib0.AppendUint(append(update, 0x84, 60), uint64(i)), 1, 'x')
	}
	d := NewDoc(Options{ClientID: 1})
	text := d.Text("t")
	applyAll(t, d, [][]byte{append(update, 0)})
	for i := range 5 {
		drop := uints(1, 1, 60, i, 4, 1, "t", "-", 0)
		applyAll(t, d, [][]byte{drop})
		if got, want := text.Len(), 2*(i+1); got != want {
			t.Errorf("%d units after %d updates, want %d", got, i+1, want)
		}
	}
	checkReload(t, d)
}
