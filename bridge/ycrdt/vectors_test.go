package ycrdt

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantHex(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if g := hex.EncodeToString(got); g != want {
		t.Errorf("%s:\n got %s\nwant %s", what, g, want)
	}
}

func bytesHex(b []byte) string { return hex.EncodeToString(b) }

func verify(t *testing.T, d *Doc) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := checkStore(d.store); err != nil {
		t.Fatalf("invariant broken: %v", err)
	}
}

func apply(t *testing.T, d *Doc, update []byte) {
	t.Helper()
	if err := d.ApplyUpdate(update); err != nil {
		t.Fatalf("ApplyUpdate(%x): %v", update, err)
	}
	verify(t, d)
}

// recordUpdates returns the hex of every update that d emits from now on.
func recordUpdates(d *Doc) *[]string {
	updates := &[]string{}
	d.OnUpdate(func(update []byte) { *updates = append(*updates, hex.EncodeToString(update)) })
	return updates
}

func TestVectorText(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	events := recordUpdates(d)
	text := d.Text("contents")
	d.Transact(func(tx *Txn) { text.Insert(tx, 0, "ab😀c") })
	d.Transact(func(tx *Txn) { text.Insert(tx, 2, "X") })
	d.Transact(func(tx *Txn) { text.Delete(tx, 0, 1) })
	verify(t, d)
	if got := text.String(); got != "bX😀c" {
		t.Errorf("text is %q", got)
	}
	want := []string{"01010100040108636f6e74656e7473076162f09f98806300", "01010105c401010102015800", "000101010001"}
	for i, w := range want {
		if (*events)[i] != w {
			t.Errorf("event %d:\n got %s\nwant %s", i, (*events)[i], w)
		}
	}
	wantHex(t, "state", d.EncodeStateAsUpdate(nil), "01040100010108636f6e74656e747301840100016284010105f09f988063c40101010201580101010001")
	wantHex(t, "state vector", d.EncodeStateVector(), "010106")
	wantHex(t, "diff", d.EncodeStateAsUpdate(StateVector{1: 3}.Encode()), "0102010384010204efbfbd63c40101010201580101010001")
}

// TestVectorRoundTrip loads what Yjs wrote and expects the same bytes back.
func TestVectorRoundTrip(t *testing.T) {
	for _, hexUpdate := range []string{
		"01040100010108636f6e74656e747301840100016284010105f09f988063c40101010201580101010001",                                     // T1
		"01030100040108636f6e74656e74730461efbfbd84010104efbfbd62c401010102015800",                                                 // T2
		"01030100040108636f6e74656e747301618101000184010104efbfbd620101010101",                                                     // T2
		"0103010021010b66696c656d6574615f7630017001a80100017704622e6d6421010b66696c656d6574615f7630016e0101010200010201",           // T3
		"01040100080103617272017d0181010002880102027c3f0000007601016b75017e83010401070101010102",                                   // T4
		"0103010027010b66696c656d6574615f7630016601270001000174020400010102686900",                                                 // T5
		"0102010021010b66696c656d6574615f763001660100030101010004",                                                                 // T5
		"01050100040108636f6e74656e747302626f840101026c6446010001620474727565c6010101020162046e756c6c850103097b22696d67223a317d00", // T6
		"03010300c4010001010143010200c4010001010142020100040108636f6e74656e7473015f840100015f00",                                   // T7
		"010101002901016d0173057375622d31760000",                                                                                   // T8
		"010101002901016d017305737562" + "2d317602086175746f4c6f616478046d657461760101617d0100",                                    // T8
		"0201ac02008405000162010500040108636f6e74656e7473016100",                                                                   // T9
		"01030100070101780301708701000604000101017400",                                                                             // T10
		"000101010001",             // T7d: deletes of what is not there
		"01010200c401000101014200", // T7b: a struct that has to wait
	} {
		d := NewDoc(Options{ClientID: 99})
		apply(t, d, unhex(t, hexUpdate))
		wantHex(t, "state", d.EncodeStateAsUpdate(nil), hexUpdate)
	}
}

func TestVectorSurrogates(t *testing.T) {
	base := "0101010004010" + "8636f6e74656e74730661f09f98806200"
	// A struct of another client that stands inside the pair.
	d := NewDoc(Options{ClientID: 1})
	apply(t, d, unhex(t, base))
	apply(t, d, unhex(t, "01010200c401010102015800"))
	if got := d.Text("contents").String(); got != "a\uFFFDX\uFFFDb" {
		t.Errorf("text is %q", got)
	}
	// Our own edits never cut a pair.
	d = NewDoc(Options{ClientID: 1})
	apply(t, d, unhex(t, base))
	text := d.Text("contents")
	d.Transact(func(tx *Txn) { text.Insert(tx, 2, "X") })
	if got := text.String(); got != "aX😀b" {
		t.Errorf("text after insert is %q", got)
	}
	d.Transact(func(tx *Txn) { text.Delete(tx, 3, 1) })
	if got := text.String(); got != "aXb" {
		t.Errorf("text after delete is %q", got)
	}
	verify(t, d)
}

func TestVectorMap(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	m := d.Map("filemeta_v0")
	for _, step := range []func(*Txn){
		func(tx *Txn) { m.Set(tx, "p", "a.md") },
		func(tx *Txn) { m.Set(tx, "p", "b.md") },
		func(tx *Txn) { m.Set(tx, "n", nil) },
		func(tx *Txn) { m.Delete(tx, "n") },
	} {
		d.Transact(step)
		verify(t, d)
	}
	wantHex(t, "state", d.EncodeStateAsUpdate(nil), "0103010021010b66696c656d6574615f7630017001a80100017704622e6d6421010b66696c656d6574615f7630016e0101010200010201")
}

func TestVectorArray(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	a := d.Array("arr")
	for _, step := range []func(*Txn){
		func(tx *Txn) { a.Insert(tx, 0, 1, "two", true, 0.5, map[string]any{"k": []any{nil}}) },
		func(tx *Txn) { a.Insert(tx, 5, []byte{7}) },
		func(tx *Txn) { a.Delete(tx, 1, 2) },
	} {
		d.Transact(step)
		verify(t, d)
	}
	wantHex(t, "state", d.EncodeStateAsUpdate(nil), "01040100080103617272017d0181010002880102027c3f0000007601016b75017e83010401070101010102")
	got, _ := json.Marshal(a.Values())
	if want := `[1,0.5,{"k":[null]},"Bw=="]`; string(got) != want {
		t.Errorf("array is %s, want %s", got, want)
	}
}

func TestVectorNested(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	m := d.Map("filemeta_v0")
	d.Transact(func(tx *Txn) { m.Set(tx, "f", NewMap(map[string]any{"t": NewText("hi")})) })
	verify(t, d)
	wantHex(t, "state", d.EncodeStateAsUpdate(nil), "0103010027010b66696c656d6574615f7630016601270001000174020400010102686900")
	got, _ := json.Marshal(Content(d))
	if want := `{"filemeta_v0":{"$m":{"f":{"$m":{"t":{"$t":"hi"}}}}}}`; string(got) != want {
		t.Errorf("document is %s, want %s", got, want)
	}
	d.Transact(func(tx *Txn) { m.Delete(tx, "f") })
	verify(t, d)
	wantHex(t, "state after delete", d.EncodeStateAsUpdate(nil), "0102010021010b66696c656d6574615f763001660100030101010004")
}

func TestVectorConflict(t *testing.T) {
	base := unhex(t, "01010100040108636f6e74656e7473025f5f00")
	b := unhex(t, "01010200c401000101014200")
	c := unhex(t, "01010300c401000101014300")
	for _, order := range [][][]byte{{base, b, c}, {base, c, b}, {b, c, base}, {c, b, base}, {b, base, c}, {c, base, b, c, base}} {
		d := NewDoc(Options{ClientID: 9})
		for _, update := range order {
			apply(t, d, update)
		}
		if got := d.Text("contents").String(); got != "_BC_" {
			t.Errorf("text is %q", got)
		}
		wantHex(t, "state", d.EncodeStateAsUpdate(nil), "03010300c4010001010143010200c4010001010142020100040108636f6e74656e7473015f840100015f00")
	}
}

func TestVectorPending(t *testing.T) {
	d := NewDoc(Options{ClientID: 9})
	apply(t, d, unhex(t, "01010200c401000101014200"))
	if got := d.Text("contents").String(); got != "" {
		t.Errorf("text is %q", got)
	}
	wantHex(t, "state vector", d.EncodeStateVector(), "00")
	merged, err := MergeUpdates(unhex(t, "01010100040108636f6e74656e7473025f5f00"), unhex(t, "010101044401000"+"15100"))
	if err != nil {
		t.Fatal(err)
	}
	wantHex(t, "merge", merged, "01030100040108636f6e74656e7473025f5f0a02440100015100")
	apply(t, d, merged)
	if got := d.Text("contents").String(); got != "_B_" {
		t.Errorf("text is %q", got)
	}
}

// TestMergeOfUnsortedUpdates merges updates whose clients come in the order in which no Yjs writes them.
func TestMergeOfUnsortedUpdates(t *testing.T) {
	low, high := uints(1, 1, 0, 4, 1, "t", "ab"), uints(1, 903, 0, 4, 1, "t", "x")
	lowLater := uints(1, 1, 2, byte(0x84), 1, 1, "c")
	unsorted, sorted := uints(2, low, high, 1, 1, 1, 0, 1), uints(2, high, low, 0)
	later := uints(2, lowLater, high, 0)
	want := uints(2, high, 2, 1, 0, 4, 1, "t", "ab", byte(0x84), 1, 1, "c", 1, 1, 1, 0, 1)
	for name, updates := range map[string][][]byte{
		"both unsorted":   {unsorted, later},
		"newer one first": {later, unsorted},
		"one more sorted": {sorted, unsorted, later},
	} {
		merged, err := MergeUpdates(updates...)
		if err != nil || !bytes.Equal(merged, want) {
			t.Errorf("%s: %x, %v, want %x", name, merged, err, want)
		}
		d := NewDoc(Options{ClientID: 2})
		apply(t, d, merged)
		if got := d.Text("t").String(); got != "bcx" {
			t.Errorf("%s: text is %q", name, got)
		}
	}
}

// TestVectorTornValue deletes one unit of a map value that has four, and then
// overwrites the rest: as in Yjs, the unit before the deleted one stays.
func TestVectorTornValue(t *testing.T) {
	d := NewDoc(Options{ClientID: 9})
	apply(t, d, uints(1, 1, 1, 0, 0x24, 1, "m", "k", "abcd", 1, 1, 1, 1, 1))
	apply(t, d, uints(1, 1, 2, 0, byte(0xa8), 1, 3, 1, []byte{119}, "new", 0))
	verify(t, d)
	if !hasTornValue(d) {
		t.Error("the value is not torn")
	}
	if got, _ := d.Map("m").Get("k"); got != "new" {
		t.Errorf("value is %v", got)
	}
	wantHex(t, "state", d.EncodeStateAsUpdate(nil), "02010200a801030177036e65770201002401016d016b0161a10100030101010103")
}

// TestVectorLostNeighbour inserts between a unit of a text and one of a type that is then deleted. In Yjs, too, the text has
// what was inserted, and a copy of the document lacks it.
func TestVectorLostNeighbour(t *testing.T) {
	d := NewDoc(Options{ClientID: 9})
	apply(t, d, uints(1, 3, 1, 0, 4, 1, "t", "a", 0x27, 1, "m", "k", 2, 4, 0, 1, 1, "in", 0))
	apply(t, d, uints(1, 1, 2, 0, byte(0xc4), 1, 0, 1, 2, "b", 1, 1, 1, 1, 1))
	wantHex(t, "state", d.EncodeStateAsUpdate(nil), "02010200c40100010201620301000401017401612101016d016b0100020101010103")
	wantHex(t, "snapshot of a copy", copySnapshot(d).Encode(), "0202010001010101030202010104")
	checkCopy(t, d)
	if got := d.Text("t").String(); got != "ab" {
		t.Errorf("text is %q, want %q", got, "ab")
	}
}

func TestVectorTransaction(t *testing.T) {
	other := NewDoc(Options{ClientID: 1})
	other.Transact(func(tx *Txn) { other.Text("contents").Insert(tx, 0, "ab") })
	d := NewDoc(Options{ClientID: 2})
	apply(t, d, other.EncodeStateAsUpdate(nil))
	d.Transact(func(tx *Txn) { d.Text("elsewhere").Insert(tx, 0, "xy") })
	text := d.Text("contents")
	events := recordUpdates(d)
	d.Transact(func(tx *Txn) {
		text.Insert(tx, 2, "c")
		text.Insert(tx, 3, "d")
		text.Delete(tx, 0, 1)
	})
	verify(t, d)
	if got, want := (*events)[0], "010102028401010263640101010001"; got != want {
		t.Errorf("event:\n got %s\nwant %s", got, want)
	}
}

func TestVectorTombstones(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	text := d.Text("t")
	d.Transact(func(tx *Txn) { text.Insert(tx, 0, "abcd") })
	d.Transact(func(tx *Txn) { text.Delete(tx, 1, 2) })
	events := recordUpdates(d)
	d.Transact(func(tx *Txn) { text.Insert(tx, 1, "Z") })
	if got, want := (*events)[0], "01010104c401020103015a00"; got != want {
		t.Errorf("text insert:\n got %s\nwant %s", got, want)
	}
	d = NewDoc(Options{ClientID: 1})
	a := d.Array("t")
	d.Transact(func(tx *Txn) { a.Insert(tx, 0, 1, 2, 3, 4) })
	d.Transact(func(tx *Txn) { a.Delete(tx, 1, 2) })
	events = recordUpdates(d)
	d.Transact(func(tx *Txn) { a.Insert(tx, 1, 9) })
	if got, want := (*events)[0], "01010104c801000101017d0900"; got != want {
		t.Errorf("array insert:\n got %s\nwant %s", got, want)
	}
}

func TestErrors(t *testing.T) {
	for _, hexUpdate := range []string{
		"0101", "01ffffffff0f0100", "", "01010100040108636f6e74656e747301ff00",
		"010101000b00", "0101ffffffffffffff1f00040101610161" + "00",
	} {
		d := NewDoc(Options{ClientID: 1})
		d.Transact(func(tx *Txn) { d.Text("t").Insert(tx, 0, "x") })
		before := d.EncodeStateAsUpdate(nil)
		if err := d.ApplyUpdate(unhex(t, hexUpdate)); !errors.Is(err, ErrMalformed) {
			t.Errorf("ApplyUpdate(%s) = %v, want ErrMalformed", hexUpdate, err)
		}
		if !bytes.Equal(d.EncodeStateAsUpdate(nil), before) {
			t.Errorf("ApplyUpdate(%s) failed and changed the document", hexUpdate)
		}
	}
	v2 := "00000241030300020001040501008401c4140f636f6e74656e747362f09f988063580801030101010001010104000101010000"
	for _, hexUpdate := range []string{v2, "00000000000001000000000000"} {
		if err := NewDoc(Options{}).ApplyUpdate(unhex(t, hexUpdate)); !errors.Is(err, ErrUpdateV2) {
			t.Errorf("ApplyUpdate(%s) = %v, want ErrUpdateV2", hexUpdate, err)
		}
	}
}
