package canvasdoc

import (
	"bytes"
	"slices"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Write merges data, a writer's new version of the file base, into the canvas. It keeps the changes that others have
// made since base. An error wraps ErrFormat.
func Write(doc *ycrdt.Doc, base, data []byte) error {
	old, err := parse(base)
	if err != nil {
		return err
	}
	want, err := parse(data)
	if err != nil {
		return err
	}
	doc.Transact(func(tx *ycrdt.Txn) {
		present := isVisible(doc, tx)
		w := writer{doc, tx, ends(old.edges, present.edges)}
		if header := doc.Map(headerName); len(header.KeysIn(tx)) == 0 {
			w.set(header, "v", 0)
		}
		w.write(doc.Map(nodesName), old.nodes, present.nodes, want.nodes, w.writeText)
		w.write(doc.Map(edgesName), old.edges, present.edges, want.edges, merged)
	})
	return nil
}

type writer struct {
	doc  *ycrdt.Doc
	tx   *ycrdt.Txn
	tied map[string]bool // nodes to which others have drawn edges
}

// ends returns the IDs of the nodes at the ends of the edges that were added since the base.
func ends(was, current ycrdt.Object) map[string]bool {
	known, tied := was.ByKey(), make(map[string]bool)
	for _, e := range current {
		if _, old := known[e.Key]; !old {
			edge := e.Value.(ycrdt.Object)
			tied[member(edge, fromKey)], tied[member(edge, toKey)] = true, true
		}
	}
	return tied
}

// merge returns the replacement of an item, or nil if the item does not change. old is the item in the base, current
// the item now, and want the item in the new file; old and current may be nil.
type merge func(id string, old, current, want ycrdt.Object) ycrdt.Object

func (w writer) write(m *ycrdt.Map, was, current, want ycrdt.Object, merge merge) {
	base, now, left := was.ByKey(), current.ByKey(), want.ByKey()
	for _, el := range want {
		old, ok := base[el.Key].(ycrdt.Object)
		have, there := now[el.Key].(ycrdt.Object)
		if _, taken := m.GetIn(w.tx, el.Key); taken != there || ok && !there {
			continue // the item is hidden, or others have deleted it
		}
		if item := merge(el.Key, old, have, el.Value.(ycrdt.Object)); item != nil {
			w.set(m, el.Key, item)
		}
	}
	for _, el := range was {
		_, wanted := left[el.Key]
		have, there := now[el.Key].(ycrdt.Object)
		if !wanted && there && same(el.Value.(ycrdt.Object), have) && !w.tied[el.Key] {
			m.Delete(w.tx, el.Key)
		}
	}
}

func (w writer) set(m *ycrdt.Map, key string, value any) {
	_ = m.Set(w.tx, key, value) // values from parse always have a Yjs form
}

// writeText is the merge for nodes. It also applies changes of a node's text to the Yjs text of the node.
func (w writer) writeText(id string, old, current, want ycrdt.Object) ycrdt.Object {
	before, present, after := member(old, textKey), member(current, textKey), member(want, textKey)
	if !hasText(id, want) || current != nil && (before == after || present == after) {
		return merged(id, old, current, want)
	}
	text := w.doc.Text(id)
	own := text.StringIn(w.tx)
	if current == nil {
		before, present = own, own // own is the text of a deleted node with this ID
	}
	now := textmerge.Merge(textmerge.RawSide(before, nil), textmerge.RawSide(present, nil), after)
	textmerge.ApplyEdits(w.tx, text, own, textmerge.DiffSave(own, now))
	item := merged(id, old, current, want.With(textKey, before))
	if item == nil && now == "" { // from now on the member text is shown, because the Text is empty
		item = slices.Clone(current)
	}
	if item == nil {
		return nil
	}
	return item.With(textKey, now)
}

// merged applies the writer's changes to the members of an item. It skips members that others have changed too.
func merged(_ string, was, current, want ycrdt.Object) (item ycrdt.Object) {
	if current == nil {
		return want
	}
	before, after := was.ByKey(), want.ByKey()
	changed := false
	for _, m := range current {
		old, ok := before[m.Key]
		value, wanted := after[m.Key]
		if ok && equal(old, m.Value) && !(wanted && equal(old, value)) {
			changed = true
			if !wanted {
				continue
			}
			m.Value = value
		}
		item = append(item, m)
	}
	present := current.ByKey()
	for _, m := range want {
		_, ok := before[m.Key]
		if _, there := present[m.Key]; !ok && !there {
			item, changed = append(item, m), true
		}
	}
	if !changed {
		return nil
	}
	return item
}

// same reports whether two items have the same members, in any order.
func same(a, b ycrdt.Object) bool {
	have := b.ByKey()
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m ycrdt.Member) bool {
		value, ok := have[m.Key]
		return !ok || !equal(m.Value, value)
	})
}

// equal reports whether two values have the same form in a file.
func equal(a, b any) bool { return bytes.Equal(ycrdt.AppendJSON(nil, a), ycrdt.AppendJSON(nil, b)) }
