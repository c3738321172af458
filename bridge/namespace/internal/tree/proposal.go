package tree

import (
	"cmp"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Proposal is a pending proposal with its node. Its record is computed again from the node when the tree changes.
type Proposal struct {
	ID   string // never changes
	Node *Node  // never changes

	current model.ProposalRecord // the record; its paths may be out of date (see the method record)
	stored  model.ProposalRecord // the record that the store has
}

// record returns the proposal with its present paths.
func (p *Proposal) record() model.ProposalRecord {
	rec := p.current
	rec.Rel = p.Node.rel()
	if p.Node.parent != nil && !rec.Blocked && (rec.Kind == model.ProposedRename || p.Node.isProposed()) {
		rec.ToDir, rec.Name = p.Node.parent.rel(), p.Node.name
	}
	rec.Made = p.agentFolders()
	return rec
}

// newPath returns the path at which a rename shows its node, or would show it.
func (p *Proposal) newPath() model.Path {
	if !p.current.Blocked {
		return p.Node.path()
	}
	if dir := p.Node.Root.lookup(p.current.ToDir); dir != nil && dir.shown() {
		return dir.path().Join(p.current.Name)
	}
	return p.Node.Root.Path().Join(p.current.To())
}

// agentFolders returns the folders made by agents among these: the node, the folders above it, and the folders above
// its new place. It includes the folders already in the record, because a user's decision must not change the list.
func (p *Proposal) agentFolders() (agentFolders []string) {
	for _, d := range []*Node{p.Node, p.Node.parent} {
		for ; d != nil; d = d.loc().parent {
			rel := d.rel()
			if rel != "" && (d.createdByAgent != nil || slices.Contains(p.current.Made, rel)) && !slices.Contains(agentFolders, rel) {
				agentFolders = append(agentFolders, rel)
			}
		}
	}
	return agentFolders
}

func (p *Proposal) public() model.Proposal {
	rec := p.record()
	pub := model.Proposal{
		ID: rec.ID, Kind: rec.Kind, Dir: rec.Dir, Author: rec.Author, Session: rec.Session, Time: rec.Time, Order: rec.Order,
		Stale: rec.Stale, Old: rec.Old, New: rec.New,
	}
	pub.Path = p.Node.path()
	if rec.Kind == model.ProposedRename {
		pub.NewPath, pub.Taken = p.newPath(), rec.Blocked
	}
	if rec.Rel != "" {
		pub.Path = p.Node.Root.Path().Join(rec.Rel)
	}
	return pub
}

func (p *Proposal) Record() model.ProposalRecord {
	p.Node.Root.mu.RLock()
	defer p.Node.Root.mu.RUnlock()
	return p.record()
}

func (p *Proposal) Public() model.Proposal {
	p.Node.Root.mu.RLock()
	defer p.Node.Root.mu.RUnlock()
	return p.public()
}

// Update calls fn to change the record. Changed returns the record if it then differs from the stored one (see SameAs).
func (p *Proposal) Update(fn func(*model.ProposalRecord)) {
	p.Node.Root.mu.Lock()
	defer p.Node.Root.mu.Unlock()
	fn(&p.current)
}

func (p *Proposal) MarkStored() model.ProposalRecord {
	p.Node.Root.mu.Lock()
	defer p.Node.Root.mu.Unlock()
	p.current = p.record()
	p.stored = p.current
	return p.current
}

// Proposals lists the proposals at a path or below it, in the order in which they were made. A proposal is below a
// folder if its node is there now or will be there after acceptance. It returns fs.ErrNotExist if there is neither a
// node at the path nor a proposal below it.
func (t *Tree) Proposals(under model.Path) ([]model.Proposal, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var list []model.Proposal
	for _, f := range t.Roots() {
		for _, p := range f.proposals {
			if pub := p.public(); (under.Contains(pub.Path) || pub.NewPath != "" && under.Contains(pub.NewPath)) && !t.hides(p.Node) {
				list = append(list, pub)
			}
		}
	}
	if len(list) == 0 && t.lookup(under) == nil {
		return nil, &model.Error{Op: "list", Path: under, Err: fs.ErrNotExist}
	}
	slices.SortStableFunc(list, func(a, b model.Proposal) int { return cmp.Compare(a.Order, b.Order) })
	return list, nil
}

// Pending returns the pending proposals of the root, in the order in which they were added to the tree.
func (f *Root) Pending() []*Proposal {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.proposals)
}

func (t *Tree) HasProposals() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.ContainsFunc(t.Roots(), func(f *Root) bool { return len(f.proposals) > 0 })
}

// Add adds a proposal that the store has, applies it to the shown tree, and returns the events. The proposal concerns n
// or, if n is nil, a new file in dir. A rename shows n in dir. A node that is not shown stays hidden. A deletion
// replaces all other proposals for n, and new content replaces earlier content. Both happen in one step, so no reader
// sees n without a proposal.
func (f *Root) Add(n, dir *Node, rec model.ProposalRecord) (*Proposal, []model.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n == nil {
		p := dir.showFile(rec)
		return p, []model.Event{p.Node.event(model.EventCreated)}
	}
	for _, old := range []*Proposal{n.pending, n.content} {
		if old != nil && (rec.Kind == model.ProposedDelete || rec.Kind == model.ProposedFile && old == n.content) {
			f.withdraw(old)
		}
	}
	p := n.attach(rec)
	switch {
	case rec.Kind == model.ProposedFile:
		return p, []model.Event{n.event(model.EventChanged)}
	case !n.shown():
		return p, nil
	case rec.Kind == model.ProposedDelete:
		ev := n.event(model.EventRemoved)
		n.hide()
		return p, []model.Event{ev}
	}
	return p, []model.Event{n.move(dir, rec.Name)}
}

// Show shows the node of an existing proposal at its new place in dir. rec is the record that the store has.
func (p *Proposal) Show(dir *Node, rec model.ProposalRecord) {
	p.Node.Root.mu.Lock()
	defer p.Node.Root.mu.Unlock()
	p.current, p.stored = rec, rec
	p.Node.show(dir, rec.Name)
}

func (n *Node) move(dir *Node, name string) model.Event {
	ev := model.Event{Kind: model.EventRenamed, OldPath: n.path(), Dir: n.Kind == model.KindDir, ViewChanged: true}
	n.show(dir, name)
	ev.Path = n.path()
	return ev
}

func (dir *Node) showFile(rec model.ProposalRecord) *Proposal {
	n := newNode(dir, rec.Name, model.KindFile)
	n.sourceLoc = new(sourceLoc)
	n.mode, n.modTime = 0o644, rec.Time
	dir.children[rec.Name] = n
	return n.attach(rec)
}

func (n *Node) attach(rec model.ProposalRecord) *Proposal {
	n.Root.setCreatedByAgent(rec.Made, rec.Author)
	p := &Proposal{ID: rec.ID, Node: n, current: rec, stored: rec}
	n.Root.proposals = append(n.Root.proposals, p)
	if rec.Kind == model.ProposedFile {
		n.content = p
	} else {
		n.pending = p
	}
	return p
}

func (f *Root) withdraw(p *Proposal) {
	f.proposals = slices.DeleteFunc(f.proposals, func(x *Proposal) bool { return x == p })
	if p.Node.pending == p {
		p.Node.pending = nil
	}
	if p.Node.content == p {
		p.Node.content = nil
	}
}

// Withdraw removes proposals from the tree without changing what the tree shows. It ignores nil.
func (f *Root) Withdraw(list ...*Proposal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range list {
		if p != nil {
			f.withdraw(p)
		}
	}
}
