package folderdoc

import "github.com/relayfs/relayfs/bridge/ycrdt"

// ContentsName is the root Text of a content document.
const ContentsName = "contents"

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
