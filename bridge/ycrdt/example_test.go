package ycrdt_test

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Two peers write at the same place while they cannot reach each other, and
// converge when they exchange what the other lacks.
func Example() {
	alice := ycrdt.NewDoc(ycrdt.Options{ClientID: 1})
	bob := ycrdt.NewDoc(ycrdt.Options{ClientID: 2})

	alice.Transact(func(tx *ycrdt.Txn) {
		alice.Text("contents").Insert(tx, 0, "Hello!")
	})
	if err := bob.ApplyUpdate(alice.EncodeStateAsUpdate(nil)); err != nil {
		fmt.Println(err)
	}

	alice.Transact(func(tx *ycrdt.Txn) { alice.Text("contents").Insert(tx, 5, ", Bob") })
	bob.Transact(func(tx *ycrdt.Txn) { bob.Text("contents").Insert(tx, 6, " How are you?") })

	toBob := alice.EncodeStateAsUpdate(bob.EncodeStateVector())
	toAlice := bob.EncodeStateAsUpdate(alice.EncodeStateVector())
	if err := bob.ApplyUpdate(toBob); err != nil {
		fmt.Println(err)
	}
	if err := alice.ApplyUpdate(toAlice); err != nil {
		fmt.Println(err)
	}
	fmt.Println(alice.Text("contents"))
	fmt.Println(bob.Text("contents"))
	// Output:
	// Hello, Bob! How are you?
	// Hello, Bob! How are you?
}

// A provider passes on the changes that are made here, and applies those that arrive.
func Example_provider() {
	server := ycrdt.NewDoc(ycrdt.Options{ClientID: 1})
	doc := ycrdt.NewDoc(ycrdt.Options{ClientID: 2})

	connection := make(chan []byte, 16)
	// The server has something to begin with.
	server.Transact(func(tx *ycrdt.Txn) { server.Text("note").Insert(tx, 0, "# Title\n") })
	if err := doc.ApplyUpdate(server.EncodeStateAsUpdate(doc.EncodeStateVector())); err != nil {
		fmt.Println(err)
	}
	// We add to it.
	doc.OnUpdate(func(update []byte) { connection <- update })
	doc.Transact(func(tx *ycrdt.Txn) { doc.Text("note").Insert(tx, doc.Text("note").LenIn(tx), "text") })
	close(connection)

	for update := range connection {
		if err := server.ApplyUpdate(update); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("%q\n", server.Text("note"))
	// Output: "# Title\ntext"
}

func ExampleMap() {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	meta := doc.Map("meta")
	doc.Transact(func(tx *ycrdt.Txn) {
		err := meta.Set(tx, "note.md", ycrdt.NewMap(map[string]any{
			"id":   "9f3c",
			"tags": ycrdt.NewArray("a", "b"),
		}))
		if err != nil {
			fmt.Println(err)
		}
	})
	note, _ := meta.Get("note.md")
	for key, value := range note.(*ycrdt.Map).All() {
		if tags, ok := value.(*ycrdt.Array); ok {
			value = tags.Values()
		}
		fmt.Println(key, value)
	}
	// Output:
	// id 9f3c
	// tags [a b]
}
