package tree

import (
	"github.com/relayfs/relayfs/bridge/model"
)

// This file lets proposals give way to what the user does in the source. A rename whose place was taken waits, and what it
// is about is shown where the source has it. A proposal about something that is gone, or that is in use again, is dropped, and
// the journal tells of it. TakeShift tells what has to be made known of it.

// lose is withdraw for a proposal that has become pointless. Its record tells
// where everything was, so it comes before the tree is changed.
func (f *Folder) lose(p *Proposal) {
	rec := p.record()
	f.withdraw(p)
	f.shift.Dropped = append(f.shift.Dropped, rec)
}

// makeRoom lets what is shown in dir under name without being there in the source
// give way to what the source has there now. A proposed file becomes that file:
// it is returned.
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

// reveal shows a folder that was proposed to be deleted: it is in use again.
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

// sendHome drops the proposal to delete n, or blocks that to rename it, and shows n where the source has it.
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
	if n.shown() { // else it arrives with the folder it is in
		f.shift.Events = append(f.shift.Events, n.arrival()...)
	}
}

// arrival tells of n and all that is shown below it as new. Where several places
// are exchanged, renames one after the other would tell of states in between.
func (n *Node) arrival() []model.Event {
	events := []model.Event{n.event(model.EventCreated)}
	n.walk(func(c *Node) { events = append(events, c.event(model.EventCreated)) })
	return events
}

// outermost is the folder on the way from d up to n that has its home elsewhere.
func (d *Node) outermost(n *Node) *Node {
	found := d
	for ; d != n; d = d.parent {
		if d.home != nil {
			found = d
		}
	}
	return found
}

// vanishTree takes n, which the source has no more, out of the tree, with all that
// the source had below it, wherever that was shown. What was shown in it and has
// its home elsewhere goes there. It tells of n unless n goes with the folder it is shown in.
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

// forget takes n out of the tree for good.
func (f *Folder) forget(n *Node) {
	n.forget()
	if n.Note != nil {
		n.Note.Drop()
	}
}

// Vanish takes n, which the source has no more, out of the tree, with all that the source
// had below it. The next TakeShift tells of what was shown of it elsewhere, and of n itself if
// tell is set.
func (f *Folder) Vanish(n *Node, tell bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.vanishTree(n, tell)
}

// Forget takes n, in which there is nothing, out of the tree for good.
func (f *Folder) Forget(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(n)
}

// Shift is what became of proposals since the last TakeShift.
type Shift struct {
	Events  []model.Event
	Dropped []model.ProposalRecord // as they were when they became pointless
	Done    []string               // IDs of proposals that people did themselves
}

// TakeShift returns what became of the Folder's proposals, for the caller to keep and to publish. Renames that were blocked and
// can be shown are.
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

// Changed are the records of proposals that have changed since the store got them, which
// is to get these.
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
