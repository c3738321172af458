package bridge

import (
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Resolve finds the path that somebody means who writes it freely: with a
// leading "/", as a path under the mountpoint, without ".md", in another Unicode
// composition, or in another case if only one name fits. It returns the path as
// the tree spells it, through symbolic links: what they lead to has one path;
// fs.ErrNotExist if nothing fits.
func (w *Workspace) Resolve(s string) (model.Path, error) { return w.resolve(s, true) }

// ResolveName is Resolve for who means the name and not what it leads to: to move it
// or to delete it. A symbolic link at the end is not followed.
func (w *Workspace) ResolveName(s string) (model.Path, error) { return w.resolve(s, false) }

func (w *Workspace) resolve(s string, follow bool) (model.Path, error) {
	if mp := w.Mountpoint(); mp != "" {
		if rest, ok := strings.CutPrefix(s, mp); ok && (rest == "" || rest[0] == '/') {
			s = rest
		}
	}
	p, err := model.CleanPath(s)
	if err != nil {
		return "", err
	}
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	for _, child := range []func(*node, string) *node{(*node).child, (*node).childFold} {
		for _, candidate := range []model.Path{p, p + model.NoteExt} {
			if n := w.walkTo(candidate, child, follow); n != nil {
				return n.path(), nil
			}
		}
	}
	return "", &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
}

// childFold finds a name whatever the case of its letters, nil unless exactly one fits.
func (n *node) childFold(name string) *node {
	if c := n.child(name); c != nil {
		return c
	}
	key := model.FoldName(name)
	var only *node
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
