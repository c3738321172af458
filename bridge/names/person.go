package names

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/proposal"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// What people do through relayfs itself, as clients of a shared Folder.

func (n *Names) personRenames(ctx context.Context, f *proposal.Folder, oldPath, newPath model.Path, o Restructure) error {
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
	if err := l.Structure.Rename(ctx, oldRel, newRel, o.Replace); err != nil {
		return err
	}
	l.PersonMoved(x, newRel)
	l.RenameDocs(oldRel, newRel)
	l.Settle(o.Origin)
	return nil
}

func (n *Names) personRemoves(ctx context.Context, f *proposal.Folder, p model.Path, o Restructure) error {
	l := f.Lock()
	defer l.Unlock()
	x, err := n.tree.FindPeoples("remove", p)
	if err != nil {
		return err
	}
	unlock := l.LockNotes(x)
	defer unlock()
	if err := l.Structure.Remove(ctx, x.Place().Rel); err != nil {
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
func (n *People) Adopt(ctx context.Context, p model.Path, id model.DocID, doc *ycrdt.Doc, by model.Author) (sh *note.Shared, err error) {
	raw := note.TextOf(doc)
	_, rel := p.Split()
	err = n.change("create", p, func(l *proposal.Locked) error {
		_, err := n.tree.FindPeoples("create", p)
		switch {
		case !p.IsNote():
			return model.ErrNotNote
		case len(raw) > model.MaxNote:
			return model.ErrTooLarge
		case err == nil:
			return fs.ErrExist
		}
		now := time.Now()
		rec := model.Record{Update: doc.EncodeStateAsUpdate(nil), Author: by.Name, Session: by.Session, Time: now.UTC(), Ahead: true}
		seq, err := l.Store.Append(id, model.Path(rel), rec)
		if err != nil {
			return err
		}
		x, stamp, err := makeFile(ctx, l, rel, model.NewFile{Data: []byte(raw), ModTime: now}, model.Author{})
		if err != nil {
			return err
		}
		l.Store.Materialized(id, seq, model.SumOf(raw))
		l.Settle(nil) // what was proposed to be there has given way
		ev := created(p, Restructure{})
		sh, ev.Version = x.Note.Adopt(id, doc, seq, stamp)
		l.Tell(ev)
		return nil
	})
	return sh, err
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
	_, rel := p.Split()
	return n.change("write", p, func(l *proposal.Locked) error {
		x, err := n.tree.FindPeoples("write", p)
		ev := created(p, Restructure{})
		switch {
		case p.IsNote():
			return model.ErrNotNote
		case err != nil && had != model.ContentSum{}:
			return err
		case err != nil:
			_, _, err = makeFile(ctx, l, rel, model.NewFile{Data: data, ModTime: modTime}, model.Author{})
			l.Settle(nil) // what was proposed to be there has given way
		case had == model.ContentSum{}:
			return fs.ErrExist
		default:
			ev.Kind = model.EventChanged
			_, _, err = l.Rewrite(ctx, x, modTime, func(have []byte) ([]byte, error) { return data, isStill(had, have) })
		}
		if err == nil {
			l.Tell(ev)
		}
		return err
	})
}
