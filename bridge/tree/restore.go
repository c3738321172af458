package tree

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Overlay lays the pending proposals of earlier processes over the tree, which shows the
// source so far. Nobody is served yet.
func (f *Folder) Overlay(recs []model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rec := range recs {
		f.restoreOne(rec)
	}
	f.placeRestored()
}

// restoreOne attaches a proposal to its node, which leaves its place; a proposal
// about something that is gone is dropped.
func (f *Folder) restoreOne(rec model.ProposalRecord) {
	kept := rec
	n := f.lookup(rec.Rel)
	if rec.Rel == "" {
		if dir := f.lookup(rec.ToDir); dir != nil && dir.Kind == model.KindDir && dir.children[rec.Name] == nil {
			showFile(dir, rec)
			return
		}
		n = f.lookup(rec.To())
		rec.Stale = true // somebody else made it
	}
	if n == nil || n == f.top || (n.Kind == model.KindDir) != rec.Dir || (n.Kind != model.KindFile) && rec.Kind == model.ProposedFile {
		f.shift.Dropped = append(f.shift.Dropped, rec)
		return
	}
	f.attach(n, rec).kept = kept
	if rec.Kind != model.ProposedFile {
		n.hide()
	}
}

// placeRestored shows what is proposed to be renamed at its new place, all the
// others having left theirs, or at home if there is no such place any more.
func (f *Folder) placeRestored() {
	var homeless []*Node
	for _, p := range f.proposals {
		if p.rec.Kind != model.ProposedRename {
			continue
		}
		dir := f.lookup(p.rec.ToDir)
		if dir == nil || dir.Kind != model.KindDir || dir.children[p.rec.Name] != nil || dir.isIn(p.Node) {
			homeless = append(homeless, p.Node)
			continue
		}
		p.Node.show(dir, p.rec.Name)
		if p.Node.home == nil { // a person did it
			f.shift.Done = append(f.shift.Done, p.rec.ID)
			p.Node.pending = nil
		}
	}
	f.proposals = slices.DeleteFunc(f.proposals, func(p *Proposal) bool { return slices.Contains(f.shift.Done, p.ID) })
	for _, n := range homeless {
		if n.home != nil { // another one has not sent it home yet
			f.sendHome(n)
		}
	}
	for _, p := range slices.Clone(f.proposals) {
		switch n := p.Node; {
		case p.rec.Kind == model.ProposedDelete && n.hidden() && len(n.children) > 0:
			f.sendHome(n) // people put something in
		case n.parent != nil:
			f.reveal(n.parent)
		}
	}
}
