package bridge

import (
	"context"
	"errors"
	"io/fs"
)

// This file brings the tree and its notes up to what a source reports.

// sourceChanged takes over one change that others made.
func (w *Workspace) sourceChanged(ctx context.Context, f *folder, ev SourceEvent) {
	switch ev.Kind {
	case EventOffline, EventOnline:
		f.offline.Store(ev.Kind == EventOffline)
		w.log.Warn("folder is "+ev.Kind.String(), LogFolder, f.node.name)
		w.events.publish(Event{Kind: ev.Kind, Path: f.node.path(), Dir: true})
	case EventRemoved:
		w.sourceRemoved(f, ev.Rel)
	case EventRenamed:
		w.sourceRenamed(ctx, f, ev)
	default:
		w.sourceWrote(ctx, f, ev.Entry)
	}
}

// sourceWrote takes over a new or changed file or folder.
func (w *Workspace) sourceWrote(ctx context.Context, f *folder, e SourceEntry) {
	w.treeMu.Lock()
	n, created := w.put(f, e)
	path := n.path()
	w.treeMu.Unlock()
	if created {
		w.events.publish(Event{Kind: EventCreated, Path: path, Dir: e.Dir, ViewChanged: true})
		return
	}
	if n.kind != KindNote {
		if !e.Dir {
			w.events.publish(Event{Kind: EventChanged, Path: path, ViewChanged: true})
		}
		return
	}
	w.refreshNote(ctx, n.note)
}

// refreshNote brings a note up to its file and publishes what changed.
func (w *Workspace) refreshNote(ctx context.Context, n *note) {
	if w.begin() != nil {
		return
	}
	defer w.inflight.Done()
	n.write.Lock()
	ev, err := n.refresh(context.WithoutCancel(ctx))
	n.write.Unlock()
	switch {
	case errors.Is(err, fs.ErrNotExist): // its removal is reported too
	case err != nil:
		w.log.Warn("changed note not read", LogPath, string(n.where().path), LogErr, err)
	case ev != nil:
		w.events.publish(*ev)
	}
}

func (w *Workspace) sourceRemoved(f *folder, rel string) {
	path := f.node.path().Join(rel)
	w.treeMu.Lock()
	n := w.lookup(path)
	if n == nil || n == f.node {
		w.treeMu.Unlock()
		return
	}
	w.drop(n)
	w.treeMu.Unlock()
	w.events.publish(Event{Kind: EventRemoved, Path: path, Dir: n.kind == KindDir, ViewChanged: true})
}

// drop takes a node and everything below it out of the tree. treeMu is held.
func (w *Workspace) drop(n *node) {
	n.unlink()
	forget := func(c *node) {
		if c.note != nil {
			w.cache.remove(c.note)
			c.note.endShare()
		}
	}
	forget(n)
	n.walk(forget)
}

func (w *Workspace) sourceRenamed(ctx context.Context, f *folder, ev SourceEvent) {
	oldPath, newPath := f.node.path().Join(ev.OldRel), f.node.path().Join(ev.Rel)
	w.treeMu.Lock()
	n := w.lookup(oldPath)
	if n == nil || kindOf(newPath.Base(), n.kind == KindDir) != n.kind {
		w.treeMu.Unlock()
		w.sourceRemoved(f, ev.OldRel)
		w.sourceWrote(ctx, f, ev.Entry)
		return
	}
	over := w.move(n, newPath)
	w.treeMu.Unlock()
	if err := f.store.Rename(Path(ev.OldRel), Path(ev.Rel)); err != nil {
		w.log.Error("renamed documents keep their old paths in the store", LogPath, string(newPath), LogErr, err)
	}
	if over {
		w.events.publish(Event{Kind: EventRemoved, Path: newPath, ViewChanged: true})
	}
	w.events.publish(Event{Kind: EventRenamed, Path: newPath, OldPath: oldPath, Dir: n.kind == KindDir, ViewChanged: true})
	if n.kind == KindNote {
		w.refreshNote(ctx, n.note)
	}
}

// move puts n at newPath, over what is there, and makes missing parents. It
// says whether something was there. treeMu is held.
func (w *Workspace) move(n *node, newPath Path) (over bool) {
	n.unlink()
	name, rel := newPath.Split()
	parent := w.root.children[name].parentFor(w, rel)
	if old := parent.children[newPath.Base()]; old != nil {
		w.drop(old)
		over = true
	}
	n.name, n.parent = newPath.Base(), parent
	parent.children[n.name] = n
	n.setFolder(parent.folder)
	return over
}

// parentFor is the folder that rel belongs in, made if it is missing.
func (n *node) parentFor(w *Workspace, rel string) *node {
	dir := string(Path(rel).Dir())
	if dir == "" {
		return n
	}
	p, _ := w.put(n.folder, SourceEntry{Rel: dir, Dir: true, Mode: 0o755})
	return p
}

func (n *node) setFolder(f *folder) {
	n.folder = f
	for _, c := range n.children {
		c.setFolder(f)
	}
}
