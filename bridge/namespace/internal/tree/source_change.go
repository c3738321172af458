package tree

import (
	"github.com/relayfs/relayfs/bridge/model"
)

// This file drops or blocks proposals that conflict with the user's changes in the source. A rename whose new place was
// taken is blocked, and its node is shown at its source path. A proposal whose node is deleted or in use again is
// dropped, and the journal records that. TakeChanges returns the changes to store and publish.

// invalidate withdraws a proposal that has become pointless and keeps its record for TakeChanges. Call it before the
// tree changes, so that the record has the present paths.
func (f *Root) invalidate(p *Proposal) {
	rec := p.record()
	f.withdraw(p)
	f.changes.Invalidated = append(f.changes.Invalidated, rec)
}

// clearName removes a node that only a proposal shows in dir under the given name, because the source has an entry
// there now. But a proposed file of the same kind becomes the new entry, and clearName returns it.
func (f *Root) clearName(dir *Node, name string, kind model.NodeKind) *Node {
	f.undeleteParents(dir)
	occupant := dir.children[name]
	switch {
	case occupant == nil:
		return nil
	case occupant.isProposed() && occupant.Kind == kind:
		occupant.content.current.Stale = true
		occupant.sourceLoc = nil
		return occupant
	case occupant.isProposed():
		f.removeSubtree(occupant, true)
	default:
		f.revertToSource(occupant)
	}
	return nil
}

// undeleteParents shows dir and the folders above it again if their deletion is proposed, because they are in use.
func (f *Root) undeleteParents(dir *Node) {
	for d := dir; ; d = d.parent {
		if d.hidden() && d.pending != nil && d.pending.current.Kind == model.ProposedDelete {
			f.revertToSource(d)
		}
		if d.parent == nil {
			return
		}
	}
}

// revertToSource shows n at its source path. It drops a proposal to delete n, and blocks a proposal to rename n.
func (f *Root) revertToSource(n *Node) {
	loc := *n.sourceLoc
	if n.shown() {
		f.changes.Events = append(f.changes.Events, n.event(model.EventRemoved))
	}
	if p := n.pending; p.current.Kind == model.ProposedRename {
		p.current = p.record()
		p.current.Blocked = true
	} else {
		f.invalidate(p)
	}
	if n.parent != nil {
		delete(n.parent.children, n.name)
		n.parent = nil
	}
	if loc.parent.isIn(n) {
		f.revertToSource(loc.parent.outermostMoved(n))
	}
	f.clearName(loc.parent, loc.name, n.Kind)
	n.show(loc.parent, loc.name)
	if n.shown() { // otherwise the event of its folder covers it
		f.changes.Events = append(f.changes.Events, n.createEvents()...)
	}
}

// createEvents returns events that create n and everything shown below it. It is used instead of rename events: when
// several nodes exchange places, renames in sequence would show states that never existed.
func (n *Node) createEvents() []model.Event {
	events := []model.Event{n.event(model.EventCreated)}
	n.walk(func(c *Node) { events = append(events, c.event(model.EventCreated)) })
	return events
}

// outermostMoved returns the topmost folder on the way from d up to n that is not shown at its source path.
func (d *Node) outermostMoved(n *Node) *Node {
	found := d
	for ; d != n; d = d.parent {
		if d.sourceLoc != nil {
			found = d
		}
	}
	return found
}

// removeSubtree removes n, which the source no longer has, with everything that the source had below it, even nodes
// that are shown at other places. Nodes that were shown in n but are elsewhere in the source are shown at their source
// paths again. If tell is set, removeSubtree adds an event for n; this is not needed if the folder above n is removed,
// too.
func (f *Root) removeSubtree(n *Node, tell bool) {
	for _, c := range n.sourceChildren() {
		f.removeSubtree(c, c.sourceLoc != nil)
	}
	for _, c := range n.sorted() {
		switch {
		case c.sourceLoc == nil:
		case c.isProposed():
			f.removeSubtree(c, false)
		default:
			f.revertToSource(c)
		}
	}
	for _, p := range []*Proposal{n.pending, n.content} {
		if p != nil {
			f.invalidate(p)
		}
	}
	if tell && n.shown() {
		f.changes.Events = append(f.changes.Events, n.event(model.EventRemoved))
	}
	f.forget(n)
}

func (f *Root) forget(n *Node) {
	n.forget()
	if x := n.note.Load(); x != nil {
		x.Discard()
	}
}

// RemoveFromSource removes n, which the source no longer has, with everything that the source had below it. The next
// TakeChanges returns the events for nodes that were shown elsewhere and, if tell is set, for n.
func (f *Root) RemoveFromSource(n *Node, tell bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removeSubtree(n, tell)
}

// Forget permanently removes n from the tree. n must be empty.
func (f *Root) Forget(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(n)
}

// ProposalChanges holds the changes of proposals since the last TakeChanges.
type ProposalChanges struct {
	Events      []model.Event
	Invalidated []model.ProposalRecord // the records at the moment when the proposals became pointless
	Done        []string               // IDs of proposals whose change users have made themselves
}

// TakeChanges returns the changes of the root's proposals since the last call; the caller stores and publishes them. It
// also shows blocked renames that are possible again.
func (f *Root) TakeChanges() ProposalChanges {
	f.mu.Lock()
	defer f.mu.Unlock()
	for again := true; again; { // a shown rename may free the name of another one
		again = false
		for _, p := range f.proposals {
			if !p.current.Blocked {
				continue
			}
			dir := f.lookup(p.current.ToDir)
			if dir != nil && dir.Kind == model.KindDir && dir.shown() && dir.children[p.current.Name] == nil && !dir.isIn(p.Node) && p.Node.shown() {
				f.changes.Events = append(f.changes.Events, p.Node.move(dir, p.current.Name))
				p.current.Blocked = false
				again = true
			}
		}
	}
	s := f.changes
	f.changes = ProposalChanges{}
	return s
}

// Changed returns the records of proposals that differ from the stored records (see SameAs), and marks them as stored.
// The caller stores them. It leaves out proposals for which the source is being changed: their stored records show what
// the change was.
func (f *Root) Changed() (list []model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.proposals {
		if rec := p.record(); rec.PendingDecision == nil && rec.MovingTo == "" && !rec.SameAs(&p.stored) {
			p.current, p.stored = rec, rec
			list = append(list, rec)
		}
	}
	return list
}
