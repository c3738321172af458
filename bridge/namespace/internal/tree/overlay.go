package tree

import (
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// sourceLoc is the place in the source of a node that is hidden or shown at another place.
type sourceLoc struct {
	parent *Node // nil for a proposed file that the source does not have
	name   string
}

// inSource returns the node that the source has in folder d under the given name, or nil.
func (d *Node) inSource(name string) *Node {
	if c := d.movedOut[name]; c != nil {
		return c
	}
	if c := d.children[name]; c != nil && c.sourceLoc == nil {
		return c
	}
	return nil
}

// sourceChildren returns the nodes that the source has in folder d, in the order of their paths there.
func (d *Node) sourceChildren() []*Node {
	list := slices.Collect(maps.Values(d.movedOut))
	for _, c := range d.children {
		if c.sourceLoc == nil {
			list = append(list, c)
		}
	}
	return sortedBy(list, func(c *Node) string { return c.loc().name })
}

func (n *Node) walkSource(fn func(*Node)) {
	fn(n)
	for _, c := range n.sourceChildren() {
		c.walkSource(fn)
	}
}

// rel returns the path of n in the source. It is "" for the root, and if the source does not have n.
func (n *Node) rel() string {
	var parts []string
	for n.Root != nil && n != n.Root.rootNode {
		loc := n.loc()
		if loc.parent == nil {
			return ""
		}
		parts = append(parts, loc.name)
		n = loc.parent
	}
	slices.Reverse(parts)
	return strings.Join(parts, "/")
}

// loc returns the place of n in the source, even if n is shown at another place.
func (n *Node) loc() sourceLoc {
	if n.sourceLoc != nil {
		return *n.sourceLoc
	}
	return sourceLoc{n.parent, n.name}
}

// hidden reports whether n is proposed to be deleted.
func (n *Node) hidden() bool { return n.parent == nil && n.sourceLoc != nil }

// isProposed reports whether the source does not have n.
func (n *Node) isProposed() bool { return n.sourceLoc != nil && n.sourceLoc.parent == nil }

// shown reports whether n has a path in the workspace.
func (n *Node) shown() bool {
	for n.parent != nil {
		n = n.parent
	}
	return n.Root == nil
}

// hide removes n from the shown tree. Its place in the source does not change.
func (n *Node) hide() {
	if n.sourceLoc == nil {
		n.sourceLoc = &sourceLoc{n.parent, n.name}
		n.parent.addMovedOut(n.name, n)
	}
	if n.parent != nil {
		delete(n.parent.children, n.name)
	}
	n.parent = nil
}

func (d *Node) addMovedOut(name string, n *Node) {
	if d.movedOut == nil {
		d.movedOut = make(map[string]*Node)
	}
	d.movedOut[name] = n
}

// show shows n in folder d under the given name, which must be free.
func (n *Node) show(d *Node, name string) {
	n.hide()
	n.parent, n.name = d, name
	d.children[name] = n
	if n.sourceLoc.parent == d && n.sourceLoc.name == name {
		delete(d.movedOut, name)
		n.sourceLoc = nil
	}
}

// setSourceLoc records that the source now has n in folder d under the given name. It does not change where n is shown.
// It updates the paths in proposals.
func (n *Node) setSourceLoc(d *Node, name string) {
	if old := n.rel(); old != "" {
		defer func() {
			for _, p := range n.Root.proposals {
				p.current.RebaseOthers(old, n.rel())
				if p.current.Blocked {
					p.current.ToDir = model.Rebased(p.current.ToDir, old, n.rel())
				}
			}
		}()
	}
	if n.sourceLoc == nil {
		n.sourceLoc = &sourceLoc{n.parent, n.name}
	} else if n.sourceLoc.parent != nil {
		delete(n.sourceLoc.parent.movedOut, n.sourceLoc.name)
	}
	if n.parent == d && n.name == name {
		n.sourceLoc = nil
		return
	}
	n.sourceLoc = &sourceLoc{d, name}
	d.addMovedOut(name, n)
}

func (n *Node) forget() {
	if n.parent != nil {
		delete(n.parent.children, n.name)
	}
	if n.sourceLoc != nil && n.sourceLoc.parent != nil {
		delete(n.sourceLoc.parent.movedOut, n.sourceLoc.name)
	}
}

func (n *Node) isIn(d *Node) bool {
	for ; n != nil; n = n.parent {
		if n == d {
			return true
		}
	}
	return false
}

// lookup returns the node that the source has at rel, or nil.
func (f *Root) lookup(rel string) *Node {
	n := f.rootNode
	if rel == "" {
		return n
	}
	for elem := range strings.SplitSeq(rel, "/") {
		if n = n.inSource(elem); n == nil {
			return nil
		}
	}
	return n
}

func (f *Root) Lookup(rel string) *Node {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.lookup(rel)
}

// freeName returns name, or a variation of it, that is free in folder d both in the source and in the tree.
func (d *Node) freeName(name string) (free string) {
	for free = range model.NumberedNames(name) {
		if d.inSource(free) == nil && d.children[free] == nil {
			break
		}
	}
	return free
}
