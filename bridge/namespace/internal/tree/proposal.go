package tree

import (
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Proposal is a pending proposal and the node that it is about. Its record is
// made anew from the node whenever the tree changes.
type Proposal struct {
	ID   string // never changes
	Node *Node  // never changes

	rec  model.ProposalRecord // paths as of the last record
	kept model.ProposalRecord // what the Store has
}

// record is the proposal as it is to be kept now.
func (p *Proposal) record() model.ProposalRecord {
	rec := p.rec
	rec.Rel = p.Node.rel()
	if p.Node.parent != nil && !rec.Blocked && (rec.Kind == model.ProposedRename || p.Node.virtual()) {
		rec.ToDir, rec.Name = p.Node.parent.rel(), p.Node.name
	}
	rec.Made = p.made()
	return rec
}

// newPath is where a rename is to show what it is about.
func (p *Proposal) newPath() model.Path {
	if !p.rec.Blocked {
		return p.Node.path()
	}
	if dir := p.Node.Folder.lookup(p.rec.ToDir); dir != nil && dir.shown() {
		return dir.path().Join(p.rec.Name)
	}
	return p.Node.Folder.Path().Join(p.rec.To())
}

// made are the folders that agents made, of those that the node is in or is to be in, and the
// node itself. A person's decision does not change that.
func (p *Proposal) made() (made []string) {
	for _, d := range []*Node{p.Node, p.Node.parent} {
		for ; d != nil; d = d.at().parent {
			rel := d.rel()
			if rel != "" && (d.creator().Name != "" || slices.Contains(p.rec.Made, rel)) && !slices.Contains(made, rel) {
				made = append(made, rel)
			}
		}
	}
	return made
}

// public is the record as callers see it.
func (p *Proposal) public() model.Proposal {
	rec := p.record()
	pub := model.Proposal{
		ID: rec.ID, Kind: rec.Kind, Dir: rec.Dir, Author: rec.Author, Session: rec.Session, Time: rec.Time,
		Stale: rec.Stale, Old: rec.Old, New: rec.New,
	}
	pub.Path = p.Node.path()
	if rec.Kind == model.ProposedRename {
		pub.NewPath, pub.Taken = p.newPath(), rec.Blocked
	}
	if rec.Rel != "" {
		pub.Path = p.Node.Folder.Path().Join(rec.Rel)
	}
	return pub
}

func (p *Proposal) Record() model.ProposalRecord {
	p.Node.Folder.mu.RLock()
	defer p.Node.Folder.mu.RUnlock()
	return p.record()
}

func (p *Proposal) Public() model.Proposal {
	p.Node.Folder.mu.RLock()
	defer p.Node.Folder.mu.RUnlock()
	return p.public()
}

// Update has fn change the record. The next TakeShift returns it if it is to be kept again.
func (p *Proposal) Update(fn func(*model.ProposalRecord)) {
	p.Node.Folder.mu.Lock()
	defer p.Node.Folder.mu.Unlock()
	fn(&p.rec)
}

// Kept notes that the store has the record as it is now, and returns that.
func (p *Proposal) Kept() model.ProposalRecord {
	p.Node.Folder.mu.Lock()
	defer p.Node.Folder.mu.Unlock()
	p.rec = p.record()
	p.kept = p.rec
	return p.rec
}

// Proposals lists the proposals at or below under, in the order in which they
// were made. One is below a folder if what it is about is there now, or is to be.
// fs.ErrNotExist if there is nothing at under, and no proposal.
func (t *Tree) Proposals(under model.Path) ([]model.Proposal, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var list []model.Proposal
	for _, f := range t.Folders() {
		for _, p := range f.proposals {
			if pub := p.public(); (under.Contains(pub.Path) || pub.NewPath != "" && under.Contains(pub.NewPath)) && !t.hides(p.Node) {
				list = append(list, pub)
			}
		}
	}
	if len(list) == 0 && t.lookup(under) == nil {
		return nil, &model.Error{Op: "list", Path: under, Err: fs.ErrNotExist}
	}
	slices.SortStableFunc(list, func(a, b model.Proposal) int { return a.Time.Compare(b.Time) })
	return list, nil
}

// Pending are the pending proposals of the Folder, oldest first.
func (f *Folder) Pending() []*Proposal {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.proposals)
}

func (t *Tree) HasProposals() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.ContainsFunc(t.Folders(), func(f *Folder) bool { return len(f.proposals) > 0 })
}

// Add shows a proposal, which the store has, as done, and tells what is shown then: about
// n, or if n is nil about a new file in dir. A rename shows n in dir. What is not shown
// stays so. A deletion takes the place of all that was proposed for n, and a content that
// of another one, in one step: nobody sees n as it would be without either.
func (f *Folder) Add(n, dir *Node, rec model.ProposalRecord) (*Proposal, []model.Event) {
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

// Show shows what the proposal, which has been made before, is about at its new place: in
// dir as rec says, which is the record that the store has now.
func (p *Proposal) Show(dir *Node, rec model.ProposalRecord) {
	p.Node.Folder.mu.Lock()
	defer p.Node.Folder.mu.Unlock()
	p.rec, p.kept = rec, rec
	p.Node.show(dir, rec.Name)
}

func (n *Node) move(dir *Node, name string) model.Event {
	ev := model.Event{Kind: model.EventRenamed, OldPath: n.path(), Dir: n.Kind == model.KindDir, ViewChanged: true}
	n.show(dir, name)
	ev.Path = n.path()
	return ev
}

// showFile makes the node of a file that the source does not have.
func (dir *Node) showFile(rec model.ProposalRecord) *Proposal {
	n := newNode(dir, rec.Name, model.KindFile)
	n.home = new(home)
	n.mode, n.modTime = 0o644, rec.Time
	dir.children[rec.Name] = n
	return n.attach(rec)
}

func (n *Node) attach(rec model.ProposalRecord) *Proposal {
	n.Folder.madeBy(rec.Made, rec.Author)
	p := &Proposal{ID: rec.ID, Node: n, rec: rec, kept: rec}
	n.Folder.proposals = append(n.Folder.proposals, p)
	if rec.Kind == model.ProposedFile {
		n.content = p
	} else {
		n.pending = p
	}
	return p
}

// withdraw forgets a proposal without showing anything.
func (f *Folder) withdraw(p *Proposal) {
	f.proposals = slices.DeleteFunc(f.proposals, func(x *Proposal) bool { return x == p })
	if p.Node.pending == p {
		p.Node.pending = nil
	}
	if p.Node.content == p {
		p.Node.content = nil
	}
}

// Withdraw forgets proposals, nil among them, without showing anything.
func (f *Folder) Withdraw(list ...*Proposal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range list {
		if p != nil {
			f.withdraw(p)
		}
	}
}
