package names

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/proposal"
	"github.com/relayfs/relayfs/bridge/tree"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// What people do through relayfs itself, as clients of a shared Folder.

func (n *Names) personRenames(ctx context.Context, f *proposal.Folder, s model.Structure, oldPath, newPath model.Path, o Restructure) error {
	l := f.Lock()
	defer l.Unlock()
	x, err := n.tree.FindPeoples("rename", oldPath)
	if err != nil {
		return err
	}
	if err := mayMove(x, newPath); err != nil {
		return err
	}
	_, oldRel := oldPath.Split()
	_, newRel := newPath.Split()
	unlock := l.LockNotes(x)
	defer unlock()
	if err := s.Rename(ctx, oldRel, newRel, o.Replace); err != nil {
		return err
	}
	l.PersonMoved(x, newRel)
	l.RenameDocs(oldRel, newRel)
	l.Settle(o.Origin)
	return nil
}

func (n *Names) personRemoves(ctx context.Context, f *proposal.Folder, s model.Structure, p model.Path, o Restructure) error {
	l := f.Lock()
	defer l.Unlock()
	x, err := n.tree.FindPeoples("remove", p)
	if err != nil {
		return err
	}
	unlock := l.LockNotes(x)
	defer unlock()
	if err := s.Remove(ctx, x.Place().Rel); err != nil {
		return err
	}
	l.PersonRemoved(x)
	l.Settle(o.Origin)
	return nil
}

// Adopt makes doc, a document that was not in the workspace so far, the new note
// at p, as a person does, and opens it. doc must not be changed meanwhile, and
// then through the Shared alone. The document is in the store before the file is
// made: after a crash between the two, Adopt is called again. Errors: those of
// Create.
func (n *People) Adopt(ctx context.Context, p model.Path, id model.DocID, doc *ycrdt.Doc, by model.Author) (*note.Shared, error) {
	if err := n.c.Activity.Begin(); err != nil {
		return nil, model.WrapError("create", p, err)
	}
	defer n.c.Activity.Done()
	f, s, err := n.structureAt("create", p)
	if err != nil {
		return nil, err
	}
	raw := note.TextOf(doc)
	_, err = n.tree.FindPeoples("create", p)
	switch {
	case !p.IsNote():
		return nil, &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	case len(raw) > model.MaxNote:
		return nil, &model.Error{Op: "create", Path: p, Err: model.ErrTooLarge}
	case err == nil:
		return nil, &model.Error{Op: "create", Path: p, Err: fs.ErrExist}
	}
	_, rel := p.Split()
	now := time.Now()
	rec := model.Record{Update: doc.EncodeStateAsUpdate(nil), Author: by.Name, Session: by.Session, Time: now.UTC(), Ahead: true}
	seq, err := f.Store.Append(id, model.Path(rel), rec)
	if err != nil {
		return nil, model.WrapError("create", p, err)
	}
	stamp, err := s.Create(ctx, rel, model.NewFile{Data: []byte(raw), Mode: 0o644, ModTime: now})
	if err != nil {
		return nil, model.WrapError("create", p, err)
	}
	f.Store.Materialized(id, seq, model.SumOf(raw))
	sh, v := placed(f, model.SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp}).Note.Adopt(id, doc, seq, stamp)
	n.c.Activity.Publish(model.Event{Kind: model.EventCreated, Path: p, Version: v, ViewChanged: true})
	return sh, nil
}

// placed puts what a person has made in the tree. What was proposed to be there gives way.
func placed(f *proposal.Folder, e model.SourceEntry) *tree.Node {
	l := f.Lock()
	defer l.Unlock()
	x := put(l, e, model.Author{})
	l.Settle(nil)
	return x
}

// OpenPeoplesFile opens what is not a note to be read, as people have it.
func (n *People) OpenPeoplesFile(p model.Path) (model.File, error) {
	x, err := n.tree.FindPeoples("open", p)
	if err != nil {
		return nil, err
	}
	files, ok := x.Folder.Source.(model.Files)
	if !ok || x.Kind != model.KindFile {
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
func (n *People) PutPeoplesFile(ctx context.Context, p model.Path, data []byte, had model.ContentSum, modTime time.Time) error {
	if err := n.c.Activity.Begin(); err != nil {
		return model.WrapError("write", p, err)
	}
	defer n.c.Activity.Done()
	f, s, err := n.structureAt("write", p)
	if err != nil {
		return err
	}
	x, err := n.tree.FindPeoples("write", p)
	switch {
	case p.IsNote():
		return &model.Error{Op: "write", Path: p, Err: model.ErrNotNote}
	case err != nil && had == model.ContentSum{}:
		return model.WrapError("write", p, n.addFile(ctx, f, s, p, data, modTime))
	case err != nil:
		return err
	case had == model.ContentSum{}:
		return &model.Error{Op: "write", Path: p, Err: fs.ErrExist}
	}
	return model.WrapError("write", p, n.overwriteFile(ctx, f, x, data, had, modTime))
}

func (n *People) addFile(ctx context.Context, f *proposal.Folder, s model.Structure, p model.Path, data []byte, modTime time.Time) error {
	_, rel := p.Split()
	stamp, err := s.Create(ctx, rel, model.NewFile{Data: data, Mode: 0o644, ModTime: modTime})
	if err != nil {
		return err
	}
	placed(f, model.SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp})
	n.c.Activity.Publish(created(p, Restructure{}))
	return nil
}

func (n *People) overwriteFile(ctx context.Context, f *proposal.Folder, x *tree.Node, data []byte, had model.ContentSum, modTime time.Time) error {
	p := x.Place().Peoples
	_, rel := p.Split()
	have, stamp, err := f.Source.Read(ctx, rel)
	if err == nil && model.ContentSum(sha256.Sum256(have)) != had {
		err = model.ErrConflict
	}
	if err == nil {
		stamp, err = f.Source.Replace(ctx, rel, model.Replacement{Expect: stamp, Data: data, ModTime: modTime})
	}
	if err != nil {
		return err
	}
	f.SetStamp(x, stamp)
	n.c.Activity.Publish(model.Event{Kind: model.EventChanged, Path: p, ViewChanged: true})
	return nil
}
