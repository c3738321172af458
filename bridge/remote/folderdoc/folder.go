package folderdoc

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

const (
	metaName = "filemeta_v0"
	docsName = "docs"
)

type Folder struct {
	doc        *ycrdt.Doc
	docs, meta *ycrdt.Map
}

// Open returns the Folder whose folder document is doc, which may be empty.
func Open(doc *ycrdt.Doc) *Folder {
	return &Folder{doc, doc.Map(docsName), doc.Map(metaName)}
}

// List returns the entries and the implicit folders of their paths, sorted by path.
func (f *Folder) List() []Entry {
	var entries map[string]Entry
	// A transaction sees the same state of both maps.
	f.doc.Transact(func(tx *ycrdt.Txn) { entries = f.read(tx) })
	addParents(entries)
	return slices.SortedFunc(maps.Values(entries), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

func (f *Folder) Get(p string) (e Entry, ok bool) {
	f.doc.Transact(func(tx *ycrdt.Txn) { e, ok = f.at(tx, p) })
	return e, ok
}

func (f *Folder) Holds(id string) (holds bool) {
	f.doc.Transact(func(tx *ycrdt.Txn) {
		for _, e := range f.read(tx) {
			holds = holds || e.ID == id
		}
	})
	return holds
}

func (f *Folder) read(tx *ycrdt.Txn) map[string]Entry {
	entries := make(map[string]Entry)
	for _, k := range f.keys(tx) {
		p := pathOf(k)
		if p == "" {
			continue
		}
		if _, exists := entries[p]; exists && k != key(p) {
			continue // the key with a slash takes precedence
		}
		if e, ok := f.entry(tx, k); ok {
			entries[p] = e
		}
	}
	return entries
}

func (f *Folder) keys(tx *ycrdt.Txn) []string {
	return slices.Concat(f.meta.KeysIn(tx), f.docs.KeysIn(tx))
}

// at returns the entry at path p. The key may lack the slash at its start.
func (f *Folder) at(tx *ycrdt.Txn, p string) (Entry, bool) {
	if e, ok := f.entry(tx, key(p)); ok {
		return e, true
	}
	return f.entry(tx, p)
}

// entry reads the values of key k in both maps. Markdown counts only if docs has it. An entry that is only in docs is
// Markdown of an older client.
func (f *Folder) entry(tx *ycrdt.Txn, k string) (Entry, bool) {
	p := strings.TrimPrefix(k, "/")
	docs, _ := f.docs.GetIn(tx, k)
	id, inDocs := docs.(string)
	inDocs = inDocs && id != ""
	value, inMeta := f.metaAt(tx, k)
	if !inMeta {
		return Entry{Path: p, ID: id, Type: TypeMarkdown}, inDocs
	}
	e, ok := readMeta(p, value)
	return e, ok && (inDocs || e.Type != TypeMarkdown)
}

// metaAt returns the value of key k in filemeta_v0. Relay writes plain objects. Another client may write a nested
// map, which metaAt converts to an object.
func (f *Folder) metaAt(tx *ycrdt.Txn, k string) (value any, ok bool) {
	value, ok = f.meta.GetIn(tx, k)
	if m, nested := value.(*ycrdt.Map); nested {
		return m.ObjectIn(tx), ok
	}
	return value, ok
}

// addParents adds the folders in the paths of entries. A file with children becomes a folder, so that its children
// are reachable.
func addParents(entries map[string]Entry) {
	for _, p := range slices.Collect(maps.Keys(entries)) {
		for dir := parent(p); dir != ""; dir = parent(dir) {
			if e, ok := entries[dir]; ok && e.Type == TypeFolder {
				break
			}
			entries[dir] = Entry{Path: dir, Type: TypeFolder}
		}
	}
}

func (f *Folder) change(op, p string, fn func(tx *ycrdt.Txn) error) error {
	err := CheckPath(p)
	if err == nil {
		f.doc.Transact(func(tx *ycrdt.Txn) { err = fn(tx) })
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: p, Err: err}
	}
	return nil
}
