// Package ycrdt is a Yjs engine: shared documents that many writers change at
// the same time, offline or on line, and that converge. It reads and writes
// exactly the bytes of Yjs 13 (update format V1), needs nothing but the
// standard library, and treats all input as hostile.
//
//	doc := ycrdt.NewDoc(ycrdt.Options{})
//	text := doc.Text("contents")
//	cancel := doc.OnUpdate(func(update []byte, origin any) { send(update) })
//	defer cancel()
//
//	doc.Transact("me", func(tx *ycrdt.Txn) { text.Insert(tx, 0, "hello") })
//	err := doc.ApplyUpdate(received, "peer")
package ycrdt
