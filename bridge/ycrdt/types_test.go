package ycrdt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// TestTextModel edits a text and a slice of its UTF-16 units alike, in
// transactions of several edits, and reads inside and outside of them.
func TestTextModel(t *testing.T) { randomtest.Check(t, 20, textModel) }

func textModel(t testing.TB, r *rand.Rand) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text("t")
	model := ""
	for range 80 {
		before := text.String()
		doc.Transact(func(tx *ycrdt.Txn) {
			for range 1 + r.IntN(4) {
				pos := r.IntN(len(model) + 1)
				if r.IntN(3) > 0 {
					s := strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(40))
					text.Insert(tx, pos, s)
					model = model[:pos] + s + model[pos:]
				} else {
					n := min(r.IntN(60), len(model)-pos)
					text.Delete(tx, pos, n)
					model = model[:pos] + model[pos+n:]
				}
				if got := text.StringIn(tx); got != model || text.LenIn(tx) != len(model) {
					t.Fatalf("text is %q, want %q", got, model)
				}
			}
		})
		if got := text.String(); got != model || text.Len() != len(model) {
			t.Fatalf("text is %q, want %q (was %q)", got, model, before)
		}
		if err := ycrdt.Check(doc); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPositionsAreClamped(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text, array := doc.Text("t"), doc.Array("a")
	doc.Transact(func(tx *ycrdt.Txn) {
		text.Insert(tx, 99, "b")
		text.Insert(tx, -5, "a\xff")
		text.Delete(tx, -1, 0)
		text.Delete(tx, 3, 5)
		array.Insert(tx, 7, 1, 2)
		array.Delete(tx, 1, 100)
	})
	if got := text.String(); got != "a\uFFFDb" {
		t.Errorf("text is %q", got)
	}
	if got := fmt.Sprint(array.Values()); got != "[1]" {
		t.Errorf("array is %s", got)
	}
}

func TestRuns(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{ClientID: 7})
	text := doc.Text("t")
	doc.Transact(func(tx *ycrdt.Txn) { text.Insert(tx, 0, "hello 😀") })
	doc.Transact(func(tx *ycrdt.Txn) { text.Delete(tx, 1, 2) })
	doc.Transact(func(tx *ycrdt.Txn) { text.Insert(tx, 4, "new") })
	run := func(clock uint64, n int) ycrdt.Run {
		return ycrdt.Run{ID: ycrdt.ID{Client: 7, Clock: clock}, Len: n}
	}
	want := []ycrdt.Run{run(0, 1), run(3, 3), run(8, 3), run(6, 2)}
	if got := text.Runs(); !slices.Equal(got, want) {
		t.Errorf("runs are %v, want %v", got, want)
	}
}

func TestValuesAreRefused(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	m, a := doc.Map("m"), doc.Array("a")
	used, twice := ycrdt.NewText("x"), ycrdt.NewMap(nil)
	doc.Transact(func(tx *ycrdt.Txn) {
		if err := m.Set(tx, "used", used); err != nil {
			t.Error(err)
		}
		for _, v := range []any{make(chan int), struct{}{}, used, ycrdt.NewArray(func() {}), ycrdt.NewMap(map[string]any{"k": used}), m} {
			if err := m.Set(tx, "k", v); !errors.Is(err, ycrdt.ErrValue) {
				t.Errorf("Set(%T) = %v, want ErrValue", v, err)
			}
			if err := a.Insert(tx, 0, 1, v); !errors.Is(err, ycrdt.ErrValue) {
				t.Errorf("Insert(%T) = %v, want ErrValue", v, err)
			}
		}
		if n := a.LenIn(tx); n != 0 {
			t.Errorf("refused insertions left %d elements", n)
		}
		if err := a.Push(tx, twice, twice); !errors.Is(err, ycrdt.ErrValue) {
			t.Errorf("Push(v, v) = %v, want ErrValue", err)
		}
	})
	if got := fmt.Sprint(m.Keys()); got != "[used]" {
		t.Errorf("keys are %s", got)
	}
	if err := ycrdt.Check(doc); err != nil {
		t.Error(err)
	}
}

// TestDeletedType changes a nested type after it was deleted.
func TestDeletedType(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	m := doc.Map("m")
	text, inner, array := ycrdt.NewText("x"), ycrdt.NewMap(nil), ycrdt.NewArray(1)
	doc.Transact(func(tx *ycrdt.Txn) {
		m.Set(tx, "t", text)
		m.Set(tx, "m", inner)
		m.Set(tx, "a", array)
	})
	if text.String() != "x" {
		t.Errorf("text is %q", text)
	}
	change := func(tx *ycrdt.Txn) {
		text.Insert(tx, 0, "y")
		text.Delete(tx, 0, 1)
		inner.Set(tx, "k", 1)
		inner.Delete(tx, "k")
		array.Insert(tx, 0, 2)
		array.Push(tx, 3)
		array.Delete(tx, 0, 1)
	}
	doc.Transact(func(tx *ycrdt.Txn) {
		for _, key := range m.KeysIn(tx) {
			m.Delete(tx, key)
		}
		change(tx)
	})
	doc.Transact(change)
	if text.String() != "" || inner.Len() != 0 || len(array.Values()) != 0 {
		t.Errorf("deleted types hold %q, %v, %v", text, inner.Keys(), array.Values())
	}
	if err := ycrdt.Check(doc); err != nil {
		t.Error(err)
	}
	other := ycrdt.NewDoc(ycrdt.Options{})
	if err := other.ApplyUpdate(doc.EncodeStateAsUpdate(nil)); err != nil {
		t.Error(err)
	}
}

// A map as an object has its keys in the order in which they came, whatever was set since, and so have the objects in it.
func TestObjectOfMap(t *testing.T) {
	obj := func(pairs ...any) (o ycrdt.Object) {
		for i := 0; i < len(pairs); i += 2 {
			o = append(o, ycrdt.Member{Key: pairs[i].(string), Value: pairs[i+1]})
		}
		return o
	}
	doc := ycrdt.NewDoc(ycrdt.Options{ClientID: 1})
	m := doc.Map("m")
	doc.Transact(func(tx *ycrdt.Txn) {
		for _, el := range obj("z", 0, "gone", 0, "a", "a", "z", obj("y", 1, "b", obj("d", "e", "c", 2.5))) {
			if err := m.Set(tx, el.Key, el.Value); err != nil {
				t.Error(err)
			}
		}
		m.Delete(tx, "gone")
	})
	again := ycrdt.NewDoc(ycrdt.Options{ClientID: 2})
	if err := again.ApplyUpdate(doc.EncodeStateAsUpdate(nil)); err != nil {
		t.Fatal(err)
	}
	want := obj("z", obj("y", int64(1), "b", obj("d", "e", "c", 2.5)), "a", "a")
	for _, d := range []*ycrdt.Doc{doc, again} {
		d.Transact(func(tx *ycrdt.Txn) {
			if got := d.Map("m").ObjectIn(tx); !reflect.DeepEqual(got, want) {
				t.Errorf("client %d: %v, want %v", d.ClientID(), got, want)
			}
		})
	}
}

func TestSnapshot(t *testing.T) {
	doc := ycrdt.NewDoc(ycrdt.Options{ClientID: 1})
	text := doc.Text("t")
	empty := doc.Snapshot()
	doc.Transact(func(tx *ycrdt.Txn) { text.Insert(tx, 0, "abc") })
	typed := doc.Snapshot()
	doc.Transact(func(tx *ycrdt.Txn) { text.Delete(tx, 1, 1) })
	deleted := doc.Snapshot()
	order := []*ycrdt.Snapshot{empty, typed, deleted}
	for i, a := range order {
		for j, b := range order {
			if got := a.Contains(b); got != (i >= j) {
				t.Errorf("snapshot %d contains %d: %v", i, j, got)
			}
			if got := a.Equal(b); got != (i == j) {
				t.Errorf("snapshot %d equals %d: %v", i, j, got)
			}
		}
		decoded, err := ycrdt.DecodeSnapshot(a.Encode())
		if err != nil || !decoded.Equal(a) || decoded.StateVector()[1] != a.StateVector()[1] {
			t.Errorf("decoded snapshot %d: %v, %v", i, decoded, err)
		}
	}
	for _, data := range [][]byte{nil, {0}, {1, 1, 1, 0}, {0, 9}} {
		if _, err := ycrdt.DecodeSnapshot(data); !errors.Is(err, ycrdt.ErrMalformed) {
			t.Errorf("DecodeSnapshot(%x) = %v, want ErrMalformed", data, err)
		}
	}
}
