package bridge

import (
	"fmt"
	"path"
	"strings"
)

// The tree shows pending proposals as done: it is the tree of the source with an
// overlay. A node that is shown elsewhere than where its source has it knows its
// home, and the folder that is its home knows that it is away. So every node has
// two places, and paths of the source and paths of the workspace are found from
// the same nodes.

// home is where the source has a node that is shown elsewhere or not at all.
type home struct {
	parent *node // nil: a proposed file that is not in the source
	name   string
}

// inSource is what the source has in folder d under name, nil if nothing.
func (d *node) inSource(name string) *node {
	if c := d.away[name]; c != nil {
		return c
	}
	if c := d.children[name]; c != nil && c.home == nil {
		return c
	}
	return nil
}

// sourceChildren is what the source has in folder d.
func (d *node) sourceChildren() []*node {
	var list []*node
	for _, c := range d.sorted() {
		if c.home == nil {
			list = append(list, c)
		}
	}
	for _, c := range d.away {
		list = append(list, c)
	}
	return list
}

// guests are the nodes that are shown in folder d and have their home elsewhere.
func (d *node) guests() []*node {
	var list []*node
	for _, c := range d.sorted() {
		if c.home != nil {
			list = append(list, c)
		}
	}
	return list
}

// walkSource calls fn for n and all that the source has below it.
func (n *node) walkSource(fn func(*node)) {
	fn(n)
	for _, c := range n.sourceChildren() {
		c.walkSource(fn)
	}
}

// rel is where the source has n, "" if it does not and for the Folder itself.
func (n *node) rel() string {
	var rel string
	for n.folder != nil && n != n.folder.node {
		at := n.place()
		if at.parent == nil {
			return ""
		}
		rel = path.Join(at.name, rel)
		n = at.parent
	}
	return rel
}

// place is n's home, wherever it is shown.
func (n *node) place() home {
	if n.home != nil {
		return *n.home
	}
	return home{n.parent, n.name}
}

// hidden says that n is proposed to be deleted.
func (n *node) hidden() bool { return n.parent == nil && n.home != nil }

// virtual says that the source does not have n.
func (n *node) virtual() bool { return n.home != nil && n.home.parent == nil }

// shown says whether n has a path.
func (n *node) shown() bool {
	for n.parent != nil {
		n = n.parent
	}
	return n.folder == nil
}

// hide takes n out of what is shown; its home stays where it is.
func (n *node) hide() {
	if n.home == nil {
		n.home = &home{n.parent, n.name}
		n.parent.sendAway(n.name, n)
	}
	if n.parent != nil {
		delete(n.parent.children, n.name)
	}
	n.parent = nil
}

func (d *node) sendAway(name string, n *node) {
	if d.away == nil {
		d.away = make(map[string]*node)
	}
	d.away[name] = n
}

// show gives n the place name in folder d, which is free.
func (n *node) show(d *node, name string) {
	n.hide()
	n.parent, n.name = d, name
	d.children[name] = n
	if n.home.parent == d && n.home.name == name {
		delete(d.away, name)
		n.home = nil
	}
}

// rehome notes that the source has n in folder d under name now. What is shown
// stays as it is.
func (n *node) rehome(d *node, name string) {
	if n.home == nil {
		n.home = &home{n.parent, n.name}
	} else if n.home.parent != nil {
		delete(n.home.parent.away, n.home.name)
	}
	if n.parent == d && n.name == name {
		n.home = nil
		return
	}
	n.home = &home{d, name}
	d.sendAway(name, n)
}

// forget takes n out of the tree for good.
func (n *node) forget() {
	if n.parent != nil {
		delete(n.parent.children, n.name)
	}
	if n.home != nil && n.home.parent != nil {
		delete(n.home.parent.away, n.home.name)
	}
}

// isIn says whether n is d or shown below it.
func (n *node) isIn(d *node) bool {
	for ; n != nil; n = n.parent {
		if n == d {
			return true
		}
	}
	return false
}

// lookupSource finds what the source has at rel, nil if it is not known.
func (f *folder) lookupSource(rel string) *node {
	n := f.node
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

// freeName is name, or a variation of it, that neither the source nor the tree
// has in folder d.
func (d *node) freeName(name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := 1; d.inSource(name) != nil || d.children[name] != nil; i++ {
		name = fmt.Sprintf("%s %d%s", stem, i, ext)
	}
	return name
}
