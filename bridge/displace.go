package bridge

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file lets proposals give way to what people do in the source meanwhile. A
// proposal that cannot be shown any more, because its place was taken or what it
// is about is gone, is dropped: what it was about is shown where people have it,
// and the journal tells of it. All of it is memory; settle makes it known.

// shift is what became of proposals while the tree was changed.
type shift struct {
	events  []model.Event
	dropped []*proposal
	done    []string // IDs of proposals that people did themselves
}

// withdraw forgets a proposal without showing anything. treeMu is held.
func (f *folder) withdraw(p *proposal) {
	f.proposals = slices.DeleteFunc(f.proposals, func(x *proposal) bool { return x == p })
	if p.node.pending == p {
		p.node.pending = nil
	}
	if p.node.content == p {
		p.node.content = nil
	}
}

// lose is withdraw for a proposal that has become pointless. Its record tells
// where everything was, so it comes before the tree is changed.
func (f *folder) lose(p *proposal) {
	p.rec = p.record()
	f.withdraw(p)
	f.shift.dropped = append(f.shift.dropped, p)
}

// makeRoom lets what is shown in dir under name without being there in the source
// give way to what the source has there now. A proposed file becomes that file:
// it is returned. treeMu is held.
func (w *Workspace) makeRoom(dir *node, name string, kind model.Kind) *node {
	w.reveal(dir)
	guest := dir.children[name]
	switch {
	case guest == nil:
		return nil
	case guest.virtual() && guest.kind == kind:
		guest.content.rec.Stale = true
		guest.home = nil
		return guest
	case guest.virtual():
		w.vanish(guest)
	default:
		w.sendHome(guest)
	}
	return nil
}

// reveal shows a folder that was proposed to be deleted: it is in use again. One
// that has no proposal is on its way home.
func (w *Workspace) reveal(dir *node) {
	for d := dir; ; d = d.parent {
		if d.hidden() && d.pending != nil {
			w.sendHome(d)
		}
		if d.parent == nil {
			return
		}
	}
}

// sendHome drops the proposal to rename or delete n and shows n where the source
// has it.
func (w *Workspace) sendHome(n *node) {
	f, at := n.folder, *n.home
	if n.shown() {
		f.shift.events = append(f.shift.events, n.event(model.EventRemoved))
	}
	f.lose(n.pending)
	if n.parent != nil {
		delete(n.parent.children, n.name)
		n.parent = nil
	}
	if at.parent.isIn(n) {
		w.sendHome(at.parent.outermost(n))
	}
	w.makeRoom(at.parent, at.name, n.kind)
	n.show(at.parent, at.name)
	if n.shown() { // else it arrives with the folder it is in
		f.shift.events = append(f.shift.events, n.arrival()...)
	}
}

// event is an event about n where it is shown.
func (n *node) event(kind model.EventKind) model.Event {
	return model.Event{Kind: kind, Path: n.path(), Dir: n.kind == model.KindDir, Link: n.kind == model.KindLink, ViewChanged: true}
}

// arrival tells of n and all that is shown below it as new. Where several places
// are exchanged, renames one after the other would tell of states in between.
func (n *node) arrival() []model.Event {
	events := []model.Event{n.event(model.EventCreated)}
	n.walk(func(c *node) { events = append(events, c.event(model.EventCreated)) })
	return events
}

// outermost is the folder on the way from d up to n that has its home elsewhere.
func (d *node) outermost(n *node) *node {
	found := d
	for ; d != n; d = d.parent {
		if d.home != nil {
			found = d
		}
	}
	return found
}

// vanish takes n, which the source has no more, out of the tree, with all that
// the source had below it, wherever that was shown. What was shown in it and has
// its home elsewhere goes there. treeMu is held.
func (w *Workspace) vanish(n *node) { w.vanishTree(n, true) }

// vanishTree is vanish; it tells of n unless n goes with the folder it is shown in.
func (w *Workspace) vanishTree(n *node, tell bool) {
	f := n.folder
	for _, c := range n.sourceChildren() {
		w.vanishTree(c, c.home != nil)
	}
	for _, c := range n.guests() {
		if c.virtual() {
			w.vanishTree(c, false)
		} else {
			w.sendHome(c)
		}
	}
	for _, p := range []*proposal{n.pending, n.content} {
		if p != nil {
			f.lose(p)
		}
	}
	if tell && n.shown() {
		f.shift.events = append(f.shift.events, n.event(model.EventRemoved))
	}
	w.forget(n)
}

// forget takes n out of the tree for good. treeMu is held.
func (w *Workspace) forget(n *node) {
	n.forget()
	if n.note != nil {
		n.note.Drop()
	}
}

// settle publishes what changed in the folder's proposals, and keeps it. It
// returns the events for the caller to publish once it has released its locks.
// names is held.
func (w *Workspace) settle(f *folder) []model.Event {
	w.treeMu.Lock()
	s := f.shift
	f.shift = shift{}
	change := model.ProposalChange{Drop: s.done}
	for _, p := range f.proposals {
		if rec := p.record(); !rec.SameAs(&p.kept) {
			p.rec, p.kept = rec, rec
			change.Put = append(change.Put, rec)
		}
	}
	w.treeMu.Unlock()
	now := time.Now().UTC()
	for _, p := range s.dropped {
		w.log.Warn("proposal dropped: what it is about is gone, or its place is taken",
			model.LogPath, string(f.node.path().Join(p.rec.Rel)), "kind", string(p.rec.Kind))
		change.Drop = append(change.Drop, p.rec.ID)
		change.Journal = append(change.Journal, p.rec.Decided(model.Decision{Batch: newBatch(), Verdict: model.Rejected, Lapsed: true}, now))
	}
	if len(change.Put)+len(change.Drop) > 0 {
		if err := f.store.Propose(change); err != nil {
			w.log.Error("proposals are not kept as they are now", model.LogFolder, f.node.name, model.LogErr, err)
		}
	}
	return s.events
}
