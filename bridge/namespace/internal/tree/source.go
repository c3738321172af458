package tree

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// put adds the node of an entry that the author added to the source, with missing parent folders, or updates the
// existing node. An author without a name is a user. putChild first removes a node that only a proposal shows at the
// path. If the kind of the entry has changed, the path gets a new node.
func (f *Root) put(e model.SourceEntry, author model.Author) (n *Node, created bool) {
	dir := f.rootNode
	rel := e.Rel
	for {
		elem, rest, more := strings.Cut(rel, "/")
		if !more {
			return f.putChild(dir, elem, e)
		}
		if dir, created = f.putChild(dir, elem, model.SourceEntry{Rel: elem, Dir: true, Mode: 0o755}); created {
			dir.setCreator(author)
		}
		rel = rest
	}
}

func (f *Root) putChild(dir *Node, name string, e model.SourceEntry) (*Node, bool) {
	kind := e.Kind()
	n := dir.inSource(name)
	if n != nil && n.Kind == kind {
		n.update(e)
		return n, false
	}
	if n != nil {
		f.removeSubtree(n, true)
	}
	if n = f.clearName(dir, name, kind); n != nil {
		n.update(e)
		return n, false
	}
	n = newNode(dir, name, kind)
	n.update(e)
	dir.children[n.name] = n
	return n, true
}

// PutScanned adds an entry of a scan, before the tree is served.
func (f *Root) PutScanned(e model.SourceEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(e, model.Author{})
}

// SetMissing is note.Source.SetMissing for the notes of the root.
func (f *Root) SetMissing(docs []model.StoredDoc) { f.notes.SetMissing(docs) }

// Put adds an entry that the author added to the source, and reports whether the entry is new. An author without a name
// is a user.
func (f *Root) Put(e model.SourceEntry, author model.Author) (n *Node, created bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, created = f.put(e, author)
	n.clearCreator(author)
	if e.Dir {
		n.setCreator(author)
	}
	return n, created
}

// PutHidden adds an entry that was restored in the source, but does not show it. The caller then adds a proposal to
// delete it.
func (f *Root) PutHidden(e model.SourceEntry) *Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, name := f.lookup(model.Parent(e.Rel)), model.Path(e.Rel).Base()
	n := newNode(dir, name, e.Kind())
	n.update(e)
	n.parent, n.sourceLoc = nil, &sourceLoc{dir, name}
	dir.addMovedOut(name, n)
	return n
}

// MarkStoredInSource records that the source now has n, a file that was only proposed before, at the place where n is
// shown.
func (f *Root) MarkStoredInSource(n *Node, stamp model.Stamp) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.sourceLoc = nil
	n.update(model.SourceEntry{Mode: 0o644, Stamp: stamp})
}

// MarkProposedOnly records that the source no longer has the file n, so that n exists only in a proposal.
func (f *Root) MarkProposedOnly(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.sourceLoc = new(sourceLoc)
}

// SetSourceLoc records the new place of n in the source. It does not change where n is shown.
func (f *Root) SetSourceLoc(n *Node, to Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.setSourceLoc(to.Dir, to.Name)
}

// MoveInSource records that the author has moved n to the given place in the source, and shows n there.
func (f *Root) MoveInSource(n *Node, to Target, author model.Author) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if to.Existing != nil {
		f.removeSubtree(to.Existing, false)
	}
	n.parent.clearCreator(author)
	n.setSourceLoc(to.Dir, to.Name)
	n.show(to.Dir, to.Name)
	n.parent.clearCreator(author)
}

func (f *Root) SourceRemoved(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n != f.rootNode {
		n.clearCreator(model.Author{})
		f.removeSubtree(n, true)
	}
}

// SourceMoved records that a user moved n to newRel in the source, and replaced any node there. If n is shown at its
// place in the source, SourceMoved shows it at its new place. Otherwise n stays where its proposal shows it. The
// proposal is then complete if newRel is the place where n is shown; otherwise it becomes stale.
func (f *Root) SourceMoved(n *Node, newRel string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	parent := f.rootNode
	if dir := model.Parent(newRel); dir != "" {
		parent, _ = f.put(model.SourceEntry{Rel: dir, Dir: true, Mode: 0o755}, model.Author{})
	}
	parent.clearCreator(model.Author{})
	n.clearCreator(model.Author{})
	f.undeleteParents(parent)
	name := model.Path(newRel).Base()
	if old := parent.inSource(name); old != nil && old != n {
		f.removeSubtree(old, true)
	}
	if n.sourceLoc != nil {
		n.setSourceLoc(parent, name)
	} else {
		if parent.isIn(n) {
			f.revertToSource(parent.outermostMoved(n))
		}
		if occupant := parent.children[name]; occupant != nil && occupant.isProposed() {
			f.removeSubtree(occupant, true)
		}
		f.clearName(parent, name, n.Kind)
		n.setSourceLoc(parent, name)
		// This must follow revertToSource, which may have moved the folder of n.
		f.changes.Events = append(f.changes.Events, n.move(parent, name))
	}
	if n.pending == nil {
		return
	}
	if rec := n.pending.record(); rec.To() == newRel {
		f.changes.Done = append(f.changes.Done, rec.ID)
		f.withdraw(n.pending)
	} else {
		n.pending.current.Stale, n.pending.current.DisplacedName = true, ""
	}
}

// Files returns the files whose names and sizes match. They include files that are only proposed, with the size 0.
func (f *Root) Files(match func(name string, size int64) bool) (files []*Node) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.rootNode.walkSource(func(n *Node) {
		if n.Kind == model.KindFile && match(n.loc().name, n.size) {
			files = append(files, n)
		}
	})
	for _, p := range f.proposals {
		if p.Node.isProposed() && match(p.Node.name, 0) {
			files = append(files, p.Node)
		}
	}
	return files
}

// Invalidate drops a proposal of an earlier process, whose node no longer exists.
func (f *Root) Invalidate(rec model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes.Invalidated = append(f.changes.Invalidated, rec)
}

// Overlay adds the pending proposals of earlier processes to the tree, which shows only the source so far. The tree
// must not be served yet. It drops a proposal that users have carried out since, or that is not possible any more. It
// blocks a rename that cannot be shown.
func (f *Root) Overlay(recs []model.ProposalRecord) {
	stored := make(map[string]model.ProposalRecord)
	var left []model.ProposalRecord
	for _, rec := range recs {
		stored[rec.ID] = rec
		switch {
		case rec.Kind == model.ProposedRename && rec.Rel == rec.To():
			f.changes.Done = append(f.changes.Done, rec.ID)
			continue
		case rec.Rel == "" && f.Lookup(rec.To()) != nil: // another writer has created the file
			rec.Rel, rec.Stale = rec.To(), true
		}
		left = append(left, rec)
	}
	found, gone := f.FindRejected(left)
	list, _ := f.AddRejected(found)
	for _, p := range list {
		p.stored = stored[p.ID]
	}
	f.changes.Invalidated = append(f.changes.Invalidated, gone...)
}
