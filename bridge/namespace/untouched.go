package namespace

import (
	"context"
	"errors"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// Programs save a note by creating a new file and moving it over the note. If the new file has a note's name, it is
// itself a note until the program moves it. It must then disappear without a trace, because it was only the next text
// of the other note. This applies only to untouched notes; any other move over a note is a change of names.

// untouchedMaxAge is the age up to which a note can be untouched. A program moves a file within moments after creating
// it, and an agent's next command follows within seconds. An older note has been visible long enough for a user to
// consider it a note of its own.
const untouchedMaxAge = time.Minute

// UntouchedNote is a note that programs made a moment ago and that belongs to them alone: no one else has written in
// it, decided on anything in it or opened it as a live document. No proposal concerns it, except for its name if the
// source has another node of that name.
type UntouchedNote struct {
	names       *Namespace
	node        *tree.Node
	from        model.Retractor
	version     *model.Version
	isOwnAuthor func(model.Author) bool
}

// Text returns the text of the note when FindUntouched found it.
func (x *UntouchedNote) Text() string { return x.version.Text() }

// FindUntouched returns the note at p if it is an untouched note of the authors that isOwnAuthor accepts.
func (n *Namespace) FindUntouched(ctx context.Context, p model.Path, isOwnAuthor func(model.Author) bool) (*UntouchedNote, bool) {
	f, err := n.structureAt("open", p)
	if err != nil {
		return nil, false
	}
	x, err := n.tree.Find("open", p)
	from, ok := f.Structure.(model.Retractor)
	if !ok || err != nil || x.Kind != model.KindNote {
		return nil, false
	}
	l := x.Note().Lock()
	defer l.Unlock()
	if !l.CreatedBy(isOwnAuthor, untouchedMaxAge) {
		return nil, false
	}
	v, err := untouched(ctx, x, l, isOwnAuthor)
	return &UntouchedNote{n, x, from, v, isOwnAuthor}, err == nil
}

// untouched returns the current version if only authors that isOwnAuthor accepts have changed the note or its
// proposals. Otherwise it returns ErrConflict.
func untouched(ctx context.Context, x *tree.Node, l *note.Locked, isOwnAuthor func(model.Author) bool) (*model.Version, error) {
	if st := x.State(); !st.InTree || !st.Shown || !onlyRenamed(st, isOwnAuthor) {
		return nil, model.ErrConflict
	}
	return l.Untouched(ctx, isOwnAuthor)
}

// onlyRenamed reports whether no proposal concerns a note, except a rename by its own authors. Such a rename exists if
// the source has another node with the name of the new note: the source then has the note under a second name.
func onlyRenamed(st tree.State, isOwnAuthor func(model.Author) bool) bool {
	if st.Pending == nil {
		return !st.Moved
	}
	rec := st.Pending.Record()
	return rec.Kind == model.ProposedRename && isOwnAuthor(model.Author{Name: rec.Author, Session: rec.Session})
}

// Retract removes the note permanently, with its document. The source's trash does not get it. If the note has changed
// since FindUntouched, or no longer exists, Retract changes nothing and returns ErrConflict.
func (x *UntouchedNote) Retract(ctx context.Context, origin any) error {
	at := x.node.Location().Path
	return x.names.change("retract", at, func(names *Locked) error {
		l := x.node.Note().Lock()
		defer l.Unlock()
		v, err := untouched(ctx, x.node, l, x.isOwnAuthor)
		if err == nil && v.Raw() != x.version.Raw() {
			err = model.ErrConflict
		}
		if err == nil {
			err = l.Retract(ctx, x.from)
		}
		if err != nil {
			return err
		}
		if err := errors.Join(names.CompleteRename(x.node, nil), l.Forget()); err != nil {
			x.names.config.Logger.Warn("cannot remove the history of a deleted note", model.LogPath, string(at), model.LogErr, err)
		}
		removeWithoutFile(names, x.node, l, origin)
		return nil
	})
}

func removeWithoutFile(names *Locked, x *tree.Node, l *note.Locked, origin any) {
	at := x.Location().Path
	l.MarkDeleted()
	names.RemoveFromSource(x, false)
	names.QueueEvents(model.Event{Kind: model.EventRemoved, Path: at, ViewChanged: true, Origin: origin})
}
