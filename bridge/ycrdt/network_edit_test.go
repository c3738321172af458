package ycrdt_test

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

var snippets = []string{"a", "bc", "hello ", "😀", "é", "日本", "x😀y", "\n", "0123456789"}

// edit makes a transaction of one to three random changes.
func (n *network) edit(doc *ycrdt.Doc) {
	doc.Transact(func(tx *ycrdt.Txn) {
		for range 1 + n.rand.IntN(3) {
			n.change(doc, tx)
		}
	})
}

func (n *network) change(doc *ycrdt.Doc, tx *ycrdt.Txn) {
	switch n.rand.IntN(3) {
	case 0:
		n.changeText(doc.Text("text"), tx)
	case 1:
		n.changeMap(doc.Map("map"), tx)
	default:
		n.changeArray(doc.Array("array"), tx)
	}
}

func (n *network) changeText(t *ycrdt.Text, tx *ycrdt.Txn) {
	pos := n.rand.IntN(t.LenIn(tx) + 1)
	if n.rand.IntN(5) < 3 {
		t.Insert(tx, pos, snippets[n.rand.IntN(len(snippets))])
	} else {
		t.Delete(tx, pos, 1+n.rand.IntN(4))
	}
}

func (n *network) changeMap(m *ycrdt.Map, tx *ycrdt.Txn) {
	key := fmt.Sprint("k", n.rand.IntN(3))
	nested, _ := m.GetIn(tx, "nested")
	inner, ok := nested.(*ycrdt.Map)
	switch {
	case n.rand.IntN(3) == 0:
		m.Delete(tx, key)
	case n.rand.IntN(2) == 0:
		must(m.Set(tx, key, n.rand.IntN(100)))
	case ok && n.rand.IntN(4) > 0:
		must(inner.Set(tx, key, ycrdt.NewArray(1, ycrdt.NewMap(nil))))
	default:
		must(m.Set(tx, "nested", ycrdt.NewMap(map[string]any{"t": ycrdt.NewText("x")})))
	}
}

func (n *network) changeArray(a *ycrdt.Array, tx *ycrdt.Txn) {
	pos := n.rand.IntN(a.LenIn(tx) + 1)
	if n.rand.IntN(2) == 0 {
		a.Delete(tx, pos, 1+n.rand.IntN(3))
		return
	}
	must(a.Insert(tx, pos, n.rand.IntN(9), "s", ycrdt.NewText("in"), []byte{1}))
}

// must panics for an error that valid values cannot cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
