package canvasdoc

import "github.com/relayfs/relayfs/bridge/ycrdt"

const (
	nodesName  = "nodes"
	edgesName  = "edges"
	headerName = "relay"
	usersName  = "users" // see folderdoc.Register
)

const (
	idKey   = "id"
	typeKey = "type"
	textKey = "text"
	fromKey = "fromNode"
	toKey   = "toNode"

	typeText = "text"
)

// canvas has the nodes and edges of a canvas by ID, in order. Each node or edge is an object.
type canvas struct{ nodes, edges ycrdt.Object }

func Read(doc *ycrdt.Doc) []byte {
	var c canvas
	doc.Transact(func(tx *ycrdt.Txn) { c = isVisible(doc, tx) })
	return c.file()
}

// Normalize returns the file that Read would return after data was written to a new document. An error wraps ErrFormat.
func Normalize(data []byte) ([]byte, error) {
	c, err := parse(data)
	return c.file(), err
}

// isVisible returns the canvas that the document's file shows.
func isVisible(doc *ycrdt.Doc, tx *ycrdt.Txn) canvas {
	c := canvas{items(doc.Map(nodesName), tx), items(doc.Map(edgesName), tx)}
	for i, n := range c.nodes {
		node := n.Value.(ycrdt.Object)
		if !hasText(n.Key, node) {
			continue
		}
		if text := doc.Text(n.Key).StringIn(tx); text != "" {
			c.nodes[i].Value = node.With(textKey, text)
		}
	}
	return c
}

// items returns the objects of a map for the file: with their IDs, and without undefined members.
func items(m *ycrdt.Map, tx *ycrdt.Txn) (list ycrdt.Object) {
	for _, el := range m.ObjectIn(tx) {
		stored, ok := el.Value.(ycrdt.Object)
		if !ok {
			continue
		}
		var item ycrdt.Object
		for _, member := range stored {
			if _, undefined := member.Value.(ycrdt.Undefined); !undefined {
				item = append(item, member)
			}
		}
		list = append(list, ycrdt.Member{Key: el.Key, Value: item.With(idKey, el.Key)})
	}
	return list
}

func hasText(id string, node ycrdt.Object) bool {
	switch id {
	case nodesName, edgesName, headerName, usersName:
		return false // Yjs does not allow the same name for a map and a text
	}
	return member(node, typeKey) == typeText
}

func member(o ycrdt.Object, key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}
