package tree

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// home is the place in the source of a node that is shown elsewhere or hidden.
type home struct {
	parent *Node // nil for a proposed file that is not in the source
	name   string
}

// inSource returns the node that the source has in folder d under name, or nil.
func (d *Node) inSource(name string) *Node {
	if c := d.away[name]; c != nil {
		return c
	}
	if c := d.children[name]; c != nil && c.home == nil {
		return c
	}
	return nil
}

func (d *Node) sourceChildren() []*Node {
	list := slices.DeleteFunc(d.sorted(), func(c *Node) bool { return c.home != nil })
	return slices.AppendSeq(list, maps.Values(d.away))
}

func (n *Node) walkSource(fn func(*Node)) {
	fn(n)
	for _, c := range n.sourceChildren() {
		c.walkSource(fn)
	}
}

// rel returns the path of n in the source, "" for the Folder itself and if the source
// does not have n.
func (n *Node) rel() string {
	var rel string
	for n.Folder != nil && n != n.Folder.top {
		at := n.at()
		if at.parent == nil {
			return ""
		}
		rel = path.Join(at.name, rel)
		n = at.parent
	}
	return rel
}

// at returns the place of n in the source, even if n is shown elsewhere.
func (n *Node) at() home {
	if n.home != nil {
		return *n.home
	}
	return home{n.parent, n.name}
}

// hidden reports whether n is proposed to be deleted.
func (n *Node) hidden() bool { return n.parent == nil && n.home != nil }

// virtual reports whether the source does not have n.
func (n *Node) virtual() bool { return n.home != nil && n.home.parent == nil }

// shown reports whether n has a path in the workspace.
func (n *Node) shown() bool {
	for n.parent != nil {
		n = n.parent
	}
	return n.Folder == nil
}

// hide removes n from the shown tree. Its place in the source stays the same.
func (n *Node) hide() {
	if n.home == nil {
		n.home = &home{n.parent, n.name}
		n.parent.sendAway(n.name, n)
	}
	if n.parent != nil {
		delete(n.parent.children, n.name)
	}
	n.parent = nil
}

func (d *Node) sendAway(name string, n *Node) {
	if d.away == nil {
		d.away = make(map[string]*Node)
	}
	d.away[name] = n
}

// show shows n in folder d under name, which must be free.
func (n *Node) show(d *Node, name string) {
	n.hide()
	n.parent, n.name = d, name
	d.children[name] = n
	if n.home.parent == d && n.home.name == name {
		delete(d.away, name)
		n.home = nil
	}
}

// rehome records that the source now has n in folder d under name. It does not change
// where n is shown. The paths in proposals change with it.
func (n *Node) rehome(d *Node, name string) {
	if was := n.rel(); was != "" {
		defer func() {
			for _, p := range n.Folder.proposals {
				p.rec.RebaseOthers(was, n.rel())
				if p.rec.Blocked {
					p.rec.ToDir = model.Rebased(p.rec.ToDir, was, n.rel())
				}
			}
		}()
	}
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

func (n *Node) forget() {
	if n.parent != nil {
		delete(n.parent.children, n.name)
	}
	if n.home != nil && n.home.parent != nil {
		delete(n.home.parent.away, n.home.name)
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
func (f *Folder) lookup(rel string) *Node {
	n := f.top
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

func (f *Folder) Lookup(rel string) *Node {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.lookup(rel)
}

// freeName returns name, or a variation of it, that is free in folder d, in the source and in the
// tree.
func (d *Node) freeName(name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := 1; d.inSource(name) != nil || d.children[name] != nil; i++ {
		name = fmt.Sprintf("%s %d%s", stem, i, ext)
	}
	return name
}
