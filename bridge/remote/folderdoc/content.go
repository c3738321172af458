package folderdoc

import (
	"maps"
	"slices"

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

// Reclaim has the clients that are registered as user be nobody else's. relay-server enters a
// client that is new to it as that of the person whose token it used, after the client has
// registered itself; readers take the last entry. It reports whether there was such an entry.
func Reclaim(doc *ycrdt.Doc, user string) (reclaimed bool) {
	users := doc.Map("users")
	doc.Transact(nil, func(tx *ycrdt.Txn) {
		own := idsIn(tx, users, user)
		if own == nil {
			return
		}
		ours := make(map[float64]bool)
		for _, id := range own.ValuesIn(tx) {
			ours[number(id)] = true
		}
		taken := make(map[float64]bool)
		for _, name := range users.KeysIn(tx) {
			ids := idsIn(tx, users, name)
			if name == user || ids == nil {
				continue
			}
			for at, id := range slices.Backward(ids.ValuesIn(tx)) {
				if ours[number(id)] {
					taken[number(id)] = true
					ids.Delete(tx, at, 1)
				}
			}
		}
		// Those who are connected have seen the other entry after ours.
		for at, id := range slices.Backward(own.ValuesIn(tx)) {
			if taken[number(id)] {
				own.Delete(tx, at, 1)
			}
		}
		for id := range taken {
			reclaimed = own.Push(tx, id) == nil || reclaimed
		}
	})
	return reclaimed
}

// idsIn returns the clients of a user, nil if there is no list of them.
func idsIn(tx *ycrdt.Txn, users *ycrdt.Map, user string) *ycrdt.Array {
	v, _ := users.GetIn(tx, user)
	m, ok := v.(*ycrdt.Map)
	if !ok {
		return nil
	}
	v, _ = m.GetIn(tx, "ids")
	ids, _ := v.(*ycrdt.Array)
	return ids
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
