package folderdoc

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Create adds e, and missing entries for the folders above it, in one transaction. It fills in an empty ID or Type. If
// the path has an entry of the same type, Create completes and returns that entry, and the caller adopts its ID. If the
// path has an entry of another type, or an entry above it is not a folder, the error is fs.ErrExist.
func (f *Folder) Create(e Entry) (Entry, error) {
	err := f.change("create", e.Path, func(tx *ycrdt.Txn) (err error) {
		e, err = f.create(tx, f.view(tx), e)
		return err
	})
	return e, err
}

// view is the content of a folder document in one state. all has these entries and the implicit folders of their
// paths; see addParents.
type view struct{ entries, all map[string]Entry }

func (f *Folder) view(tx *ycrdt.Txn) view {
	v := view{entries: f.read(tx)}
	v.all = maps.Clone(v.entries)
	addParents(v.all)
	return v
}

func (v view) put(e Entry) { v.entries[e.Path], v.all[e.Path] = e, e }

func (f *Folder) create(tx *ycrdt.Txn, v view, e Entry) (Entry, error) {
	if e.ID == "" {
		e.ID = NewID()
	}
	if e.Type == "" {
		e.Type, _ = TypeOf(e.Path)
	}
	have, exists := v.entries[e.Path]
	derived := !exists && v.all[e.Path].Type == TypeFolder
	if exists && have.Type != e.Type || derived && e.Type != TypeFolder || !exists && f.foreign(tx, e.Path) {
		return e, fs.ErrExist
	}
	if exists {
		e = have
		if _, complete := f.meta.GetIn(tx, key(e.Path)); complete {
			return e, nil
		}
	}
	if err := f.putParents(tx, v, e.Path); err != nil {
		return e, err
	}
	v.put(e)
	return e, f.put(tx, e.Path, e.Type == TypeMarkdown, e.ID, e.meta())
}

// SetFile sets the content of the attachment at p. If there is none, the error is fs.ErrNotExist.
func (f *Folder) SetFile(p, hash, mimetype string, syncTime int64) error {
	return f.change("write", p, func(tx *ycrdt.Txn) error {
		e, ok := f.at(tx, p)
		if !ok || e.Type == TypeFolder || e.Type == TypeMarkdown || e.Type == TypeCanvas {
			return fs.ErrNotExist
		}
		e.Hash, e.Mimetype, e.SyncTime = hash, mimetype, syncTime
		return f.put(tx, p, false, e.ID, e.meta())
	})
}

// Exchange gives the name p to the document id, and takes it from another document of the same kind. The other document
// is renamed to free, or loses its entry if free is "". If p has no entry, the error is fs.ErrNotExist; if free has one
// already, fs.ErrExist.
func (f *Folder) Exchange(p, id, free string) error {
	return f.change("rename", p, func(tx *ycrdt.Txn) error {
		e, ok := f.at(tx, p)
		if !ok {
			return fs.ErrNotExist
		}
		if free != "" {
			if _, taken := f.at(tx, free); taken || f.foreign(tx, free) {
				return fs.ErrExist
			}
			if err := f.put(tx, free, e.Type == TypeMarkdown, e.ID, e.meta()); err != nil {
				return err
			}
		}
		e.ID = id
		return f.put(tx, p, e.Type == TypeMarkdown, id, e.meta())
	})
}

// put writes one entry to filemeta_v0. If markdown is set, it first writes the ID to docs.
func (f *Folder) put(tx *ycrdt.Txn, p string, markdown bool, id string, meta any) error {
	if markdown {
		if err := f.docs.Set(tx, key(p), id); err != nil {
			return err
		}
	}
	return f.meta.Set(tx, key(p), meta)
}

func (f *Folder) putParents(tx *ycrdt.Txn, v view, p string) error {
	var missing []string
	for dir := parent(p); dir != ""; dir = parent(dir) {
		e, exists := v.all[dir]
		if exists && e.Type != TypeFolder {
			return fs.ErrExist
		}
		if e.ID == "" {
			missing = append(missing, dir)
		}
	}
	for _, dir := range slices.Backward(missing) {
		e := Entry{Path: dir, ID: NewID(), Type: TypeFolder}
		v.put(e)
		if err := f.put(tx, dir, false, "", e.meta()); err != nil {
			return err
		}
	}
	return nil
}

// Rename moves the entry at oldPath, with everything below it, in one transaction. IDs do not change. Errors:
// fs.ErrNotExist if there is no such entry; fs.ErrExist if newPath is a folder, is below a file, or is another entry
// that must not be replaced; ErrPath if newPath is not valid or is below oldPath.
func (f *Folder) Rename(oldPath, newPath string, replace bool) error {
	if CheckPath(newPath) != nil || below(oldPath, newPath) {
		return &fs.PathError{Op: "rename", Path: newPath, Err: ErrPath}
	}
	if oldPath == newPath {
		return nil
	}
	return f.change("rename", oldPath, func(tx *ycrdt.Txn) error {
		moving := f.keysBelow(tx, oldPath)
		if len(moving) == 0 {
			return fs.ErrNotExist
		}
		if err := f.makeRoom(tx, newPath, replace); err != nil {
			return err
		}
		if err := f.putParents(tx, f.view(tx), newPath); err != nil {
			return err
		}
		for _, k := range moving {
			p := strings.TrimPrefix(k, "/")
			if err := f.copyEntry(tx, k, newPath+p[len(oldPath):]); err != nil {
				return err
			}
		}
		f.remove(tx, moving)
		return nil
	})
}

func (f *Folder) makeRoom(tx *ycrdt.Txn, p string, replace bool) error {
	there := f.keysBelow(tx, p)
	if len(there) == 0 {
		return nil
	}
	e, ok := f.at(tx, p)
	isFolder := e.Type == TypeFolder || slices.ContainsFunc(there, func(k string) bool { return below(p, pathOf(k)) })
	if isFolder || ok && !replace || f.foreign(tx, p) {
		return fs.ErrExist
	}
	f.remove(tx, there)
	return nil
}

// foreign reports whether p has an entry that readMeta cannot read, such as an entry of a newer version of the format.
// Such an entry must not be overwritten.
func (f *Folder) foreign(tx *ycrdt.Txn, p string) bool {
	v, there := f.metaAt(tx, key(p))
	_, ok := readMeta(p, v)
	return there && !ok
}

// copyEntry copies the entry of key k to p. It copies the value in filemeta_v0 unchanged, including unknown members. If
// there is no value, it creates one.
func (f *Folder) copyEntry(tx *ycrdt.Txn, k, p string) error {
	id, inDocs := f.docs.GetIn(tx, k)
	meta, inMeta := f.metaAt(tx, k)
	docID, _ := id.(string)
	if !inMeta {
		meta = Entry{ID: docID, Type: TypeMarkdown}.meta()
	}
	return f.put(tx, p, inDocs, docID, meta)
}

// keysBelow returns the keys of both maps at p and below it, sorted.
func (f *Folder) keysBelow(tx *ycrdt.Txn, p string) []string {
	keys := slices.DeleteFunc(f.keys(tx), func(k string) bool {
		q := pathOf(k)
		return q != p && !below(p, q)
	})
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (f *Folder) remove(tx *ycrdt.Txn, keys []string) {
	for _, k := range keys {
		f.docs.Delete(tx, k)
		f.meta.Delete(tx, k)
	}
}

// Delete removes the entry at p, but not its content document. Errors: fs.ErrNotExist if there is no entry; ErrNotEmpty
// if p has children (see Inside).
func (f *Folder) Delete(p string) error {
	return f.change("remove", p, func(tx *ycrdt.Txn) error {
		keys := f.keysBelow(tx, p)
		switch {
		case len(keys) == 0:
			return fs.ErrNotExist
		case slices.ContainsFunc(keys, func(k string) bool { return below(p, pathOf(k)) && !f.deleted(tx, k) }):
			return ErrNotEmpty
		}
		f.remove(tx, keys)
		return nil
	})
}

// Inside returns the names directly below p ("" means the root). Unlike List, it includes entries of other versions of
// the format.
func (f *Folder) Inside(p string) []string {
	names := make(map[string]bool)
	f.doc.Transact(func(tx *ycrdt.Txn) {
		for _, k := range f.keys(tx) {
			q := pathOf(k)
			if q == "" || p != "" && !below(p, q) || f.deleted(tx, k) {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(q[len(p):], "/"), "/")
			names[name] = true
		}
	})
	return slices.Sorted(maps.Keys(names))
}

// deleted reports whether the entry of k counts as deleted, because it is Markdown without an ID in docs.
func (f *Folder) deleted(tx *ycrdt.Txn, k string) bool {
	value, inMeta := f.metaAt(tx, k)
	e, ok := readMeta(pathOf(k), value)
	id, _ := f.docs.GetIn(tx, k)
	text, _ := id.(string)
	return text == "" && (!inMeta || ok && e.Type == TypeMarkdown)
}
