package bridge

import (
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file brings the tree and its notes up to what a source reports.

// sourceChanged takes over one change that others made.
func (w *Workspace) sourceChanged(ctx context.Context, f *folder, ev model.SourceEvent) {
	switch ev.Kind {
	case model.EventOffline, model.EventOnline:
		f.offline.Store(ev.Kind == model.EventOffline)
		w.log.Warn("folder is "+ev.Kind.String(), model.LogFolder, f.node.name)
		w.act.Publish(model.Event{Kind: ev.Kind, Path: f.node.path(), Dir: true})
	case model.EventRemoved:
		w.sourceRemoved(f, ev.Rel)
	case model.EventRenamed:
		w.sourceRenamed(ctx, f, ev)
	default:
		w.sourceWrote(ctx, f, ev.Entry)
	}
}

// sourceWrote takes over a new or changed file or folder.
func (w *Workspace) sourceWrote(ctx context.Context, f *folder, e model.SourceEntry) {
	f.names.Lock()
	if w.source(f, e.Rel) == nil && f.outdated(e.Rel, e.Kind(), true) {
		f.names.Unlock()
		return
	}
	w.treeMu.Lock()
	n, created := w.put(f, e)
	n.usedBy(model.Author{})
	path := n.path()
	hidden := n.hidden()
	w.treeMu.Unlock()
	stale := !created && w.noticeChange(ctx, n)
	events := w.settle(f)
	if stale {
		events = append(events, model.Event{Kind: model.EventPending, Path: path, Dir: e.Dir})
	}
	f.names.Unlock()
	w.act.Publish(events...)
	switch {
	case created:
		w.act.Publish(model.Event{Kind: model.EventCreated, Path: path, Dir: e.Dir, Link: e.Link != "", ViewChanged: true})
	case n.kind == model.KindNote:
		n.note.Refresh(ctx, !hidden)
	case !e.Dir:
		w.act.Publish(model.Event{Kind: model.EventChanged, Path: path, Link: e.Link != "", ViewChanged: true})
	}
}

// outdated says that news of what is at rel, or is no more, are older than what was
// done here since: another operation has removed it, or made it anew. names is held.
func (f *folder) outdated(rel string, kind model.Kind, there bool) bool {
	s, ok := f.source.(model.Looker)
	if !ok {
		return false
	}
	now, err := s.Look(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return there
	case err != nil:
		return false
	}
	return !there && now.Kind() == kind
}

func (w *Workspace) sourceRemoved(f *folder, rel string) {
	f.names.Lock()
	if n := w.source(f, rel); n != nil && f.outdated(rel, n.kind, false) {
		f.names.Unlock()
		return
	}
	w.treeMu.Lock()
	if n := f.lookupSource(rel); n != nil && n != f.node {
		n.usedBy(model.Author{})
		w.vanish(n)
	}
	w.treeMu.Unlock()
	events := w.settle(f)
	f.names.Unlock()
	w.act.Publish(events...)
}

// source is lookupSource for callers that hold no lock.
func (w *Workspace) source(f *folder, rel string) *node {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return f.lookupSource(rel)
}

func (w *Workspace) sourceRenamed(ctx context.Context, f *folder, ev model.SourceEvent) {
	f.names.Lock()
	w.treeMu.Lock()
	n := f.lookupSource(ev.OldRel)
	if n == nil || n.kindAs(model.Path(ev.Rel).Base()) != ev.Entry.Kind() {
		w.treeMu.Unlock()
		f.names.Unlock()
		w.sourceRemoved(f, ev.OldRel)
		w.sourceWrote(ctx, f, ev.Entry)
		return
	}
	w.moveHome(n, ev.Rel)
	w.treeMu.Unlock()
	w.renameDocs(f, ev.OldRel, ev.Rel)
	events := w.settle(f)
	hidden := n.hidden()
	f.names.Unlock()
	w.act.Publish(events...)
	if n.kind == model.KindNote && !hidden {
		n.note.Refresh(ctx, true)
	}
}

// moveHome notes that a person moved n to newRel in the source, over what is
// there. If n is shown where the source had it, it is shown where the source has
// it now. Else it stays where it was proposed to be, and the proposal is stale,
// or done if that is where it is now. treeMu is held.
func (w *Workspace) moveHome(n *node, newRel string) {
	f := n.folder
	parent := f.node.parentFor(w, newRel)
	parent.usedBy(model.Author{})
	n.usedBy(model.Author{})
	w.reveal(parent)
	name := model.Path(newRel).Base()
	if old := parent.inSource(name); old != nil && old != n {
		w.vanish(old)
	}
	if n.home != nil {
		n.rehome(parent, name)
		if n.home == nil {
			f.shift.done = append(f.shift.done, n.pending.rec.ID)
			f.withdraw(n.pending)
		} else {
			n.pending.rec.Stale = true
		}
		return
	}
	if parent.isIn(n) {
		w.sendHome(parent.outermost(n))
	}
	if guest := parent.children[name]; guest != nil && guest.virtual() {
		w.vanish(guest)
	}
	w.makeRoom(parent, name, n.kind)
	oldPath := n.path() // not before, since its folder may have gone home
	n.rehome(parent, name)
	n.show(parent, name)
	f.shift.events = append(f.shift.events,
		model.Event{Kind: model.EventRenamed, Path: n.path(), OldPath: oldPath, Dir: n.kind == model.KindDir, ViewChanged: true})
}

// parentFor is the folder that rel belongs in, made if it is missing.
func (n *node) parentFor(w *Workspace, rel string) *node {
	dir := string(model.Path(rel).Dir())
	if dir == "" {
		return n
	}
	p, _ := w.put(n.folder, model.SourceEntry{Rel: dir, Dir: true, Mode: 0o755})
	return p
}
