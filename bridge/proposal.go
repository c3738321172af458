package bridge

import (
	"context"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Restructure says who asks for a change of names or of a whole file, and how.
type Restructure struct {
	By      model.Author
	Origin  any  // comes back in Event.Origin
	Replace bool // Rename: over an existing file
	Confirm bool // many at once are meant: past the brake
	Person  bool // a person does it, not a program: at once, whatever the policy is
	// Base names what the writer of a whole file had read of it; zero if it does not
	// matter what is there.
	Base model.ContentSum
}

// Restructured says what came of it.
type Restructured struct {
	Proposal string // names the proposal that waits for a person; "" when it was done at once
	Links    int    // links elsewhere that were rewritten, as suggestions in suggest mode
	Notes    int    // in so many notes
}

// proposal is a pending proposal and the node that it is about. Its record is
// made anew from the node whenever the tree changes. treeMu protects it.
type proposal struct {
	node *node
	rec  model.ProposalRecord // paths as of the last record
	kept model.ProposalRecord // what the Store has
}

// record is the proposal as it is to be kept now.
func (p *proposal) record() model.ProposalRecord {
	rec := p.rec
	rec.Rel = p.node.rel()
	if rec.Kind == model.ProposedRename || p.node.virtual() {
		rec.ToDir, rec.Name = p.node.parent.rel(), p.node.name
	}
	return rec
}

// public is the record as callers see it. treeMu is held.
func (p *proposal) public() model.Proposal {
	rec := p.record()
	pub := model.Proposal{
		ID: rec.ID, Kind: rec.Kind, Dir: rec.Dir, Author: rec.Author, Session: rec.Session, Time: rec.Time,
		Stale: rec.Stale, Old: rec.Old, New: rec.New,
	}
	pub.Path = p.node.path()
	if rec.Kind == model.ProposedRename {
		pub.NewPath = pub.Path
	}
	if rec.Rel != "" {
		pub.Path = p.node.folder.node.path().Join(rec.Rel)
	}
	return pub
}

// Proposals lists the proposals at or below under, in the order in which they
// were made. One is below a folder if what it is about is there now, or is to be.
func (w *Workspace) Proposals(_ context.Context, under model.Path) ([]model.Proposal, error) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	var list []model.Proposal
	for _, n := range w.root.sorted() {
		for _, p := range n.folder.proposals {
			if pub := p.public(); under.Contains(pub.Path) || pub.NewPath != "" && under.Contains(pub.NewPath) {
				list = append(list, pub)
			}
		}
	}
	if len(list) == 0 && w.lookup(under) == nil {
		return nil, &model.Error{Op: "list", Path: under, Err: fs.ErrNotExist}
	}
	slices.SortStableFunc(list, func(a, b model.Proposal) int { return a.Time.Compare(b.Time) })
	return list, nil
}
