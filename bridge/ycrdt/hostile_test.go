package ycrdt

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/tests/need"
)

// uints builds bytes from integers (as varints), strings (with their length), bytes and byte slices (as they are).
func uints(parts ...any) (out []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = lib0.AppendUint(out, uint64(p))
		case string:
			out = lib0.AppendString(out, p)
		case byte:
			out = append(out, p)
		case []byte:
			out = append(out, p...)
		}
	}
	return out
}

// some is a document with content of every kind that the API makes.
func some(t testing.TB) *Doc {
	d := NewDoc(Options{ClientID: 1})
	d.Transact(func(tx *Txn) {
		d.Text("t").Insert(tx, 0, "hello 😀 world")
		d.Map("m").Set(tx, "k", NewMap(map[string]any{"t": NewText("x"), "n": 1}))
		d.Array("a").Insert(tx, 0, 1, []byte{2}, "three", NewArray(4))
	})
	d.Transact(func(tx *Txn) { d.Text("t").Delete(tx, 2, 2) })
	return d
}

// A struct that is known, but refers to other places than it did, changes nothing.
func TestKnownStructsChangeNothing(t *testing.T) {
	d := NewDoc(Options{ClientID: 1})
	d.Transact(func(tx *Txn) { d.Text("t").Insert(tx, 0, "é🙂é") })
	end := uints(1, 1, 2, 0, []byte{0x84}, 1, 3, "x", 0) // client 2 writes x after unit 3 of client 1
	apply(t, d, end)
	state := d.EncodeStateAsUpdate(nil)
	for unit := range 4 {
		apply(t, d, uints(1, 1, 2, 0, []byte{0x84}, 1, unit, "x", 0))
		apply(t, d, uints(1, 1, 2, 0, []byte{0x44}, 1, unit, "x", 0))
		if got, want := d.Text("t").String(), "é🙂éx"; got != want {
			t.Errorf("after a known struct that refers to unit %d the text is %q, want %q", unit, got, want)
		}
		if got := d.EncodeStateAsUpdate(nil); !bytes.Equal(got, state) {
			t.Errorf("after a known struct that refers to unit %d the state is %x, want %x", unit, got, state)
		}
	}
}

func TestHostileUpdatesAreRefused(t *testing.T) {
	str := func(clock int, rest ...any) []byte { return uints(append([]any{1, 1, 50, clock}, rest...)...) }
	for name, update := range map[string][]byte{
		"more structs than bytes":      uints(1, 1<<40, 50, 0, 4, 1, "t", "a", 0),
		"more clients than bytes":      uints(1 << 40),
		"more deletes than bytes":      uints(0, 1, 50, 1<<40, 0, 1),
		"more values than bytes":       str(0, 8, 1, "a", 1<<40, []byte{126}, 0),
		"text longer than the update":  str(0, 4, 1, "t", 1<<40, 0),
		"invalid UTF-8":                str(0, 4, 1, "t", "\xff", 0),
		"a surrogate in UTF-8":         str(0, 4, 1, "t", "\xed\xa0\x80", 0),
		"invalid UTF-8 in a root name": str(0, 4, 1, "\xff", "a", 0),
		"invalid UTF-8 in a key":       str(0, 0x24, 1, "m", "\xff", "a", 0),
		"embed that is no JSON":        str(0, 5, 1, "t", "{", 0),
		"format that is no JSON":       str(0, 6, 1, "t", "b", "tru", 0),
		"unknown kind":                 str(0, 11, 1, "t", 0),
		"unknown type":                 str(0, 7, 1, "t", 7, 0),
		"unknown any tag":              str(0, 8, 1, "a", 1, []byte{115}, 0),
		"any nested too deep":          str(0, 8, 1, "a", 1, bytes.Repeat([]byte{117, 1}, 2000), []byte{126}, 0),
		"a client twice":               uints(2, 1, 50, 0, 4, 1, "t", "a", 1, 50, 1, 4, 1, "t", "b", 0),
		"origin is itself":             str(3, byte(0x84), 50, 3, "a", 0),
		"origin comes later":           str(3, byte(0x84), 50, 9, "a", 0),
		"right origin comes later":     str(3, 0x44, 50, 9, "a", 0),
		"parent comes later":           str(3, 4, 0, 50, 4, "a", 0),
		"client above 2^53-1":          uints(1, 1, 1<<53, 0, 0, 1, 0),
		"clock above 2^53-1":           str(1<<53, 0, 1, 0),
		"clock and length above":       str(1<<53-1, 0, 1, 0),
		"lengths that add up above":    uints(1, 2, 50, 0, 0, 1<<31, 0, 1<<31, 0),
		"2^32 units":                   uints(1, 1, 50, 0, 0, 1<<32, 0),
		"2^53-1 deleted units":         uints(1, 1, 50, 0, 1, 1, "t", 1<<53-1, 0),
		"delete range above":           uints(0, 1, 50, 1, 1<<53-1, 1),
		"varint too long":              append(uints(1, 1), bytes.Repeat([]byte{0xff}, 20)...),
		"varint without end":           {0x80},
		"no delete set":                str(0, 4, 1, "t", "a"),
	} {
		t.Run(name, func(t *testing.T) {
			checkFirst(t, update)
			d := some(t)
			before := d.EncodeStateAsUpdate(nil)
			need.Call(t, update, func() {
				if err := d.ApplyUpdate(update); !errors.Is(err, ErrMalformed) {
					t.Errorf("ApplyUpdate = %v, want ErrMalformed", err)
				}
			})
			if !bytes.Equal(d.EncodeStateAsUpdate(nil), before) {
				t.Error("the document has changed")
			}
			if _, err := MergeUpdates(update, before); !errors.Is(err, ErrMalformed) {
				t.Errorf("MergeUpdates = %v, want ErrMalformed", err)
			}
		})
	}
}

// TestHostileUpdatesAreTaken has updates that are legal, if absurd.
func TestHostileUpdatesAreTaken(t *testing.T) {
	for name, update := range map[string][]byte{
		"four billion units in six bytes": uints(1, 1, 50, 0, 0, 1<<32-1, 0),
		"delete everything for ever":      uints(0, 2, 50, 1, 0, 1<<53-1, 1, 1, 0, 1<<53-1),
		"empty text":                      uints(1, 2, 50, 0, 4, 1, "t", "", 4, 1, "t", "a", 0),
		"no values":                       uints(1, 2, 50, 0, 8, 1, "a", 0, 0, 0, 0),
		"delete range of no length":       uints(0, 1, 1, 2, 0, 0, 3, 0),
		"two that wait for one another":   uints(2, 1, 60, 0, byte(0x84), 50, 0, "a", 1, 50, 0, byte(0x84), 60, 0, "b", 0),
		"parent is text":                  uints(1, 1, 50, 0, 4, 0, 1, 0, "a", 0),
		"parent is deleted":               uints(1, 1, 50, 0, 4, 0, 1, 3, "a", 0),
		"format with a key":               uints(1, 1, 50, 0, 0x26, 1, "m", "k", "b", "true", 0),
		"cut inside of a binary":          uints(1, 1, 50, 0, byte(0x83), 1, 6, "x", 0),
		"left and right in two types":     uints(1, 1, 50, 0, byte(0xc4), 1, 1, 1, 15, "a", 0),
		"a rest in another list":          uints(1, 1, 1, 1, 0x41, 1, 0, 1<<19, 0),
		"bytes behind the end":            uints(1, 1, 50, 0, 4, 1, "t", "a", 0, "rest"),
	} {
		t.Run(name, func(t *testing.T) {
			checkFirst(t, update)
			d := some(t)
			need.Call(t, update, func() { apply(t, d, update) })
			other := NewDoc(Options{})
			need.Call(t, update, func() { apply(t, other, d.EncodeStateAsUpdate(nil)) })
			if got, want := other.EncodeStateAsUpdate(nil), d.EncodeStateAsUpdate(nil); !bytes.Equal(got, want) {
				t.Errorf("state:\n got %x\nwant %x", got, want)
			}
			Content(d)
		})
	}
}

// TestDeepNesting nests types far deeper than the stack of a recursive implementation would allow.
func TestDeepNesting(t *testing.T) {
	const depth = 200_000
	update := uints(1, depth, 50, 0, 7, 1, "a", 0)
	for i := range depth - 1 {
		update = append(update, uints(7, 0, 50, i, 0)...)
	}
	d := NewDoc(Options{ClientID: 1})
	a := d.Array("a")
	if err := d.ApplyUpdate(append(update, 0)); err != nil {
		t.Fatal(err)
	}
	d.Transact(func(tx *Txn) { a.Delete(tx, 0, 1) })
	verify(t, d)
	wantHex(t, "state", d.EncodeStateAsUpdate(nil)[:10], hex.EncodeToString(uints(1, 2, 50, 0, 1, 1, "a", 1, []byte{0})))
}

// TestPendingIsBounded floods a document with structs that cannot be integrated.
func TestPendingIsBounded(t *testing.T) {
	d := some(t)
	long := strings.Repeat("x", 1<<20)
	var err error
	applied := 0
	for ; err == nil && applied < 100; applied++ {
		err = d.ApplyUpdate(uints(1, 1, 100+applied, 10, byte(0x84), 60, 0, long, 0))
	}
	if !errors.Is(err, ErrPendingLimit) {
		t.Errorf("after %d updates of 1 MiB: %v, want ErrPendingLimit", applied, err)
	}
	before := d.EncodeStateAsUpdate(nil)
	if err := d.ApplyUpdate(uints(1, 1, 70, 10, byte(0x84), 60, 0, long, 0)); !errors.Is(err, ErrPendingLimit) {
		t.Errorf("ApplyUpdate = %v, want ErrPendingLimit", err)
	}
	if !bytes.Equal(d.EncodeStateAsUpdate(nil), before) {
		t.Error("the document has changed")
	}
	// What can be integrated is still welcome, however large.
	if err := d.ApplyUpdate(uints(1, 1, 80, 0, 4, 1, "t", long+long, 0)); err != nil {
		t.Error(err)
	}
}

func TestClientIDChanges(t *testing.T) {
	d := NewDoc(Options{ClientID: 5})
	other := NewDoc(Options{ClientID: 5})
	other.Transact(func(tx *Txn) { other.Text("t").Insert(tx, 0, "x") })
	apply(t, d, other.EncodeStateAsUpdate(nil))
	if d.ClientID() == 5 {
		t.Error("the client id has not changed")
	}
	if d.ClientID() > 1<<32-1 {
		t.Errorf("new client id is %d", d.ClientID())
	}
	apply(t, d, uints(1, 1, 5, 1, 0, 1<<32-2, 0))
	if d.SetClientID(5); d.ClientID() == 5 {
		t.Error("the document writes under an ID whose clocks are used up")
	}
}
