package tree

import (
	"github.com/relayfs/relayfs/bridge/model"
)

// This file drops or blocks proposals that conflict with the user's changes in the source. A rename whose place was
// taken is blocked, and its node is shown at its source path. A proposal whose node is gone or in use again is dropped,
// which the journal records. TakeShift returns the changes to store and publish.

// lose withdraws a proposal that has become pointless and keeps its record for
// TakeShift. Call it before the tree changes: the record has the paths of now.
func (f *Folder) lose(p *Proposal) {
	rec := p.record()
	f.withdraw(p)
	f.shift.Dropped = append(f.shift.Dropped, rec)
}

// makeRoom removes a node that only a proposal shows in dir under name, because the
// source has an entry there now. If that is a proposed file of the same kind, it
// becomes the new entry, and makeRoom returns it.
func (f *Folder) makeRoom(dir *Node, name string, kind model.NodeKind) *Node {
	f.reveal(dir)
	guest := dir.children[name]
	switch {
	case guest == nil:
		return nil
	case guest.virtual() && guest.Kind == kind:
		guest.content.rec.Stale = true
		guest.home = nil
		return guest
	case guest.virtual():
		f.vanishTree(guest, true)
	default:
		f.sendHome(guest)
	}
	return nil
}

// reveal shows dir and the folders above it again if their deletion is proposed: they are in use.
func (f *Folder) reveal(dir *Node) {
	for d := dir; ; d = d.parent {
		if d.hidden() && d.pending != nil && d.pending.rec.Kind == model.ProposedDelete {
			f.sendHome(d)
		}
		if d.parent == nil {
			return
		}
	}
}

// sendHome shows n at its source path. It drops a proposal to delete n, and blocks one to rename it.
func (f *Folder) sendHome(n *Node) {
	at := *n.home
	if n.shown() {
		f.shift.Events = append(f.shift.Events, n.event(model.EventRemoved))
	}
	if p := n.pending; p.rec.Kind == model.ProposedRename {
		p.rec = p.record()
		p.rec.Blocked = true
	} else {
		f.lose(p)
	}
	if n.parent != nil {
		delete(n.parent.children, n.name)
		n.parent = nil
	}
	if at.parent.isIn(n) {
		f.sendHome(at.parent.outermost(n))
	}
	f.makeRoom(at.parent, at.name, n.Kind)
	n.show(at.parent, at.name)
	if n.shown() { // else the event of its folder covers it
		f.shift.Events = append(f.shift.Events, n.arrival()...)
	}
}

// arrival returns events that create n and everything shown below it. When several
// nodes exchange places, a sequence of renames would show states that never existed.
func (n *Node) arrival() []model.Event {
	events := []model.Event{n.event(model.EventCreated)}
	n.walk(func(c *Node) { events = append(events, c.event(model.EventCreated)) })
	return events
}

// outermost returns the topmost folder on the way from d up to n that is shown away
// from its source path.
func (d *Node) outermost(n *Node) *Node {
	found := d
	for ; d != n; d = d.parent {
		if d.home != nil {
			found = d
		}
	}
	return found
}

// vanishTree removes n, which the source no longer has, with everything that the source had below
// it, wherever that is shown. Nodes from elsewhere that were shown in n are shown at their source
// paths again. tell adds an event for n, which is not needed if the folder around n is removed,
// too.
func (f *Folder) vanishTree(n *Node, tell bool) {
	for _, c := range n.sourceChildren() {
		f.vanishTree(c, c.home != nil)
	}
	for _, c := range n.sorted() {
		switch {
		case c.home == nil:
		case c.virtual():
			f.vanishTree(c, false)
		default:
			f.sendHome(c)
		}
	}
	for _, p := range []*Proposal{n.pending, n.content} {
		if p != nil {
			f.lose(p)
		}
	}
	if tell && n.shown() {
		f.shift.Events = append(f.shift.Events, n.event(model.EventRemoved))
	}
	f.forget(n)
}

func (f *Folder) forget(n *Node) {
	n.forget()
	if n.Note != nil {
		n.Note.Drop()
	}
}

// Vanish removes n, which the source no longer has, with everything that the source had below it.
// The next TakeShift returns the events for nodes that were shown elsewhere and, if tell is set,
// for n.
func (f *Folder) Vanish(n *Node, tell bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.vanishTree(n, tell)
}

// Forget removes n, which must be empty, from the tree for good.
func (f *Folder) Forget(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(n)
}

// Shift holds the changes of proposals since the last TakeShift.
type Shift struct {
	Events  []model.Event
	Dropped []model.ProposalRecord // as they were when they became pointless
	Done    []string               // IDs of proposals whose change users made themselves
}

// TakeShift returns the changes of the Folder's proposals, for the caller to store and publish. It also shows blocked
// renames that are possible again.
func (f *Folder) TakeShift() Shift {
	f.mu.Lock()
	defer f.mu.Unlock()
	for again := true; again; { // one may make room for another
		again = false
		for _, p := range f.proposals {
			if !p.rec.Blocked {
				continue
			}
			dir := f.lookup(p.rec.ToDir)
			if dir != nil && dir.Kind == model.KindDir && dir.shown() && dir.children[p.rec.Name] == nil && !dir.isIn(p.Node) && p.Node.shown() {
				f.shift.Events = append(f.shift.Events, p.Node.move(dir, p.rec.Name))
				p.rec.Blocked = false
				again = true
			}
		}
	}
	s := f.shift
	f.shift = Shift{}
	return s
}

// Changed returns the records of proposals that have changed since they were stored, and marks them
// as stored. The caller stores them.
func (f *Folder) Changed() (list []model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.proposals {
		if rec := p.record(); !rec.SameAs(&p.kept) {
			p.rec, p.kept = rec, rec
			list = append(list, rec)
		}
	}
	return list
}
