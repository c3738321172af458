package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"

// A Txn is a running transaction. It permits changes of the document and reads of these changes. It is valid only until
// the function that received it returns, and only on the goroutine of that function.
type Txn struct {
	doc   *Doc
	edit  edit.Txn
	local bool
	open  bool
}

func (tx *Txn) begin(local bool) {
	tx.local, tx.open = local, true
	tx.edit.Begin(tx.doc.ClientID())
}

func (tx *Txn) end() {
	tx.open = false
	tx.edit.End()
}

// use panics unless tx is the running transaction of doc. Any other use would be a data race that corrupts the
// document.
func (tx *Txn) use(doc *Doc) {
	if tx == nil || tx.doc != doc || !tx.open {
		panic("ycrdt: use of a Txn outside of its transaction or document")
	}
}
