package tree

import (
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Unrevertable returns the proposals that cannot be rejected, even together with all other proposals in list, because
// the source path of their node is taken.
func (f *Root) Unrevertable(list []*Proposal) (stranded []*Proposal) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	list = notBlocked(list)
	return displayedView.unplaceable(sourceLocs(list), list)
}

// Unappliable returns the proposals that cannot be applied to the source, even together with all other proposals in
// list, because the name is taken, its folder does not exist, or a folder to be removed is not empty.
func (f *Root) Unappliable(list []*Proposal) (blocked []*Proposal) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	to := make(placementPlan)
	for _, p := range list {
		if p.current.Blocked {
			if dir := f.lookup(p.current.ToDir); dir != nil && dir.Kind == model.KindDir {
				to[p.Node] = sourceLoc{dir, p.current.Name}
			}
		} else if p.current.Kind != model.ProposedFile {
			to[p.Node] = sourceLoc{p.Node.parent, p.Node.name}
		}
	}
	return sourceView.unplaceable(to, list)
}

// notBlocked returns the proposals that are not blocked. The node of a blocked proposal is already at its source path.
func notBlocked(list []*Proposal) []*Proposal {
	return slices.DeleteFunc(slices.Clone(list), func(p *Proposal) bool { return p.current.Blocked })
}

// sourceLocs maps the nodes of proposals to their places in the source. A file that is only proposed gets the zero
// sourceLoc. An existing file with proposed content is not in the map, because it does not move.
func sourceLocs(list []*Proposal) placementPlan {
	to := make(placementPlan)
	for _, p := range list {
		if p.current.Kind != model.ProposedFile || p.Node.isProposed() {
			to[p.Node] = *p.Node.sourceLoc
		}
	}
	return to
}

// RevertAll withdraws all proposals in list, shows their nodes at their source paths, and removes files that are only
// proposed. It returns the events. The list must not contain a proposal that Unrevertable returns.
func (f *Root) RevertAll(list []*Proposal) []model.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := sourceLocs(notBlocked(list)).show()
	for _, p := range list {
		f.withdraw(p)
		switch n := p.Node; {
		case p.current.Kind != model.ProposedFile:
		case n.isProposed():
			n.forget()
		default: // the source's content is shown again
			events = append(events, n.event(model.EventChanged))
		}
	}
	return events
}

// ErrMovedSince is the error for an undo whose node was moved or changed after the decision.
var ErrMovedSince = errors.New("cannot be undone: it was moved or changed after the decision, or another proposal for it is pending")

// Decided is a proposal that was decided on, with the present node of the proposal.
type Decided struct {
	Record model.ProposalRecord
	Node   *Node // nil if the node does not exist
	Dir    *Node // folder in which an undo shows the node; nil if there is none
}

// FindAccepted finds the node of an accepted proposal. It returns ErrMovedSince if the acceptance cannot be undone.
func (f *Root) FindAccepted(rec model.ProposalRecord) (Decided, error) {
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
	case rec.Kind == model.ProposedDelete, n == nil, n.isProposed():
	case d.Dir == nil && (rec.Kind == model.ProposedRename || rec.Rel == ""), d.Dir != nil && !d.Dir.shown():
	case rec.Kind == model.ProposedRename && n.pending == nil && f.isFree(rec.Rel):
		return d, nil
	case rec.Kind == model.ProposedFile && n.content == nil && (rec.Rel != "" || n.pending == nil):
		return d, nil
	}
	return d, ErrMovedSince
}

func (f *Root) findDecided(rec model.ProposalRecord, at string) Decided {
	d := Decided{Record: rec}
	if n := f.lookup(at); at != "" && n != nil && (n.Kind == model.KindDir) == rec.Dir && (n.Kind == model.KindFile || rec.Kind != model.ProposedFile) {
		d.Node = n
	}
	if dir := f.lookup(rec.ToDir); dir != nil && dir.Kind == model.KindDir && (rec.Kind == model.ProposedRename || rec.Rel == "") {
		d.Dir = dir
	}
	return d
}

// FindRejected finds the nodes of proposals, rejected or of earlier processes, that can be pending together again.
// elsewhere has the records of the other proposals. A rename that cannot be shown becomes blocked, because another of
// the proposals may take its name.
func (f *Root) FindRejected(recs []model.ProposalRecord) (found []Decided, elsewhere []model.ProposalRecord) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	to := make(placementPlan)
	for _, rec := range recs {
		d := f.findDecided(rec, rec.Rel)
		if n := d.Node; rec.Kind != model.ProposedFile && !rec.Blocked && n != nil && n.pending == nil && (d.Dir != nil || rec.Kind == model.ProposedDelete) {
			to[n] = d.place()
		}
		found = append(found, d)
	}
	displayedView.drop(to)
	for i := range found {
		d := &found[i]
		d.Record.Blocked = d.Record.Kind == model.ProposedRename && d.Node != nil && d.Node.pending == nil && d.Node.sourceLoc == nil && !to.has(d.Node)
	}
	found = slices.DeleteFunc(found, func(d Decided) bool {
		if to.fits(d) || d.Record.Blocked {
			return false
		}
		elsewhere = append(elsewhere, d.Record)
		return true
	})
	return found, elsewhere
}

func (d Decided) place() sourceLoc {
	if d.Dir == nil {
		return sourceLoc{}
	}
	return sourceLoc{d.Dir, d.Record.Name}
}

// fits reports whether the proposal can be pending again once all nodes have their places.
func (to placementPlan) fits(d Decided) bool {
	n := d.Node
	switch {
	case d.Record.Kind != model.ProposedFile:
		return to.has(n)
	case d.Record.Rel != "":
		return n != nil && n.content == nil
	case d.Dir == nil || !d.Dir.shown():
		return false
	}
	occupant := d.Dir.children[d.Record.Name]
	return occupant == nil || to.has(occupant)
}

// AddRejected adds proposals that FindRejected has found and that the store has again. It shows them and returns the
// events.
func (f *Root) AddRejected(found []Decided) (list []*Proposal, events []model.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to := make(placementPlan)
	for _, d := range found {
		if d.Record.Kind != model.ProposedFile {
			list = append(list, d.Node.attach(d.Record))
		}
		if d.Record.Kind != model.ProposedFile && !d.Record.Blocked {
			to[d.Node] = d.place()
		}
	}
	events = to.show()
	for _, d := range found {
		switch {
		case d.Record.Blocked:
			ev := d.Node.event(model.EventPending)
			ev.ViewChanged = false
			events = append(events, ev)
		case d.Record.Kind != model.ProposedFile:
		case d.Node != nil:
			list = append(list, d.Node.attach(d.Record))
			events = append(events, d.Node.event(model.EventChanged))
		default:
			p := d.Dir.showFile(d.Record)
			list = append(list, p)
			events = append(events, p.Node.event(model.EventCreated))
		}
	}
	return list, events
}

// isFree reports whether the source has the folder of rel and nothing at rel.
func (f *Root) isFree(rel string) bool {
	dir := f.lookup(model.Parent(rel))
	return dir != nil && dir.Kind == model.KindDir && dir.inSource(model.Path(rel).Base()) == nil
}
