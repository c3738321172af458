package tree

import (
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Stranded returns the proposals that cannot be rejected even together with all the
// others, because the source path of their node is taken.
func (f *Folder) Stranded(list []*Proposal) (stranded []*Proposal) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	list = notBlocked(list)
	return asShown.stranded(homes(list), list)
}

// Blocked returns the proposals that cannot be applied to the source even together with all the
// others: the name is taken, or a folder to be removed is not empty.
func (f *Folder) Blocked(list []*Proposal) (blocked []*Proposal) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	to := make(placing)
	for _, p := range list {
		if p.rec.Blocked {
			if dir := f.lookup(p.rec.ToDir); dir != nil && dir.Kind == model.KindDir {
				to[p.Node] = home{dir, p.rec.Name}
			}
		} else if p.rec.Kind != model.ProposedFile {
			to[p.Node] = home{p.Node.parent, p.Node.name}
		}
	}
	return inSource.stranded(to, list)
}

// notBlocked returns the proposals that are not blocked. The node of a blocked proposal is at its source path.
func notBlocked(list []*Proposal) []*Proposal {
	return slices.DeleteFunc(slices.Clone(list), func(p *Proposal) bool { return p.rec.Blocked })
}

// homes maps each node to its place in the source. A file that is only proposed gets the zero home.
func homes(list []*Proposal) placing {
	to := make(placing)
	for _, p := range list {
		if p.rec.Kind != model.ProposedFile || p.Node.virtual() {
			to[p.Node] = *p.Node.home
		}
	}
	return to
}

// GoHome withdraws proposals that are not Stranded, and shows their nodes at their source paths.
func (f *Folder) GoHome(list []*Proposal) []model.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := homes(notBlocked(list)).show()
	for _, p := range list {
		f.withdraw(p)
		switch n := p.Node; {
		case p.rec.Kind != model.ProposedFile:
		case n.virtual():
			n.forget()
		default: // the source's content is shown again
			events = append(events, n.event(model.EventChanged))
		}
	}
	return events
}

// Return shows n, whose deletion is proposed, again, and returns the event.
func (f *Folder) Return(n *Node) model.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.withdraw(n.pending)
	n.show(n.home.parent, n.home.name)
	return n.event(model.EventCreated)
}

// ErrElsewhere means that the node of a decision was moved or changed too much since.
var ErrElsewhere = errors.New("cannot be undone: it was moved or changed after the decision, or something else is proposed for it")

// Decided is a proposal that was decided on, with the present node of its subject.
type Decided struct {
	Rec  model.ProposalRecord
	Node *Node // nil if it does not exist
	Dir  *Node // the folder in which an undo shows it, nil if there is none
}

// FindAccepted finds the subject of an acceptance that can be undone; ErrElsewhere.
func (f *Folder) FindAccepted(rec model.ProposalRecord) (Decided, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	at := rec.Rel
	if rec.Kind == model.ProposedRename || at == "" {
		at = rec.To()
	}
	d := f.findDecided(rec, at)
	switch n := d.Node; {
	case rec.Kind == model.ProposedDelete && f.isFree(rec.Rel):
		return d, nil
	case rec.Kind == model.ProposedDelete, n == nil, n.virtual():
	case d.Dir == nil && (rec.Kind == model.ProposedRename || rec.Rel == ""), d.Dir != nil && !d.Dir.shown():
	case rec.Kind == model.ProposedRename && n.pending == nil && f.isFree(rec.Rel):
		return d, nil
	case rec.Kind == model.ProposedFile && n.content == nil && (rec.Rel != "" || n.pending == nil):
		return d, nil
	}
	return d, ErrElsewhere
}

func (f *Folder) findDecided(rec model.ProposalRecord, at string) Decided {
	d := Decided{Rec: rec}
	if at != "" {
		d.Node = f.lookup(at)
	}
	if rec.Kind == model.ProposedRename || rec.Rel == "" {
		d.Dir = f.lookup(rec.ToDir)
	}
	return d
}

// FindRejected finds the subjects of the rejected proposals that can be pending together again, and returns
// the other records. A rename that cannot be shown becomes blocked: another of the proposals may have its
// name.
func (f *Folder) FindRejected(recs []model.ProposalRecord) (found []Decided, elsewhere []model.ProposalRecord) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	to := make(placing)
	for _, rec := range recs {
		d := f.findDecided(rec, rec.Rel)
		if n := d.Node; rec.Kind != model.ProposedFile && !rec.Blocked && n != nil && n.pending == nil && (d.Dir != nil || rec.Kind == model.ProposedDelete) {
			to[n] = d.place()
		}
		found = append(found, d)
	}
	asShown.drop(to)
	for i := range found {
		d := &found[i]
		d.Rec.Blocked = d.Rec.Kind == model.ProposedRename && d.Node != nil && d.Node.pending == nil && d.Node.home == nil && !to.has(d.Node)
	}
	found = slices.DeleteFunc(found, func(d Decided) bool {
		if to.takes(d) || d.Rec.Blocked {
			return false
		}
		elsewhere = append(elsewhere, d.Rec)
		return true
	})
	return found, elsewhere
}

func (d Decided) place() home {
	if d.Dir == nil {
		return home{}
	}
	return home{d.Dir, d.Rec.Name}
}

// takes reports whether the proposal can be pending again once all nodes have their places.
func (to placing) takes(d Decided) bool {
	n := d.Node
	switch {
	case d.Rec.Kind != model.ProposedFile:
		return to.has(n)
	case d.Rec.Rel != "":
		return n != nil && n.content == nil
	case d.Dir == nil || !d.Dir.shown():
		return false
	}
	guest := d.Dir.children[d.Rec.Name]
	return guest == nil || to.has(guest)
}

// AddRejected adds proposals that FindRejected has found and the store has again. It shows them and
// returns the events.
func (f *Folder) AddRejected(found []Decided) (list []*Proposal, events []model.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to := make(placing)
	for _, d := range found {
		if d.Rec.Kind != model.ProposedFile {
			list = append(list, d.Node.attach(d.Rec))
		}
		if d.Rec.Kind != model.ProposedFile && !d.Rec.Blocked {
			to[d.Node] = d.place()
		}
	}
	events = to.show()
	for _, d := range found {
		switch {
		case d.Rec.Blocked:
			ev := d.Node.event(model.EventPending)
			ev.ViewChanged = false
			events = append(events, ev)
		case d.Rec.Kind != model.ProposedFile:
		case d.Node != nil:
			list = append(list, d.Node.attach(d.Rec))
			events = append(events, d.Node.event(model.EventChanged))
		default:
			p := d.Dir.showFile(d.Rec)
			list = append(list, p)
			events = append(events, p.Node.event(model.EventCreated))
		}
	}
	return list, events
}

// isFree reports whether the source has the folder of rel and nothing at rel.
func (f *Folder) isFree(rel string) bool {
	dir := f.lookup(string(model.Path(rel).Dir()))
	return dir != nil && dir.Kind == model.KindDir && dir.inSource(model.Path(rel).Base()) == nil
}
