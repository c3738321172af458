package namespace

import (
	"context"
	"errors"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// Programs save a note by making a new file and moving it over the note. If the new
// file's name is a note's, it is a note itself until it is moved, and then has to go
// as if it had never been: it was the note's next text, on its way. That is for
// notes that are fresh; whatever else is moved over a note is a change of names.

// freshFor is how long after its making a note can be fresh. What a program makes in
// order to move it takes moments, and an agent's next command comes within seconds.
// What is older has been in the people's list of notes for long enough that somebody
// may know it as a note of its own.
const freshFor = time.Minute

// Fresh is a note that programs made a moment ago and that is theirs alone: nobody
// else wrote in it, decided on something in it or has it open as a live document,
// and nothing is proposed for it but its name, where people have another by that.
type Fresh struct {
	names   *Names
	node    *tree.Node
	from    model.Retractor
	version *model.Version
	theirs  func(model.Author) bool
}

// Text is what the note showed when it was found fresh.
func (x *Fresh) Text() string { return x.version.Text() }

// FreshNote returns the note at p if it is fresh. theirs says of an author whether
// it is one of the programs.
func (n *Names) FreshNote(ctx context.Context, p model.Path, theirs func(model.Author) bool) (*Fresh, bool) {
	f, err := n.structureAt("open", p)
	if err != nil {
		return nil, false
	}
	x, err := n.tree.Find("open", p)
	from, ok := f.Structure.(model.Retractor)
	if !ok || err != nil || x.Kind != model.KindNote {
		return nil, false
	}
	l := x.Note.Lock()
	defer l.Unlock()
	if !l.CreatedBy(theirs, freshFor) {
		return nil, false
	}
	v, err := untouched(ctx, x, l, theirs)
	return &Fresh{n, x, from, v, theirs}, err == nil
}

// untouched is the current version of a note that nobody but its authors has
// touched; ErrConflict.
func untouched(ctx context.Context, x *tree.Node, l *note.Locked, theirs func(model.Author) bool) (*model.Version, error) {
	if st := x.State(); !st.Attached || !st.Shown || !onlyNamed(st, theirs) {
		return nil, model.ErrConflict
	}
	return l.Untouched(ctx, theirs)
}

// onlyNamed says whether nothing is proposed for a note, unless its name was taken when it
// was made: then it is kept beside that, and the name itself is proposed.
func onlyNamed(st tree.State, theirs func(model.Author) bool) bool {
	if st.Pending == nil {
		return !st.Elsewhere
	}
	rec := st.Pending.Record()
	return rec.Kind == model.ProposedRename && theirs(model.Author{Name: rec.Author, Session: rec.Session})
}

// Retract takes the note away for good, with its document: not even the source's
// trash has it. It changes nothing and returns ErrConflict if the note is not what it
// was when it was found fresh, or is gone.
func (x *Fresh) Retract(ctx context.Context, origin any) error {
	at := x.node.Place().Path
	return x.names.change("retract", at, func(names *Locked) error {
		l := x.node.Note.Lock()
		defer l.Unlock()
		v, err := untouched(ctx, x.node, l, x.theirs)
		if err == nil && v.Raw() != x.version.Raw() {
			err = model.ErrConflict
		}
		if err == nil {
			err = l.Retract(ctx, x.from)
		}
		if err != nil {
			return err
		}
		if err := errors.Join(names.Fulfil(x.node), l.Forget()); err != nil {
			x.names.c.Logger.Warn("history of a note that is gone stays", model.LogPath, string(at), model.LogErr, err)
		}
		gone(names, x.node, l, origin)
		return nil
	})
}

// gone takes out of the tree a note whose file is gone, and tells of it.
func gone(names *Locked, x *tree.Node, l *note.Locked, origin any) {
	at := x.Place().Path
	l.Gone()
	names.Vanish(x, false)
	names.Tell(model.Event{Kind: model.EventRemoved, Path: at, ViewChanged: true, Origin: origin})
}
