package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

type folder struct {
	h     *Host
	name  string
	id    string
	store model.Store
	doc   *ycrdt.Doc
	model *folderdoc.Folder

	mu    sync.Mutex // one change of names at a time; protects the following
	names names

	index atomic.Pointer[index] // follows the document
}

// names is the state of a folder's synchronisation with the tree.
type names struct {
	nodes    map[uint64]string // entry ids by the tree's
	kept     uint64            // the number of the last record
	unhashed []string          // files whose hash is unknown
	sums     map[string]fileSum
}

// index is the contents of a folder document; it is immutable.
type index struct {
	rels  map[string]string          // paths of notes by id
	ids   map[string]string          // and ids by path
	files map[string]folderdoc.Entry // attachments by id
}

// locked runs fn while no other change of names runs.
func (f *folder) locked(fn func(*names) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fn(&f.names)
}

const folderPath = model.Path(".relay/folder")

// start loads the folder document, executes changes that a crash interrupted, and updates
// it. id is "" for the present id or a new one.
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
	return f.locked(func(n *names) error {
		if kept != "" && string(kept) != f.id {
			// Under its new id.
			if err := f.keep(n, model.Record{Update: f.doc.EncodeStateAsUpdate(nil)}); err != nil {
				return err
			}
		}
		f.carryOut(ctx, undone, model.Author{})
		return f.follow(n)
	})
}

// load reads the document and returns changes that were stored but perhaps not executed.
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
			f.index.Store(newIndex(before)) // for the undone changes
		}
		if err := f.doc.ApplyUpdate(rec.Update, nil); err != nil {
			return nil, err
		}
	}
	if !ahead {
		return nil, nil
	}
	return folderdoc.Diff(before, f.model.List()), nil
}

func (f *folder) keep(n *names, rec model.Record) error {
	rec.Time = time.Now().UTC()
	seq, err := f.store.Append(model.DocID(f.id), folderPath, rec)
	if err != nil {
		return fmt.Errorf("folder document: %w", err)
	}
	n.kept = seq
	if !rec.Ahead {
		f.store.Materialized(model.DocID(f.id), seq, model.ContentSum{})
	}
	return nil
}

func newIndex(entries []folderdoc.Entry) *index {
	x := &index{make(map[string]string), make(map[string]string), make(map[string]folderdoc.Entry)}
	for _, e := range entries {
		if e.Type == folderdoc.TypeMarkdown {
			x.rels[e.ID], x.ids[e.Path] = e.Path, e.ID
		}
		if e.Hash != "" {
			x.files[e.ID] = e
		}
	}
	return x
}

func (f *folder) path(rel string) model.Path { return model.Path(f.name).Join(rel) }

func (f *folder) follow(n *names) error {
	tree, err := f.h.ws.Tree(f.name)
	if errors.Is(err, model.ErrOffline) {
		return nil // nothing counts as deleted
	}
	if err != nil {
		return err
	}
	before := slices.DeleteFunc(f.model.List(), func(e folderdoc.Entry) bool {
		return e.ID == "" // a folder without an entry, which gets one of its own
	})
	want, err := f.wanted(n, tree, before)
	if err != nil {
		return err
	}
	steps := folderdoc.Diff(before, want)
	state := f.doc.EncodeStateVector()
	if f.model.Name() != f.name {
		f.model.SetName(f.name)
	} else if len(steps) == 0 {
		f.index.Store(newIndex(want))
		return nil
	}
	f.writeAll(steps)
	f.index.Store(newIndex(f.model.List()))
	return f.keep(n, model.Record{Update: f.doc.EncodeStateAsUpdate(state)})
}

// writeAll writes steps to the document. Consecutive new names, as in a vault that is
// served for the first time, are one change.
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
		_, errs := f.model.CreateAll(created)
		for i, err := range errs {
			f.told(created[i].Path, err)
		}
		steps = steps[len(created):]
	}
}

// told logs why a name is not in the document.
func (f *folder) told(rel string, err error) {
	if err != nil {
		f.h.log.Warn("name is not in the folder document", model.LogPath, string(f.path(rel)), model.LogErr, err)
	}
}

// write writes one step to the document, other than a new name.
func (f *folder) write(c folderdoc.Change) (err error) {
	switch c.Kind {
	case folderdoc.Removed:
		err = f.model.Delete(c.Path)
	case folderdoc.Renamed:
		err = f.model.Rename(c.OldPath, c.Path, false)
	case folderdoc.Changed:
		err = f.model.SetFile(c.Path, c.Entry.Hash, c.Entry.Mimetype, c.Entry.SyncTime)
	}
	return err
}

// wanted returns the entries that the document should have for the tree. Entries keep their
// ids: over renames, by the tree's own; over restarts, by their paths.
func (f *folder) wanted(n *names, tree []bridge.TreeEntry, have []folderdoc.Entry) ([]folderdoc.Entry, error) {
	byPath := make(map[string]folderdoc.Entry, len(have))
	byID := make(map[string]folderdoc.Entry, len(have))
	for _, e := range have {
		byPath[e.Path], byID[e.ID] = e, e
	}
	nodes := make(map[uint64]string, len(tree))
	n.unhashed = nil
	sums := make(map[string]fileSum)
	var want []folderdoc.Entry
	for _, t := range tree {
		_, rel := t.Path.Split()
		if folderdoc.CheckPath(rel) != nil || isCanvas(t) {
			continue
		}
		id, err := f.entryID(n, t, byPath[rel])
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, model.ErrNotNote) {
			continue // it is gone
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
			e, ok = n.fileEntry(t, rel, id, byID[id])
			if sum, hashed := n.sums[rel]; hashed {
				sums[rel] = sum
			}
		}
		if ok {
			want = append(want, e)
		}
	}
	n.nodes, n.sums = nodes, sums
	return f.keepOthers(want, have), nil
}

// isCanvas reports whether a file is a canvas. In a folder document a canvas is a document,
// which does not come from a file.
func isCanvas(t bridge.TreeEntry) bool {
	typ, _ := folderdoc.TypeOf(string(t.Path))
	return t.Kind == model.KindFile && typ == folderdoc.TypeCanvas
}

// keepOthers adds the entries that are not in the tree: canvases and entries of newer
// versions of the format, and the folders around them.
func (f *folder) keepOthers(want, have []folderdoc.Entry) []folderdoc.Entry {
	taken, listed := make(map[string]bool, len(want)), make(map[string]bool, len(have))
	for _, e := range want {
		taken[e.Path] = true
	}
	for _, e := range have {
		listed[e.Path] = true
	}
	full := make(map[string]bool) // folders around kept entries
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

func kindOf(e folderdoc.Entry) model.Kind {
	switch e.Type {
	case folderdoc.TypeFolder:
		return model.KindDir
	case folderdoc.TypeMarkdown:
		return model.KindNote
	}
	return model.KindFile
}

// entryID returns the id of a tree's entry; had is the document's entry at its path.
func (f *folder) entryID(n *names, t bridge.TreeEntry, had folderdoc.Entry) (string, error) {
	if id := n.nodes[t.ID]; id != "" {
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
