package bridge

import (
	"io/fs"
	"strings"
)

// Resolve finds the path that somebody means who writes it freely: with a
// leading "/", as a path under the mountpoint, without ".md", in another Unicode
// composition, or in another case if only one name fits. It returns the path as
// the tree spells it, through symbolic links: what they lead to has one path;
// fs.ErrNotExist if nothing fits.
func (w *Workspace) Resolve(s string) (Path, error) { return w.resolve(s, true) }

// ResolveName is Resolve for who means the name and not what it leads to: to move it
// or to delete it. A symbolic link at the end is not followed.
func (w *Workspace) ResolveName(s string) (Path, error) { return w.resolve(s, false) }

func (w *Workspace) resolve(s string, follow bool) (Path, error) {
	if mp := w.Mountpoint(); mp != "" {
		if rest, ok := strings.CutPrefix(s, mp); ok && (rest == "" || rest[0] == '/') {
			s = rest
		}
	}
	p, err := CleanPath(s)
	if err != nil {
		return "", err
	}
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	for _, child := range []func(*node, string) *node{(*node).child, (*node).childFold} {
		for _, candidate := range []Path{p, p + NoteExt} {
			if n := w.walkTo(candidate, child, follow); n != nil {
				return n.path(), nil
			}
		}
	}
	return "", &Error{"open", p, fs.ErrNotExist}
}

// childFold finds a name whatever the case of its letters, nil unless exactly one fits.
func (n *node) childFold(name string) *node {
	if c := n.child(name); c != nil {
		return c
	}
	key := foldName(name)
	var only *node
	for have, c := range n.children {
		if !strings.EqualFold(foldName(have), key) {
			continue
		}
		if only != nil {
			return nil
		}
		only = c
	}
	return only
}
