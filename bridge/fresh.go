package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
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
	w       *Workspace
	node    *node
	from    model.Retractor
	version *model.Version
	theirs  func(model.Author) bool
}

// Text is what the note showed when it was found fresh.
func (x *Fresh) Text() string { return x.version.Text() }

// FreshNote returns the note at p if it is fresh. theirs says of an author whether
// it is one of the programs.
func (w *Workspace) FreshNote(ctx context.Context, p model.Path, theirs func(model.Author) bool) (*Fresh, bool) {
	f, s, err := w.structureAt("open", p)
	if err != nil || f.readOnly() {
		return nil, false
	}
	n, err := w.find("open", p)
	from, ok := s.(model.Retractor)
	if !ok || err != nil || n.kind != model.KindNote {
		return nil, false
	}
	l := n.note.Lock()
	defer l.Unlock()
	if !l.MadeBy(theirs, freshFor) {
		return nil, false
	}
	v, err := w.untouched(ctx, n, l, theirs)
	return &Fresh{w.all, n, from, v, theirs}, err == nil
}

// untouched is the current version of a note that nobody but its authors has
// touched; ErrConflict.
func (w *Workspace) untouched(ctx context.Context, n *node, l *note.Locked, theirs func(model.Author) bool) (*model.Version, error) {
	w.treeMu.RLock()
	plain := w.lookup(n.path()) == n && n.onlyNamed(theirs)
	w.treeMu.RUnlock()
	if !plain {
		return nil, model.ErrConflict
	}
	return l.Untouched(ctx, theirs)
}

// onlyNamed says whether nothing is proposed for n, unless its name was taken when it
// was made: then it is kept beside that, and the name itself is proposed. treeMu is
// held.
func (n *node) onlyNamed(theirs func(model.Author) bool) bool {
	p := n.pending
	if p == nil {
		return n.home == nil
	}
	return p.rec.Kind == model.ProposedRename && theirs(model.Author{Name: p.rec.Author, Session: p.rec.Session})
}

// Retract takes the note away for good, with its document: not even the source's
// trash has it. It changes nothing and returns ErrConflict if the note is not what it
// was when it was found fresh, or is gone.
func (x *Fresh) Retract(ctx context.Context, origin any) error {
	w, f := x.w, x.node.folder
	if err := w.act.Begin(); err != nil {
		return err
	}
	defer w.act.Done()
	f.names.Lock()
	events, err := x.retract(ctx, f, origin)
	f.names.Unlock()
	w.act.Publish(events...)
	return err
}

func (x *Fresh) retract(ctx context.Context, f *folder, origin any) ([]model.Event, error) {
	w := x.w
	l := x.node.note.Lock()
	defer l.Unlock()
	at := x.node.Place().Path
	v, err := w.untouched(ctx, x.node, l, x.theirs)
	if err == nil && v.Raw() != x.version.Raw() {
		err = model.ErrConflict
	}
	if err == nil {
		err = l.Retract(ctx, x.from)
	}
	if err != nil {
		return nil, model.WrapError("retract", at, err)
	}
	if err := errors.Join(w.fulfil(f, x.node), l.Forget()); err != nil {
		w.log.Warn("history of a note that is gone stays", model.LogPath, string(at), model.LogErr, err)
	}
	w.gone(x.node, l)
	return append(w.settle(f), model.Event{Kind: model.EventRemoved, Path: at, ViewChanged: true, Origin: origin}), nil
}

// HasNote says whether a note is at p: one that is shown there, or one that is
// proposed to be deleted, and that whoever writes at p writes anew.
func (w *Workspace) HasNote(p model.Path) bool {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n := w.lookup(p)
	if n == nil {
		if dir := w.lookup(p.Dir()); dir != nil && dir.kind == model.KindDir {
			n = dir.inSource(p.Base())
		}
		return n != nil && n.kind == model.KindNote && n.hidden()
	}
	return n.kind == model.KindNote
}
