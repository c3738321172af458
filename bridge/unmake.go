package bridge

import (
	"context"
	"errors"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// A note that an agent made, and all of which a person rejects, is not to be: it goes,
// and so do the folders that were made for it and have nothing else in them. When the
// rejection is taken back it is made again, empty at first, with its document.

// unmake takes away the note at p, the rest of which was just rejected, if an agent
// made it and nothing of it is left. If that fails, an empty note remains.
func (w *Workspace) unmake(ctx context.Context, p model.Path) {
	f, s, err := w.structureAt("remove", p)
	if err != nil {
		return
	}
	from, ok := s.(model.Retractor)
	if !ok {
		return
	}
	f.names.Lock()
	n, err := w.find("remove", p)
	var events []model.Event
	if err == nil && n.kind == model.KindNote {
		if events, err = w.unmakeNote(ctx, f, n, from); err == nil {
			events = append(events, w.unmakeFolders(ctx, f, s, p.Dir())...)
		}
	}
	f.names.Unlock()
	w.act.Publish(events...)
	if err != nil && !errors.Is(err, model.ErrConflict) {
		w.log.Warn("a new note that was rejected stays, empty", model.LogPath, string(p), model.LogErr, err)
	}
}

// unmakeNote returns ErrConflict if the note is to stay. names is held.
func (w *Workspace) unmakeNote(ctx context.Context, f *folder, n *node, from model.Retractor) ([]model.Event, error) {
	l := n.note.Lock()
	defer l.Unlock()
	at := n.Place().Path
	w.treeMu.RLock()
	proposed := n.pending != nil || n.home != nil
	w.treeMu.RUnlock()
	if proposed {
		return nil, model.ErrConflict
	}
	if err := l.RetractEmpty(ctx, from); err != nil {
		return nil, err
	}
	w.gone(n, l)
	return append(w.settle(f), model.Event{Kind: model.EventRemoved, Path: at, ViewChanged: true}), nil
}

// gone takes a note out of the tree whose file is gone. names is held.
func (w *Workspace) gone(n *node, l *note.Locked) {
	l.Gone()
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	w.vanishTree(n, false)
}

// unmakeFolders removes the folder at p, and those that it is in, as long as an agent
// made it in this process and it is empty. names is held.
func (w *Workspace) unmakeFolders(ctx context.Context, f *folder, s model.Structure, p model.Path) (events []model.Event) {
	for ; ; p = p.Dir() {
		n, err := w.find("remove", p)
		if err != nil {
			return events
		}
		w.treeMu.RLock()
		made := n.madeBy.Name != "" && n.pending == nil && n.home == nil && len(n.children) == 0 && len(n.sourceChildren()) == 0
		w.treeMu.RUnlock()
		if !made {
			return events
		}
		removed, err := w.removeNow(ctx, f, s, n, p, Restructure{})
		if err != nil {
			return events
		}
		events = append(events, removed...)
	}
}

// remake makes the note again that unmake took away after the decision e, so that e can
// be taken back. Its document is still in the store.
func (w *Workspace) remake(ctx context.Context, f *folder, e model.JournalEntry) error {
	if e.Decision == nil || e.Decision.Verdict != model.Rejected || !e.Decision.LeftNothing() || w.source(f, e.Rel) != nil {
		return nil
	}
	p := f.node.path().Join(e.Rel)
	_, s, err := w.structureAt("undo", p)
	if err != nil {
		return err
	}
	f.names.Lock()
	stamp, err := s.Create(ctx, e.Rel, model.NewFile{Mode: 0o644, ModTime: time.Now()})
	var events []model.Event
	if err == nil {
		w.put0(f, model.SourceEntry{Rel: e.Rel, Mode: 0o644, Stamp: stamp}, model.Author{Name: e.Decision.By})
		events = append(w.settle(f), model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true})
	}
	f.names.Unlock()
	w.act.Publish(events...)
	return model.WrapError("undo", p, err)
}
