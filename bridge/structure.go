package bridge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
)

// Operations on names: create, make folder, rename, remove, and files that are
// not notes.

// Create makes a new note with wr.Text as its view: front matter plain, in
// suggest mode its body as additions. Missing parent folders are made.
// fs.ErrExist if the name is taken.
func (w *Workspace) Create(ctx context.Context, p Path, wr Write) (Result, error) {
	if err := w.begin(); err != nil {
		return Result{}, wrapError("create", p, err)
	}
	defer w.inflight.Done()
	f, s, err := w.structureAt("create", p)
	if err != nil {
		return Result{}, err
	}
	if !p.IsNote() {
		return Result{}, &Error{"create", p, ErrNotNote}
	}
	plan, err := w.plan(nil, newVersion("", w.o.View, 0, time.Time{}), wr.Text, wr.By)
	if err != nil {
		return Result{}, wrapError("create", p, err)
	}
	raw := diffwrap.Apply("", plan.edits)
	if len(raw) > MaxNote {
		return Result{}, &Error{"create", p, ErrTooLarge}
	}
	modTime := wr.ModTime
	if modTime.IsZero() {
		modTime = time.Now()
	}
	_, rel := p.Split()
	if docs, ok := f.source.(Documents); ok {
		return w.createLive(ctx, place{f, p, rel}, docs, raw, plan, wr)
	}
	place{f, p, rel}.intend(raw, wr.By)
	stamp, err := s.Create(ctx, rel, []byte(raw), 0o644, modTime)
	if err != nil {
		return Result{}, wrapError("create", p, err)
	}
	return w.created(f, p, rel, raw, stamp, plan, wr)
}

// created puts a new note in the tree and keeps its document.
func (w *Workspace) created(f *folder, p Path, rel, raw string, stamp Stamp, plan writePlan, wr Write) (Result, error) {
	w.treeMu.Lock()
	node, _ := w.put(f, SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp})
	w.treeMu.Unlock()
	n := node.note
	n.write.Lock()
	n.stamp, n.synced = stamp, true
	n.id = newDocID() // a new note is a new document, whatever had this name before
	v := n.publish(raw, time.Unix(0, stamp.ModTime))
	err := n.keepNew(n.where(), raw, plan, wr.By)
	n.write.Unlock()
	w.events.publish(Event{Kind: EventCreated, Path: p, Version: v, ViewChanged: true, Origin: wr.Origin})
	return Result{
		Version: v, Changed: true, Suggestions: countSuggestions(raw), Warnings: plan.warnings,
	}, err
}

// Mkdir makes a folder.
func (w *Workspace) Mkdir(ctx context.Context, p Path, origin any) error {
	if err := w.begin(); err != nil {
		return wrapError("mkdir", p, err)
	}
	defer w.inflight.Done()
	f, s, err := w.structureAt("mkdir", p)
	if err != nil {
		return err
	}
	_, rel := p.Split()
	if err := s.Mkdir(ctx, rel); err != nil {
		return wrapError("mkdir", p, err)
	}
	w.treeMu.Lock()
	w.put(f, SourceEntry{Rel: rel, Dir: true, Mode: 0o755, Stamp: Stamp{ModTime: time.Now().UnixNano()}})
	w.treeMu.Unlock()
	w.events.publish(Event{Kind: EventCreated, Path: p, Dir: true, ViewChanged: true, Origin: origin})
	return nil
}

// Rename moves a note, file or folder within its Folder. It replaces an existing
// file only when o.Replace is set. ErrNeedsReview unless the workspace's structure
// policy is direct; ErrConflict if something other than a file is in the way.
func (w *Workspace) Rename(ctx context.Context, oldPath, newPath Path, o Restructure) (Restructured, error) {
	if err := w.mayRestructure("rename", oldPath, o); err != nil {
		return Restructured{}, err
	}
	defer w.inflight.Done()
	n, err := w.find("rename", oldPath)
	if err != nil {
		return Restructured{}, err
	}
	_, s, err := w.structureAt("rename", newPath)
	if err != nil {
		return Restructured{}, err
	}
	oldFolder, oldRel := oldPath.Split()
	newFolder, newRel := newPath.Split()
	if oldFolder != newFolder || oldRel == "" {
		return Restructured{}, &Error{"rename", oldPath, errors.ErrUnsupported}
	}
	if kindOf(newPath.Base(), n.kind == KindDir) != n.kind {
		return Restructured{}, &Error{"rename", newPath, ErrNotNote}
	}
	unlock := w.lockNotes(n)
	defer unlock()
	if err := s.Rename(ctx, oldRel, newRel, o.Replace); err != nil {
		return Restructured{}, wrapError("rename", oldPath, err)
	}
	return Restructured{}, w.renamed(n, oldPath, newPath, o.Origin)
}

func (w *Workspace) renamed(n *node, oldPath, newPath Path, origin any) error {
	w.treeMu.Lock()
	w.move(n, newPath)
	w.treeMu.Unlock()
	_, oldRel := oldPath.Split()
	_, newRel := newPath.Split()
	err := n.folder.store.Rename(Path(oldRel), Path(newRel))
	w.events.publish(Event{
		Kind: EventRenamed, Path: newPath, OldPath: oldPath, Dir: n.kind == KindDir, ViewChanged: true, Origin: origin,
	})
	return wrapError("rename", newPath, err)
}

// Remove takes a note, a file or an empty folder away, recoverably where the
// source has a place for that. ErrNeedsReview unless the workspace's structure
// policy is direct.
func (w *Workspace) Remove(ctx context.Context, p Path, o Restructure) (Restructured, error) {
	if err := w.mayRestructure("remove", p, o); err != nil {
		return Restructured{}, err
	}
	defer w.inflight.Done()
	n, err := w.find("remove", p)
	if err != nil {
		return Restructured{}, err
	}
	_, s, err := w.structureAt("remove", p)
	if err != nil {
		return Restructured{}, err
	}
	unlock := w.lockNotes(n)
	defer unlock()
	_, rel := p.Split()
	if err := s.Remove(ctx, rel); err != nil {
		return Restructured{}, wrapError("remove", p, err)
	}
	w.treeMu.Lock()
	w.drop(n)
	w.treeMu.Unlock()
	w.events.publish(Event{Kind: EventRemoved, Path: p, Dir: n.kind == KindDir, ViewChanged: true, Origin: o.Origin})
	return Restructured{}, nil
}

// mayRestructure checks the policy and begins an operation.
func (w *Workspace) mayRestructure(op string, p Path, o Restructure) error {
	switch {
	case w.o.ReadOnly:
		return &Error{op, p, ErrReadOnly}
	case w.o.Structure != StructureDirect && !o.Person:
		return &Error{op, p, ErrNeedsReview}
	}
	return wrapError(op, p, w.begin())
}

// lockNotes takes the write locks of every note at or below n, in path order.
func (w *Workspace) lockNotes(n *node) (unlock func()) {
	var notes []*note
	collect := func(c *node) {
		if c.note != nil {
			notes = append(notes, c.note)
		}
	}
	w.treeMu.RLock()
	collect(n)
	n.walk(collect)
	w.treeMu.RUnlock()
	var events []Event
	for _, x := range notes {
		x.write.Lock()
		late, _ := x.materialise(context.Background()) // or the old name would get the text
		events = append(events, late...)
	}
	return func() {
		for _, x := range notes {
			x.write.Unlock()
		}
		w.publishAll(events)
	}
}

// structureAt checks that names at p can be changed, and returns by what.
func (w *Workspace) structureAt(op string, p Path) (*folder, Structure, error) {
	if w.o.ReadOnly {
		return nil, nil, &Error{op, p, ErrReadOnly}
	}
	name, rel := p.Split()
	if rel == "" {
		return nil, nil, &Error{op, p, fs.ErrPermission} // Folders come from the command line
	}
	w.treeMu.RLock()
	n := w.root.children[name]
	w.treeMu.RUnlock()
	if n == nil {
		return nil, nil, &Error{op, p, fs.ErrNotExist}
	}
	if n.folder.offline.Load() {
		return nil, nil, &Error{op, p, ErrOffline}
	}
	s, ok := n.folder.source.(Structure)
	if !ok {
		return nil, nil, &Error{op, p, ErrReadOnly}
	}
	return n.folder, s, nil
}

// OpenFile opens what is not a note, with the flags of os.OpenFile. In suggest
// mode files cannot be written or created: ErrReadOnly.
func (w *Workspace) OpenFile(_ context.Context, p Path, flag int, perm fs.FileMode) (File, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0
	if writes && (w.o.ReadOnly || w.o.Mode != Direct) {
		return nil, &Error{"open", p, ErrReadOnly}
	}
	if p.IsNote() {
		return nil, &Error{"open", p, ErrNotNote}
	}
	name, rel := p.Split()
	folder, err := w.find("open", Path(name))
	if err != nil {
		return nil, err
	}
	files, ok := folder.folder.source.(Files)
	if !ok {
		return nil, &Error{"open", p, fs.ErrNotExist}
	}
	f, err := files.OpenFile(rel, flag, perm)
	return f, wrapError("open", p, err)
}
