package tree

import (
	"errors"
	"io/fs"
	"path"

	"github.com/relayfs/relayfs/bridge/model"
)

// Destination is the place of a new node: where it is shown, and its path in the source. The two differ if the source
// has another node with this name that is shown elsewhere.
type Destination struct {
	Dir  *Node // nil if the source has yet to create the folder
	Name string
	Rel  string
}

// DestinationAt finds the place for a new node at p. The parent of p must be a folder or not exist. If the source has a
// node of the same kind at p whose deletion is proposed, DestinationAt returns that node instead of a place, so that
// the caller can show it again. It returns fs.ErrExist if a proposal has taken the name.
func (t *Tree) DestinationAt(p model.Path, dir bool) (at Destination, deleted *Node, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	parent := t.lookup(p.Dir())
	if parent == nil {
		return Destination{Rel: t.sourcePath(p)}, nil, nil
	}
	name := p.Base()
	at = Destination{parent, name, path.Join(parent.rel(), name)}
	shown, old := parent.child(name), parent.inSource(name)
	switch {
	case shown != nil && shown.sourceLoc != nil:
		return Destination{}, nil, &model.Error{Op: "create", Path: p, Err: fs.ErrExist}
	case shown != nil, old == nil:
		return at, nil, nil
	case old.hidden() && old.Kind == model.KindOf(name, dir):
		return Destination{}, old, nil
	}
	at.Rel = path.Join(parent.rel(), parent.freeName(name))
	return at, nil, nil
}

// IsTaken reports whether the source has something at the name of p, whose folder is shown.
func (t *Tree) IsTaken(p model.Path) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dir := t.lookup(p.Dir())
	return dir != nil && dir.inSource(p.Base()) != nil
}

func (t *Tree) sourcePath(p model.Path) string {
	if n := t.lookup(p); n != nil {
		return n.rel()
	}
	return path.Join(t.sourcePath(p.Dir()), p.Base())
}

// SourcePath returns the path of p in the source. For a new node it returns the source path of its folder, joined with
// its name.
func (t *Tree) SourcePath(p model.Path) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.sourcePath(p)
}

// Target is the place at which an existing node is to be shown.
type Target struct {
	Dir      *Node
	Name     string
	Existing *Node // node that is shown there now, or nil
}

// TargetAt finds the place newPath for the existing node n. The node that is there may be replaced only if replace is
// set. Errors: fs.ErrNotExist, model.ErrNotDir, fs.ErrExist, model.ErrIsDir, model.ErrBadName for a place inside n,
// errors.ErrUnsupported for another root.
func (t *Tree) TargetAt(n *Node, newPath model.Path, replace bool) (Target, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dir := t.lookup(newPath.Dir())
	fail := func(err error) (Target, error) { return Target{}, &model.Error{Op: "rename", Path: newPath, Err: err} }
	switch {
	case dir == nil:
		return fail(fs.ErrNotExist)
	case dir.Kind != model.KindDir:
		return fail(model.ErrNotDir)
	case dir.Root != n.Root:
		return Target{}, &model.Error{Op: "rename", Path: n.path(), Err: errors.ErrUnsupported}
	case dir.isIn(n):
		return fail(model.ErrBadName)
	}
	to := Target{dir, newPath.Base(), dir.child(newPath.Base())}
	if to.Existing == n {
		to.Existing = nil // the existing node is n, perhaps under another spelling of its name
	}
	switch {
	case to.Existing == nil:
		return to, nil
	case !replace, n.Kind == model.KindDir:
		return fail(fs.ErrExist)
	case to.Existing.Kind == model.KindDir:
		return fail(model.ErrIsDir)
	}
	return to, nil
}

func (to Target) InSource() *Node { return to.Dir.InSource(to.Name) }

func (to Target) Rel() string { return path.Join(to.Dir.Location().Rel, to.Name) }

func (to Target) Path() model.Path { return to.Dir.Location().Path.Join(to.Name) }

// FreeBeside returns a path next to p that is free both in the workspace and in the source. It returns fs.ErrNotExist
// if nothing is shown at p.
func (t *Tree) FreeBeside(p model.Path) (model.Path, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.lookup(p)
	if n == nil || n.parent == nil {
		return "", &model.Error{Op: "rename", Path: p, Err: fs.ErrNotExist}
	}
	return p.Dir().Join(n.parent.freeName(p.Base())), nil
}

// FreeNameBeside returns a free name in the folder that has n in the source.
func (n *Node) FreeNameBeside() Target {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	loc := n.loc()
	return Target{Dir: loc.parent, Name: loc.parent.freeName(loc.name)}
}

// OriginalTarget returns the place that the node left when its name was freed for another node, if that place is free.
// It never returns the place where the node is shown, because a move there needs a user's decision.
func (p *Proposal) OriginalTarget() (to Target, ok bool) {
	n := p.Node
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	if p.current.DisplacedName == "" || p.current.Blocked {
		return Target{}, false
	}
	to = Target{Dir: n.loc().parent, Name: p.current.DisplacedName}
	return to, to.Dir.inSource(to.Name) == nil && (n.parent != to.Dir || n.name != to.Name)
}
