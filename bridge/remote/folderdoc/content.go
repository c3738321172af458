package folderdoc

import (
	"maps"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// ContentsName is the root Text of a content document.
const ContentsName = "contents"

// propertiesName is the root Map of a content document that mirrors the front matter: the
// values as JSON, by property. Documents of older clients have none.
const propertiesName = "frontmatter"

// EnsureNonEmpty inserts and deletes a character in a content document without structs:
// readers assume that such a document was not uploaded yet, and show no file.
func EnsureNonEmpty(doc *ycrdt.Doc) {
	if len(doc.StateVector()) > 0 {
		return
	}
	text := doc.Text(ContentsName)
	doc.Transact(nil, func(tx *ycrdt.Txn) {
		text.Insert(tx, 0, " ")
		text.Delete(tx, 0, 1)
	})
}

// Register records in the document's users map that client belongs to user, in the layout
// of Yjs's PermanentUserData. It reports whether that was new.
func Register(doc *ycrdt.Doc, user string, client ycrdt.ClientID) (added bool) {
	users := doc.Map("users")
	doc.Transact(nil, func(tx *ycrdt.Txn) {
		v, _ := users.GetIn(tx, user)
		m, ok := v.(*ycrdt.Map)
		if !ok {
			added = users.Set(tx, user, ycrdt.NewMap(map[string]any{
				"ids": ycrdt.NewArray(float64(client)), "ds": ycrdt.NewArray(),
			})) == nil
			return
		}
		v, _ = m.GetIn(tx, "ids")
		ids, ok := v.(*ycrdt.Array)
		if !ok {
			added = m.Set(tx, "ids", ycrdt.NewArray(float64(client))) == nil
			return
		}
		for _, id := range ids.ValuesIn(tx) {
			if number(id) == float64(client) {
				return
			}
		}
		added = ids.Push(tx, float64(client)) == nil
	})
	return added
}

// Mirror begins a local change of a content document. mirrored ends it: what has become of
// the front matter is entered in the document's mirror of it, if there is one. The change has
// to reach other clients as one update, or they write the old values back over the text.
func Mirror(doc *ycrdt.Doc) (mirrored func()) {
	mirror := doc.Map(propertiesName)
	if mirror.Len() == 0 {
		return func() {}
	}
	text := doc.Text(ContentsName)
	before := text.String()
	return func() {
		set, drop := frontmatter.Mirror(before, text.String(), maps.Collect(mirror.All()))
		doc.Transact(nil, func(tx *ycrdt.Txn) {
			for _, p := range set {
				_ = mirror.Set(tx, p.Key, p.Value) // a string always has a Yjs form
			}
			for _, key := range drop {
				mirror.Delete(tx, key)
			}
		})
	}
}
