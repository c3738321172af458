package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// folder is a Folder of the workspace and its folder document.
type folder struct {
	h     *Host
	name  string
	id    string
	store model.Store
	doc   *ycrdt.Doc
	model *folderdoc.Folder

	mu    sync.Mutex        // one change of names at a time; protects the following
	nodes map[uint64]string // entry ids by the tree's
	kept  uint64            // the store's number of the last change
	// unhashed are the files whose hash is not known, sums the hashes of others.
	unhashed []string
	sums     map[string]fileSum

	index sync.RWMutex // protects the following, which follows the document
	rels  map[string]string
	ids   map[string]string
	files map[string]folderdoc.Entry // attachments by their ids
}

// folderPath is the place of a folder document in the store.
const folderPath = model.Path(".relay/folder")

// start loads the folder document, carries out what a crash has left undone, and
// brings it up to date. id is "" for the one that it has, or a new one.
func (f *folder) start(ctx context.Context, id string) error {
	kept, err := f.store.DocID(folderPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.id = cmp.Or(id, string(kept), folderdoc.NewID())
	undone, err := f.load(kept)
	if err != nil {
		return err
	}
	f.sums = make(map[string]fileSum)
	f.mu.Lock()
	defer f.mu.Unlock()
	if kept != "" && string(kept) != f.id {
		if err := f.keep(model.Record{Update: f.doc.EncodeStateAsUpdate(nil)}); err != nil {
			return err // under its new id
		}
	}
	f.carryOut(ctx, undone, model.Author{})
	return f.follow()
}

// load reads the document and returns the changes that were kept but perhaps
// not carried out.
func (f *folder) load(id model.DocID) ([]folderdoc.Change, error) {
	f.doc = ycrdt.NewDoc(ycrdt.Options{})
	f.model = folderdoc.Open(f.doc)
	if id == "" {
		return nil, nil
	}
	h, err := f.store.Load(id)
	if err != nil {
		return nil, err
	}
	var before []folderdoc.Entry
	ahead := false
	for _, rec := range h.Records {
		if rec.Ahead && rec.Seq > h.Materialized && !ahead {
			before, ahead = f.model.List(), true
			f.reindexFiles(before) // undone changes are about what was there
		}
		if err := f.doc.ApplyUpdate(rec.Update, hostOrigin{}); err != nil {
			return nil, err
		}
	}
	if !ahead {
		return nil, nil
	}

	return folderdoc.Diff(before, f.model.List()), nil
}

// keep keeps a change of the document.
func (f *folder) keep(rec model.Record) error {
	rec.Time = time.Now().UTC()
	seq, err := f.store.Append(model.DocID(f.id), folderPath, rec)
	if err != nil {
		return fmt.Errorf("folder document: %w", err)
	}
	f.kept = seq
	if !rec.Ahead {
		f.store.Materialized(model.DocID(f.id), seq, model.ContentSum{})
	}
	return nil
}

// reindex takes over the ids and paths of entries.
func (f *folder) reindex(entries []folderdoc.Entry) {
	rels, ids := make(map[string]string, len(entries)), make(map[string]string, len(entries))
	for _, e := range entries {
		if e.Type == folderdoc.TypeMarkdown {
			rels[e.ID], ids[e.Path] = e.Path, e.ID
		}
	}
	f.reindexFiles(entries)
	f.index.Lock()
	defer f.index.Unlock()
	f.rels, f.ids = rels, ids
}

// reindexFiles takes over the attachments.
func (f *folder) reindexFiles(entries []folderdoc.Entry) {
	files := make(map[string]folderdoc.Entry)
	for _, e := range entries {
		if e.Hash != "" {
			files[e.ID] = e
		}
	}
	f.index.Lock()
	defer f.index.Unlock()
	f.files = files
}

// relOf is the path of the note with that id.
func (f *folder) relOf(id string) (rel string, ok bool) {
	f.index.RLock()
	defer f.index.RUnlock()
	rel, ok = f.rels[id]
	return rel, ok
}

// idAt is the id of the note at rel.
func (f *folder) idAt(rel string) (id string, ok bool) {
	f.index.RLock()
	defer f.index.RUnlock()
	id, ok = f.ids[rel]
	return id, ok
}

// path is rel in the workspace.
func (f *folder) path(rel string) model.Path { return model.Path(f.name).Join(rel) }

// follow brings the document up to the tree. f.mu is held.
func (f *folder) follow() error {
	tree, err := f.h.ws.Tree(f.name)
	if errors.Is(err, model.ErrOffline) {
		return nil // nothing is taken for deleted
	}
	if err != nil {
		return err
	}
	before := entered(f.model.List())
	want, err := f.wanted(tree, before)
	if err != nil {
		return err
	}
	steps := folderdoc.Diff(before, want)
	state := f.doc.EncodeStateVector()
	if f.model.Name() != f.name {
		f.model.SetName(f.name, hostOrigin{})
	} else if len(steps) == 0 {
		f.reindex(want)
		return nil
	}
	f.writeAll(steps)
	f.reindex(f.model.List())
	return f.keep(model.Record{Update: f.doc.EncodeStateAsUpdate(state)})
}

// entered drops the folders that only the paths below them tell of: they get
// entries of their own.
func entered(list []folderdoc.Entry) []folderdoc.Entry {
	return slices.DeleteFunc(list, func(e folderdoc.Entry) bool { return e.ID == "" })
}

// writeAll makes steps in the document, in their order. New names that follow one
// another, as all do in a vault that is served for the first time, are one change.
func (f *folder) writeAll(steps []folderdoc.Change) {
	for len(steps) > 0 {
		var created []folderdoc.Entry
		for len(created) < len(steps) && steps[len(created)].Kind == folderdoc.Created {
			created = append(created, steps[len(created)].Entry)
		}
		if len(created) == 0 {
			f.told(steps[0].Path, f.write(steps[0]))
			steps = steps[1:]
			continue
		}
		_, errs := f.model.CreateAll(created, hostOrigin{})
		for i, err := range errs {
			f.told(created[i].Path, err)
		}
		steps = steps[len(created):]
	}
}

// told logs what has kept a name from the document.
func (f *folder) told(rel string, err error) {
	if err != nil {
		f.h.log.Warn("name is not in the folder document", model.LogPath, string(f.path(rel)), model.LogErr, err)
	}
}

// write makes one step in the document that is no new name.
func (f *folder) write(c folderdoc.Change) (err error) {
	switch c.Kind {
	case folderdoc.Removed:
		err = f.model.Delete(c.Path, hostOrigin{})
	case folderdoc.Renamed:
		err = f.model.Rename(c.OldPath, c.Path, false, hostOrigin{})
	case folderdoc.Changed:
		err = f.model.SetFile(c.Path, c.Entry.Hash, c.Entry.Mimetype, c.Entry.SyncTime, hostOrigin{})
	}
	return err
}

// wanted are the entries that the document should have for the tree. An entry
// keeps the id that it has: over renames, by the tree's own; over restarts, by
// its path. f.mu is held.
func (f *folder) wanted(tree []bridge.TreeEntry, have []folderdoc.Entry) ([]folderdoc.Entry, error) {
	known := make(map[string]folderdoc.Entry, len(have))
	knownIDs := make(map[string]folderdoc.Entry, len(have))
	for _, e := range have {
		known[e.Path], knownIDs[e.ID] = e, e
	}
	nodes := make(map[uint64]string, len(tree))
	f.unhashed = nil
	sums := make(map[string]fileSum)
	var want []folderdoc.Entry
	for _, t := range tree {
		_, rel := t.Path.Split()
		if folderdoc.CheckPath(rel) != nil || isCanvas(t) {
			continue
		}
		id, err := f.entryID(t, known[rel])
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, model.ErrNotNote) {
			continue // it has gone meanwhile
		}
		if err != nil {
			return nil, err
		}
		nodes[t.ID] = id
		e, ok := folderdoc.Entry{Path: rel, ID: id, Type: folderdoc.TypeMarkdown}, true
		switch t.Kind {
		case model.KindDir:
			e.Type = folderdoc.TypeFolder
		case model.KindFile:
			e, ok = f.fileEntry(t, rel, id, knownIDs[id])
			if sum, hashed := f.sums[rel]; hashed {
				sums[rel] = sum
			}
		}
		if ok {
			want = append(want, e)
		}
	}
	f.nodes, f.sums = nodes, sums
	return f.keepOthers(want, have), nil
}

// isCanvas says whether a file is a canvas. In a folder document those are
// documents of their own, which are not made of files here.
func isCanvas(t bridge.TreeEntry) bool {
	typ, _ := folderdoc.TypeOf(string(t.Path))
	return t.Kind == model.KindFile && typ == folderdoc.TypeCanvas
}

// keepOthers adds the entries that are not the tree's business, canvases, and the
// folders that hold any, or what a newer version of the format has.
func (f *folder) keepOthers(want, have []folderdoc.Entry) []folderdoc.Entry {
	taken, listed := make(map[string]bool, len(want)), make(map[string]bool, len(have))
	for _, e := range want {
		taken[e.Path] = true
	}
	for _, e := range have {
		listed[e.Path] = true
	}
	full := make(map[string]bool) // folders that hold something of others
	for _, e := range slices.Backward(have) {
		keep := e.Type == folderdoc.TypeCanvas || full[e.Path]
		if !keep && !taken[e.Path] && e.Type == folderdoc.TypeFolder {
			keep = slices.ContainsFunc(f.model.Inside(e.Path), func(name string) bool { return !listed[e.Path+"/"+name] })
		}
		if keep && !taken[e.Path] {
			want = append(want, e)
			full[string(model.Path(e.Path).Dir())] = true
		}
	}
	return want
}

// kindOf is what an entry would be in the tree.
func kindOf(e folderdoc.Entry) model.Kind {
	switch e.Type {
	case folderdoc.TypeFolder:
		return model.KindDir
	case folderdoc.TypeMarkdown:
		return model.KindNote
	}
	return model.KindFile
}

// entryID is the id of a tree's entry; had is what the document has at its path.
func (f *folder) entryID(t bridge.TreeEntry, had folderdoc.Entry) (string, error) {
	if id := f.nodes[t.ID]; id != "" {
		return id, nil
	}
	id := folderdoc.NewID()
	if had.ID != "" && kindOf(had) == t.Kind {
		id = had.ID
	}
	if t.Kind != model.KindNote {
		return id, nil
	}
	own, err := f.h.ws.DocIDOf(t.Path, model.DocID(id))
	return string(own), err
}
