package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"

// A Txn is a running transaction. It is what gives the right to change the document and to read what it has changed, and is
// valid only until the function that received it returns. Only that function's goroutine may use it.
type Txn struct {
	doc    *Doc
	edit   edit.Txn
	origin any
	local  bool
	open   bool
}

// begin makes tx the transaction that runs now.
func (tx *Txn) begin(origin any, local bool) {
	tx.origin, tx.local, tx.open = origin, local, true
	tx.edit.Begin(tx.doc.ClientID())
}

// end makes tx useless until it begins again.
func (tx *Txn) end() {
	tx.open, tx.origin = false, nil
	tx.edit.End()
}

// use panics unless tx is the running transaction of doc: anything else would be a data race that corrupts the document.
func (tx *Txn) use(doc *Doc) {
	if tx == nil || tx.doc != doc || !tx.open {
		panic("ycrdt: use of a Txn outside of its transaction or document")
	}
}
