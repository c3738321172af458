package folderdoc

import (
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

const ContentsName = "contents"

// propertiesName is the name of the root Map in which a content document mirrors its front matter: the JSON value of
// each property. Documents of older clients lack this Map.
const propertiesName = "frontmatter"

// EnsureNonEmpty inserts and deletes a character in a content document without structs:
// readers assume that such a document was not uploaded yet, and show no file.
func EnsureNonEmpty(doc *ycrdt.Doc) {
	if len(doc.StateVector()) > 0 {
		return
	}
	text := doc.Text(ContentsName)
	doc.Transact(func(tx *ycrdt.Txn) {
		text.Insert(tx, 0, " ")
		text.Delete(tx, 0, 1)
	})
}

// Register records in the document's users map that client belongs to user, in the layout of Yjs's PermanentUserData.
// It reports whether the entry is new. It replaces an entry of another layout as a whole, because Yjs's readers fail at
// such an entry, and read only entries that are set after they began.
func Register(doc *ycrdt.Doc, user string, client ycrdt.ClientID) (added bool) {
	users := doc.Map("users")
	doc.Transact(func(tx *ycrdt.Txn) {
		switch ids := idsIn(tx, users, user); {
		case ids == nil:
			added = users.Set(tx, user, ycrdt.NewMap(map[string]any{
				"ids": ycrdt.NewArray(float64(client)), "ds": ycrdt.NewArray(),
			})) == nil
		case !slices.ContainsFunc(ids.ValuesIn(tx), func(id any) bool { return number(id) == float64(client) }):
			added = ids.Push(tx, float64(client)) == nil
		}
	})
	return added
}

func IsByAgent(doc *ycrdt.Doc) bool {
	return slices.ContainsFunc(doc.Map("users").Keys(), func(user string) bool { return strings.HasPrefix(user, "ai:") })
}

// Reclaim removes the clients registered for user from all other users, and reports whether there were any. It is
// necessary because relay-server also registers each new client, for the user of the client's token. It does so after
// the client has registered itself, and readers use the last registration.
func Reclaim(doc *ycrdt.Doc, user string) (reclaimed bool) {
	users := doc.Map("users")
	doc.Transact(func(tx *ycrdt.Txn) {
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
		// Register our clients again, because connected clients use the registration that they received last.
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

// idsIn returns the list of the clients of a user, or nil if there is no list.
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

// Mirror begins a local change of a content document, and mirrored ends it. mirrored writes the changed front matter to
// the document's mirror, if there is one. The change must reach other clients as one update; otherwise they write the
// old values back into the text.
func Mirror(doc *ycrdt.Doc) (mirrored func()) {
	mirror := doc.Map(propertiesName)
	if mirror.Len() == 0 {
		return func() {}
	}
	text := doc.Text(ContentsName)
	before := text.String()
	return func() {
		set, drop := frontmatter.Mirror(before, text.String(), maps.Collect(mirror.All()))
		doc.Transact(func(tx *ycrdt.Txn) {
			for _, p := range set {
				_ = mirror.Set(tx, p.Key, p.Value) // a string always has a Yjs form
			}
			for _, key := range drop {
				mirror.Delete(tx, key)
			}
		})
	}
}

// Conflicts returns the properties that the last transaction set in the mirror, by a client that did not have the value
// before it. The text then contains a mixture of both values, and the mirror one of them. If
// only the text differs from the mirror, there is no conflict: a client without the mirror has changed the property.
func Conflicts(doc *ycrdt.Doc) (keys []string) {
	setters, _ := doc.Map(propertiesName).KeysSince(0)
	for _, s := range setters {
		if s.Conflict {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// Repair reconciles the properties of a conflict, and reports whether it has changed any. It writes the mirror's values
// into the text where they differ. It also writes them to the mirror again, because clients copy new mirror values to
// their text.
func Repair(doc *ycrdt.Doc, keys []string) bool {
	mirror, contents := doc.Map(propertiesName), doc.Text(ContentsName)
	have := contents.String()
	if contents.Len() != textmerge.UTF16Len(have) {
		return false // doc contains more than text
	}
	want, differ := frontmatter.Mirrored(have, maps.Collect(mirror.All()), keys)
	if len(differ) == 0 {
		return false
	}
	doc.Transact(func(tx *ycrdt.Txn) {
		textmerge.ApplyEdits(tx, contents, have, textmerge.DiffSave(have, want))
		for _, p := range differ {
			_ = mirror.Set(tx, p.Key, p.Value) // a string always has a Yjs form
		}
	})
	return true
}
