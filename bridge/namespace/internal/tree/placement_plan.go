package tree

import (
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// placementPlan maps nodes that change their places together to their future places. The zero sourceLoc removes a node.
type placementPlan map[*Node]sourceLoc

// treeView is one of the two trees of a root: the shown tree or the tree of the source.
type treeView struct {
	at       func(d *Node, name string) *Node // nil if the name is free
	parent   func(*Node) *Node                // nil above the root, and for a node without a place
	children func(*Node) []*Node
}

var (
	displayedView = treeView{
		at:       func(d *Node, name string) *Node { return d.children[name] },
		parent:   func(n *Node) *Node { return n.parent },
		children: func(n *Node) []*Node { return slices.Collect(maps.Values(n.children)) },
	}
	sourceView = treeView{
		at:       (*Node).inSource,
		parent:   func(n *Node) *Node { return n.loc().parent },
		children: (*Node).sourceChildren,
	}
)

// unplaceable returns the proposals whose nodes cannot get their places in the plan, even if all other nodes get
// theirs.
func (l treeView) unplaceable(to placementPlan, list []*Proposal) (unplaceable []*Proposal) {
	l.drop(to)
	for _, p := range list {
		if _, left := to[p.Node]; !left && p.current.Kind != model.ProposedFile {
			unplaceable = append(unplaceable, p)
		}
	}
	return unplaceable
}

// drop removes from the plan the nodes that cannot get their places even if all other nodes get theirs.
func (l treeView) drop(to placementPlan) {
	for again := true; again; {
		again = false
		for n := range to {
			if !l.isPlaceable(to, n) {
				delete(to, n)
				again = true
			}
		}
	}
}

// isPlaceable reports whether n can get its place once all other nodes have theirs. The name must be free, and the
// folder must exist and not be inside n. A node that is to be removed must be empty.
func (l treeView) isPlaceable(to placementPlan, n *Node) bool {
	loc := to[n]
	if loc.parent == nil {
		return l.empties(to, n)
	}
	if occupant := l.at(loc.parent, loc.name); occupant != nil && !to.has(occupant) {
		return false
	}
	passed := map[*Node]bool{n: true}
	for d := loc.parent; ; {
		if passed[d] {
			return false // n would be inside itself, or in a cycle of other nodes
		}
		passed[d] = true
		up := l.parent(d)
		if to.has(d) {
			up = to[d].parent
		}
		if up == nil {
			return d.Root == nil // true at the top; any other node without a parent is to be deleted
		}
		d = up
	}
}

func (l treeView) empties(to placementPlan, n *Node) bool {
	for _, c := range l.children(n) {
		if !to.has(c) {
			return false
		}
	}
	for _, loc := range to {
		if loc.parent == n {
			return false
		}
	}
	return true
}

func (to placementPlan) has(n *Node) bool {
	_, ok := to[n]
	return ok
}

// show moves all nodes to their places and returns the events. All nodes must be placeable.
func (to placementPlan) show() []model.Event {
	var events []model.Event
	if len(to) == 1 {
		for n, loc := range to {
			if n.shown() && loc.parent != nil {
				return []model.Event{n.move(loc.parent, loc.name)}
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
	for n, loc := range to {
		if loc.parent != nil {
			n.show(loc.parent, loc.name)
		}
	}
	for n, loc := range to {
		if loc.parent != nil && !to.includesParentOf(n) {
			events = append(events, n.createEvents()...)
		}
	}
	return events
}

// includesParentOf reports whether n is shown inside another node of the plan, whose events cover n.
func (to placementPlan) includesParentOf(n *Node) bool {
	for d := n.parent; d != nil; d = d.parent {
		if to.has(d) {
			return true
		}
	}
	return false
}
