package bridge

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Identities of documents, for those who offer the workspace to Yjs clients.

// TreeEntry is one thing that people have in a Folder, as opposed to what
// proposals would make of it.
type TreeEntry struct {
	ID   uint64 // the same while the process lives, also over renames
	Path Path
	Kind Kind
}

// Tree lists what people have in a Folder, sorted by path.
func (w *Workspace) Tree(folder string) ([]TreeEntry, error) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n := w.root.children[folder]
	switch {
	case n == nil:
		return nil, &Error{"list", Path(folder), fs.ErrNotExist}
	case n.folder.offline.Load():
		return nil, &Error{"list", Path(folder), ErrOffline}
	}
	var list []TreeEntry
	n.walkSource(func(c *node) {
		if c != n {
			list = append(list, TreeEntry{c.id, c.peoplesPath(), c.kind})
		}
	})
	slices.SortFunc(list, func(a, b TreeEntry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list, nil
}

// DocIDOf is the id of the note's document: the one it has, or the one that it
// gets when a document is made for it. That is want, unless an earlier caller
// wanted another. No document is made.
func (w *Workspace) DocIDOf(p Path, want DocID) (DocID, error) {
	n, err := w.peoplesNote("open", p)
	if err != nil {
		return "", err
	}
	n.write.Lock()
	defer n.write.Unlock()
	if n.id != "" {
		return n.id, nil
	}
	if n.assigned != "" {
		return n.assigned, nil
	}
	id, err := n.where().lookupID()
	if err != nil {
		return "", err
	}
	if id == "" {
		id = want
	}
	n.assigned = id
	return id, nil
}

// Adopt makes doc, a document that was not in the workspace so far, the new note
// at p, as a person does, and opens it. doc must not be changed meanwhile, and
// then through the Shared alone. The document is in the store before the file is
// made: after a crash between the two, Adopt is called again. Errors: those of
// Create.
func (w *Workspace) Adopt(ctx context.Context, p Path, id DocID, doc *ycrdt.Doc, by Author) (*Shared, error) {
	if err := w.begin(); err != nil {
		return nil, wrapError("create", p, err)
	}
	defer w.inflight.Done()
	f, s, err := w.structureAt("create", p)
	if err != nil {
		return nil, err
	}
	raw := doc.Text(contentsName).String()
	_, err = w.inPeoples("create", p)
	switch {
	case !p.IsNote():
		return nil, &Error{"create", p, ErrNotNote}
	case len(raw) > MaxNote:
		return nil, &Error{"create", p, ErrTooLarge}
	case err == nil:
		return nil, &Error{"create", p, fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	_, rel := p.Split()
	now := time.Now()
	rec := Record{Update: doc.EncodeStateAsUpdate(nil), Author: by.Name, Session: by.Session, Time: now.UTC(), Ahead: true}
	seq, err := f.store.Append(id, Path(rel), rec)
	if err != nil {
		return nil, wrapError("create", p, err)
	}
	stamp, err := s.Create(ctx, rel, []byte(raw), 0o644, now)
	if err != nil {
		return nil, wrapError("create", p, err)
	}
	f.store.Materialized(id, seq, sumOf(raw))
	return w.adopted(f, p, SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp}, id, doc, raw, seq), nil
}

// adopted puts the new note in the tree.
func (w *Workspace) adopted(f *folder, p Path, e SourceEntry, id DocID, doc *ycrdt.Doc, raw string, seq uint64) *Shared {
	f.names.Lock()
	node := w.put0(f, e)
	events := w.settle(f) // what was proposed to be there gives way
	f.names.Unlock()
	w.publishAll(events)
	n, sh := node.note, newShare()
	n.write.Lock()
	n.stamp, n.synced, n.id, n.kept = e.Stamp, true, id, seq
	n.doc, n.text = doc, doc.Text(contentsName)
	v := n.publish(raw, time.Unix(0, e.Stamp.ModTime))
	sh.holders = 1
	n.share.Store(sh)
	n.write.Unlock()
	w.events.publish(Event{Kind: EventCreated, Path: p, Version: v, ViewChanged: true})
	return &Shared{n: n, share: sh, doc: doc, id: id}
}
