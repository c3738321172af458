package bridge

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Identities of documents, for those who offer the workspace to Yjs clients.

// TreeEntry is one thing that people have in a Folder, as opposed to what
// proposals would make of it.
type TreeEntry struct {
	ID   uint64 // the same while the process lives, also over renames
	Path model.Path
	Kind model.Kind
	// ModTime is that of a file which is not a note.
	ModTime time.Time
}

// Tree lists what people have in a Folder, sorted by path.
func (w *Workspace) Tree(folder string) ([]TreeEntry, error) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n := w.root.children[folder]
	switch {
	case n == nil:
		return nil, &model.Error{Op: "list", Path: model.Path(folder), Err: fs.ErrNotExist}
	case n.folder.offline.Load():
		return nil, &model.Error{Op: "list", Path: model.Path(folder), Err: model.ErrOffline}
	}
	var list []TreeEntry
	n.walkSource(func(c *node) {
		if c != n && c.kind != model.KindLink { // what it leads to has its own entry
			list = append(list, TreeEntry{c.id, c.peoplesPath(), c.kind, c.modTime})
		}
	})
	slices.SortFunc(list, func(a, b TreeEntry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list, nil
}

// DocIDOf is the id of the note's document: the one it has, or the one that it
// gets when a document is made for it. That is want, unless an earlier caller
// wanted another. No document is made.
func (w *Workspace) DocIDOf(p model.Path, want model.DocID) (model.DocID, error) {
	n, err := w.peoplesNote("open", p)
	if err != nil {
		return "", err
	}
	return n.DocID(want)
}

// Adopt makes doc, a document that was not in the workspace so far, the new note
// at p, as a person does, and opens it. doc must not be changed meanwhile, and
// then through the Shared alone. The document is in the store before the file is
// made: after a crash between the two, Adopt is called again. Errors: those of
// Create.
func (w *Workspace) Adopt(ctx context.Context, p model.Path, id model.DocID, doc *ycrdt.Doc, by model.Author) (*Shared, error) {
	if err := w.act.Begin(); err != nil {
		return nil, model.WrapError("create", p, err)
	}
	defer w.act.Done()
	f, s, err := w.structureAt("create", p)
	if err != nil {
		return nil, err
	}
	raw := note.TextOf(doc)
	_, err = w.inPeoples("create", p)
	switch {
	case !p.IsNote():
		return nil, &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	case len(raw) > model.MaxNote:
		return nil, &model.Error{Op: "create", Path: p, Err: model.ErrTooLarge}
	case err == nil:
		return nil, &model.Error{Op: "create", Path: p, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	_, rel := p.Split()
	now := time.Now()
	rec := model.Record{Update: doc.EncodeStateAsUpdate(nil), Author: by.Name, Session: by.Session, Time: now.UTC(), Ahead: true}
	seq, err := f.store.Append(id, model.Path(rel), rec)
	if err != nil {
		return nil, model.WrapError("create", p, err)
	}
	stamp, err := s.Create(ctx, rel, model.NewFile{Data: []byte(raw), Mode: 0o644, ModTime: now})
	if err != nil {
		return nil, model.WrapError("create", p, err)
	}
	f.store.Materialized(id, seq, model.SumOf(raw))
	return w.adopted(f, p, model.SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp}, id, doc, seq), nil
}

// adopted puts the new note in the tree.
func (w *Workspace) adopted(f *folder, p model.Path, e model.SourceEntry, id model.DocID, doc *ycrdt.Doc, seq uint64) *Shared {
	f.names.Lock()
	node := w.put0(f, e, model.Author{})
	events := w.settle(f) // what was proposed to be there gives way
	f.names.Unlock()
	w.act.Publish(events...)
	sh, v := node.note.Adopt(id, doc, seq, e.Stamp)
	w.act.Publish(model.Event{Kind: model.EventCreated, Path: p, Version: v, ViewChanged: true})
	return sh
}

// OpenPeoplesFile opens what is not a note to be read, as people have it.
func (w *Workspace) OpenPeoplesFile(p model.Path) (model.File, error) {
	n, err := w.inPeoples("open", p)
	if err != nil {
		return nil, err
	}
	files, ok := n.folder.source.(model.Files)
	if !ok || n.kind != model.KindFile {
		return nil, &model.Error{Op: "open", Path: p, Err: errors.ErrUnsupported}
	}
	_, rel := p.Split()
	f, err := files.OpenFile(rel, os.O_RDONLY, 0)
	return f, model.WrapError("open", p, err)
}

// PutPeoplesFile makes data the content of the file at p, which is not a note, at
// once and as a person does. had is what the file must hold, the zero sum for one
// that is not there yet. Errors: ErrConflict if it holds something else,
// fs.ErrExist, fs.ErrNotExist, ErrNotNote for a note's name, those of Create.
func (w *Workspace) PutPeoplesFile(ctx context.Context, p model.Path, data []byte, had model.ContentSum, modTime time.Time) error {
	if err := w.act.Begin(); err != nil {
		return model.WrapError("write", p, err)
	}
	defer w.act.Done()
	f, s, err := w.structureAt("write", p)
	if err != nil {
		return err
	}
	n, err := w.inPeoples("write", p)
	switch {
	case p.IsNote():
		return &model.Error{Op: "write", Path: p, Err: model.ErrNotNote}
	case errors.Is(err, fs.ErrNotExist) && had == model.ContentSum{}:
		return model.WrapError("write", p, w.addFile(ctx, f, s, p, data, modTime))
	case err != nil:
		return err
	case had == model.ContentSum{}:
		return &model.Error{Op: "write", Path: p, Err: fs.ErrExist}
	}
	return model.WrapError("write", p, w.overwriteFile(ctx, f, n, data, had, modTime))
}

func (w *Workspace) addFile(ctx context.Context, f *folder, s model.Structure, p model.Path, data []byte, modTime time.Time) error {
	_, rel := p.Split()
	stamp, err := s.Create(ctx, rel, model.NewFile{Data: data, Mode: 0o644, ModTime: modTime})
	if err != nil {
		return err
	}
	f.names.Lock()
	w.put0(f, model.SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp}, model.Author{})
	events := w.settle(f) // what was proposed to be there gives way
	f.names.Unlock()
	w.act.Publish(append(events, model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true})...)
	return nil
}

func (w *Workspace) overwriteFile(ctx context.Context, f *folder, n *node, data []byte, had model.ContentSum, modTime time.Time) error {
	w.treeMu.RLock()
	p := n.peoplesPath()
	w.treeMu.RUnlock()
	_, rel := p.Split()
	have, stamp, err := f.source.Read(ctx, rel)
	if err == nil && model.ContentSum(sha256.Sum256(have)) != had {
		err = model.ErrConflict
	}
	if err == nil {
		stamp, err = f.source.Replace(ctx, rel, model.Replacement{Expect: stamp, Data: data, ModTime: modTime})
	}
	if err != nil {
		return err
	}
	w.treeMu.Lock()
	n.update(model.SourceEntry{Mode: n.mode, Stamp: stamp})
	w.treeMu.Unlock()
	w.act.Publish(model.Event{Kind: model.EventChanged, Path: p, ViewChanged: true})
	return nil
}
