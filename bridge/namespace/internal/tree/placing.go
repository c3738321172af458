package tree

import (
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// placing maps nodes that change their places together to their future places. The zero
// home removes a node.
type placing map[*Node]home

// layer is one of the two trees of a Folder: the shown tree or the source's.
type layer struct {
	at       func(d *Node, name string) *Node // or nil
	parent   func(*Node) *Node                // nil above the root, and for a node without a place
	children func(*Node) []*Node
}

var (
	asShown = layer{
		at:       func(d *Node, name string) *Node { return d.children[name] },
		parent:   func(n *Node) *Node { return n.parent },
		children: func(n *Node) []*Node { return slices.Collect(maps.Values(n.children)) },
	}
	inSource = layer{
		at:       (*Node).inSource,
		parent:   func(n *Node) *Node { return n.at().parent },
		children: (*Node).sourceChildren,
	}
)

// stranded returns the proposals that cannot get their places in to, even if all the others do.
func (l layer) stranded(to placing, list []*Proposal) (stranded []*Proposal) {
	l.drop(to)
	for _, p := range list {
		if _, left := to[p.Node]; !left && p.rec.Kind != model.ProposedFile {
			stranded = append(stranded, p)
		}
	}
	return stranded
}

// drop removes the nodes that cannot get their places even if all the others do.
func (l layer) drop(to placing) {
	for again := true; again; {
		again = false
		for n := range to {
			if !l.canGo(to, n) {
				delete(to, n)
				again = true
			}
		}
	}
}

// canGo reports whether n can get its place once all the others have theirs: the name must be free,
// and the folder must exist and not be in n. A node to be removed must be empty.
func (l layer) canGo(to placing, n *Node) bool {
	at := to[n]
	if at.parent == nil {
		return l.empties(to, n)
	}
	if guest := l.at(at.parent, at.name); guest != nil && !to.has(guest) {
		return false
	}
	passed := map[*Node]bool{n: true}
	for d := at.parent; ; {
		if passed[d] {
			return false // it would be in itself, or in a cycle of others
		}
		passed[d] = true
		up := l.parent(d)
		if to.has(d) {
			up = to[d].parent
		}
		if up == nil {
			return d.Folder == nil // the root; any other d is to be deleted
		}
		d = up
	}
}

func (l layer) empties(to placing, n *Node) bool {
	for _, c := range l.children(n) {
		if !to.has(c) {
			return false
		}
	}
	for _, at := range to {
		if at.parent == n {
			return false
		}
	}
	return true
}

func (to placing) has(n *Node) bool {
	_, ok := to[n]
	return ok
}

// show moves all nodes, none of which may be stranded, to their places, and returns the events.
func (to placing) show() []model.Event {
	var events []model.Event
	if len(to) == 1 {
		for n, at := range to {
			if n.shown() && at.parent != nil {
				return []model.Event{n.move(at.parent, at.name)}
			}
		}
	}
	for n := range to {
		if n.shown() {
			events = append(events, n.event(model.EventRemoved))
		}
	}
	for n := range to {
		n.hide()
	}
	for n, at := range to {
		if at.parent != nil {
			n.show(at.parent, at.name)
		}
	}
	for n, at := range to {
		if at.parent != nil && !to.brings(n) {
			events = append(events, n.arrival()...)
		}
	}
	return events
}

// brings reports whether another of the nodes shows n, and so covers it with its own arrival.
func (to placing) brings(n *Node) bool {
	for d := n.parent; d != nil; d = d.parent {
		if to.has(d) {
			return true
		}
	}
	return false
}
