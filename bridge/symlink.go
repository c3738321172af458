package bridge

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Symbolic links. What a link leads to has one path, one node and one document: a
// link is shown as a link, and who is given a path follows it. So nothing of a note
// can be there twice, and two links may lead to each other.

// maxLinks is how many links are followed for one path, as Linux has it.
const maxLinks = 40

// walkTo finds a path through the links on its way, and through one at its end if
// that is asked for; nil if nothing is there. treeMu is held.
func (w *Workspace) walkTo(p model.Path, child func(*node, string) *node, follow bool) *node {
	left := maxLinks
	return w.walkOn(p, child, follow, &left)
}

func (w *Workspace) walkOn(p model.Path, child func(*node, string) *node, follow bool, left *int) *node {
	n := w.root
	for rest, more := string(p), p != ""; more; {
		var elem string
		elem, rest, more = strings.Cut(rest, "/")
		n = child(n, elem)
		for n != nil && n.kind == model.KindLink && (more || follow) {
			if *left--; *left < 0 {
				return nil
			}
			n = w.walkOn(n.leadsTo(), (*node).child, true, left)
		}
		if n == nil {
			return nil
		}
	}
	return n
}

// Follow is where the link at p leads; fs.ErrNotExist.
func (w *Workspace) Follow(p model.Path) (model.Path, error) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n := w.walkTo(p, (*node).child, true)
	if n == nil {
		return "", &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return n.path(), nil
}

// leadsTo is where the link n leads from where it is shown. It is in the Folder of n,
// whatever the link says. treeMu is held.
func (n *node) leadsTo() model.Path {
	top := n.folder.node.path()
	dir := strings.TrimPrefix(string(n.parent.path()), string(top))
	return model.Path(path.Join(string(top), path.Join("/", dir, n.link)))
}

// target is leadsTo as it is said in the folder that n is shown in: what leads upwards
// comes first, and never leads out of the Folder, whoever follows it. treeMu is held.
func (n *node) target() string {
	if n.parent == nil {
		return n.link // nobody is shown it any more
	}
	rel, err := filepath.Rel(filepath.FromSlash("/"+string(n.parent.path())), filepath.FromSlash("/"+string(n.leadsTo())))
	if err != nil {
		return n.link // two paths from the root: it cannot be
	}
	return filepath.ToSlash(rel)
}

// mayMoveTo refuses a place from which the link n would lead out of its Folder.
func (n *node) mayMoveTo(p model.Path) error {
	_, rel := p.Dir().Split()
	if at := path.Join(rel, n.link); n.kind == model.KindLink && (at == ".." || strings.HasPrefix(at, "../")) {
		return &model.Error{Op: "rename", Path: p, Err: model.ErrBadName}
	}
	return nil
}

// leadsToFolder says whether there is a link at p that leads to a folder.
func (w *Workspace) leadsToFolder(p model.Path) bool {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n := w.walkTo(p, (*node).child, true)
	return n != nil && n.kind == model.KindDir
}
