package tree

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// The target of a symbolic link has one path, one node and one document: the tree shows a link as a link, and path
// lookups follow it. So each note exists once in the tree, even if two links lead to each other.

// maxLinks is the maximum number of links on one path, as in Linux.
const maxLinks = 40

// walkTo resolves a path through the links in it. If follow is set, it also follows a link at the end of the path. It
// returns nil if nothing is there, or if the rules hide the node.
func (t *Tree) walkTo(p model.Path, child func(*Node, string) *Node, follow bool) *Node {
	left := maxLinks
	n := t.walkOn(p, child, follow, &left)
	if n != nil && t.hides(n) {
		return nil
	}
	return n
}

func (t *Tree) walkOn(p model.Path, child func(*Node, string) *Node, follow bool, left *int) *Node {
	n := t.root
	for rest, more := string(p), p != ""; more; {
		var elem string
		elem, rest, more = strings.Cut(rest, "/")
		n = child(n, elem)
		for n != nil && n.Kind == model.KindLink && (more || follow) {
			if *left--; *left < 0 {
				return nil
			}
			n = t.walkOn(n.leadsTo(), (*Node).child, true, left)
		}
		if n == nil {
			return nil
		}
	}
	return n
}

// Follow returns the path to which p leads through symbolic links, including a link at the end of p. It returns
// fs.ErrNotExist if nothing is there.
func (t *Tree) Follow(p model.Path) (model.Path, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.walkTo(p, (*Node).child, true)
	if n == nil {
		return "", &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return n.path(), nil
}

// leadsTo returns the workspace path of the target of the link n, resolved from the place where n is shown. The path is
// always in the root of n, even if the link's text leads out of it.
func (n *Node) leadsTo() model.Path {
	top := n.Root.Path()
	dir := strings.TrimPrefix(string(n.parent.path()), string(top))
	return model.Path(path.Join(string(top), path.Join("/", dir, n.link)))
}

// target returns leadsTo as a path relative to the folder that shows n. All elements ".." come first, and they never
// lead out of the root.
func (n *Node) target() string {
	if n.parent == nil {
		return n.link // n is no longer shown
	}
	rel, _ := filepath.Rel(filepath.FromSlash("/"+string(n.parent.path())), filepath.FromSlash("/"+string(n.leadsTo()))) // both paths are absolute
	return filepath.ToSlash(rel)
}

// MayMoveTo returns an error if n is a link that would lead out of its root from the path p.
func (n *Node) MayMoveTo(p model.Path) error {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	_, rel := p.Dir().Split()
	if at := path.Join(rel, n.link); n.Kind == model.KindLink && (at == ".." || strings.HasPrefix(at, "../")) {
		return &model.Error{Op: "rename", Path: p, Err: model.ErrBadName}
	}
	return nil
}

// LeadsToFolder reports whether p is a folder or a link that leads to a folder.
func (t *Tree) LeadsToFolder(p model.Path) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.walkTo(p, (*Node).child, true)
	return n != nil && n.Kind == model.KindDir
}

// Resolve finds the path that a caller means by p: p itself, p with ".md", or p in another Unicode composition, or in
// another case if only one name fits. It returns the path as the tree spells it, with symbolic links resolved; a link
// at the end is resolved only if follow is set. It returns fs.ErrNotExist if nothing fits.
func (t *Tree) Resolve(p model.Path, follow bool) (model.Path, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, child := range []func(*Node, string) *Node{(*Node).child, (*Node).childFold} {
		for _, candidate := range []model.Path{p, p + model.NoteExt} {
			if n := t.walkTo(candidate, child, follow); n != nil {
				return n.path(), nil
			}
		}
	}
	return "", &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
}

// InAnotherCase returns a shown path whose last element differs from the last element of p only in case, or "". It
// ignores both of the given paths.
func (t *Tree) InAnotherCase(p, from model.Path) model.Path {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dir := t.lookup(p.Dir())
	if dir == nil {
		return ""
	}
	name, key := p.Base(), model.FoldName(p.Base())
	var found model.Path
	for have, c := range dir.children {
		if have != name && !t.hides(c) && strings.EqualFold(model.FoldName(have), key) && c.path() != from && (found == "" || c.path() < found) {
			found = c.path()
		}
	}
	return found
}

// childFold finds a name as child does or, if that fails, without regard to case. It returns nil if several names
// differ from name only in case.
func (n *Node) childFold(name string) *Node {
	if c := n.child(name); c != nil {
		return c
	}
	key := model.FoldName(name)
	var only *Node
	for have, c := range n.children {
		if !strings.EqualFold(model.FoldName(have), key) {
			continue
		}
		if only != nil {
			return nil
		}
		only = c
	}
	return only
}
