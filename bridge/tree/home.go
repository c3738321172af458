package tree

import (
	"errors"

	"github.com/relayfs/relayfs/bridge/model"
)

// homing are the nodes that go home together, each with the proposal that had it shown
// elsewhere.
type homing map[*Node]*Proposal

// Stranded are those of the proposals that cannot be taken away, even if all the others
// are: the home of what they are about is taken.
func (f *Folder) Stranded(list []*Proposal) (stranded []*Proposal) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	h := homingOf(list)
	for again := true; again; {
		again = false
		for n, p := range h {
			if !h.canGo(n) {
				stranded = append(stranded, p)
				delete(h, n)
				again = true
			}
		}
	}
	return stranded
}

func homingOf(list []*Proposal) homing {
	h := make(homing)
	for _, p := range list {
		if p.rec.Kind != model.ProposedFile {
			h[p.Node] = p
		}
	}
	return h
}

// GoHome takes proposals away, none of which is Stranded: what was shown elsewhere is shown
// where the source has it.
func (f *Folder) GoHome(list []*Proposal) []model.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := homingOf(list).goHome()
	for _, p := range list {
		f.withdraw(p)
		switch n := p.Node; {
		case p.rec.Kind != model.ProposedFile:
		case n.virtual():
			events = append(events, n.event(model.EventRemoved))
			n.forget()
		default: // the source's content is shown again
			events = append(events, n.event(model.EventChanged))
		}
	}
	return events
}

// canGo says whether n can be shown at home once all of h are: the name
// is free, and the folder is shown, and not in n.
func (h homing) canGo(n *Node) bool {
	at := *n.home
	if guest := at.parent.children[at.name]; guest != nil && h[guest] == nil {
		return false
	}
	passed := map[*Node]bool{n: true}
	for d := at.parent; ; {
		if passed[d] {
			return false // it would be in itself, or in a circle of others
		}
		passed[d] = true
		up := d.parent
		if h[d] != nil {
			up = d.home.parent
		}
		if up == nil {
			return d.Folder == nil // the root; else a folder that is to be deleted
		}
		d = up
	}
}

func (h homing) goHome() []model.Event {
	var events []model.Event
	if len(h) == 1 {
		for n := range h {
			if n.shown() {
				return []model.Event{n.move(n.home.parent, n.home.name)}
			}
		}
	}
	for n := range h {
		if n.shown() {
			events = append(events, n.event(model.EventRemoved))
		}
	}
	for n := range h {
		n.hide()
	}
	for n := range h {
		n.show(n.home.parent, n.home.name)
	}
	for n := range h {
		if !h.brings(n) {
			events = append(events, n.arrival()...)
		}
	}
	return events
}

// brings says whether n is shown in one of h, whose arrival tells of it.
func (h homing) brings(n *Node) bool {
	for d := n.parent; d != nil; d = d.parent {
		if h[d] != nil {
			return true
		}
	}
	return false
}

// Return shows n, which is proposed to be deleted, again, and tells of it.
func (f *Folder) Return(n *Node) model.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.withdraw(n.pending)
	n.show(n.home.parent, n.home.name)
	return n.event(model.EventCreated)
}

// ErrElsewhere says that what a decision was about has changed too much since.
var ErrElsewhere = errors.New("cannot be taken back: it is not where the decision left it")

// Decided is what a decision on a proposal was about, as it is now.
type Decided struct {
	Node *Node // nil if it is not there
	Dir  *Node // where it is to be shown if the decision is taken back, nil if it is not
}

// FindDecided finds what a decision on the proposal rec was about, and that it can be taken
// back; ErrElsewhere.
func (f *Folder) FindDecided(rec *model.ProposalRecord, accepted bool) (Decided, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var d Decided
	at := rec.Rel
	if accepted && (rec.Kind == model.ProposedRename || at == "") {
		at = rec.To()
	}
	if at != "" {
		d.Node = f.lookup(at)
	}
	if rec.Kind == model.ProposedRename || rec.Rel == "" {
		if d.Dir = f.lookup(rec.ToDir); d.Dir == nil || !d.Dir.shown() {
			return d, ErrElsewhere
		}
	}
	if !d.canBeTakenBack(f, rec, accepted) {
		return d, ErrElsewhere
	}
	return d, nil
}

func (d Decided) canBeTakenBack(f *Folder, rec *model.ProposalRecord, accepted bool) bool {
	n := d.Node
	switch {
	case accepted && rec.Kind == model.ProposedDelete:
		return f.isFree(rec.Rel)
	case n == nil && rec.Rel == "" && !accepted:
		return d.Dir.children[rec.Name] == nil
	case n == nil, n.virtual():
		return false
	case rec.Kind == model.ProposedFile && n.content != nil, rec.Kind != model.ProposedFile && n.pending != nil:
		return false
	case accepted && rec.Kind == model.ProposedRename:
		return f.isFree(rec.Rel)
	case rec.Kind == model.ProposedRename && (d.Dir.children[rec.Name] != nil || d.Dir.isIn(n)):
		return false
	}
	return rec.Kind != model.ProposedDelete || len(n.children) == 0
}

// isFree says whether the source has nothing at rel, in a folder it has.
func (f *Folder) isFree(rel string) bool {
	dir := f.lookup(string(model.Path(rel).Dir()))
	return dir != nil && dir.Kind == model.KindDir && dir.inSource(model.Path(rel).Base()) == nil
}
