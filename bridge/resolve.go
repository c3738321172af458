package bridge

import (
	"io/fs"
	"strings"
)

// Resolve finds the path that somebody means who writes it freely: with a
// leading "/", as a path under the mountpoint, without ".md", in another Unicode
// composition, or in another case if only one name fits. It returns the path as
// the tree spells it; fs.ErrNotExist if nothing fits.
func (w *Workspace) Resolve(s string) (Path, error) {
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
	for _, candidate := range []Path{p, p + NoteExt} {
		if n := w.lookup(candidate); n != nil {
			return n.path(), nil
		}
	}
	for _, candidate := range []Path{p, p + NoteExt} {
		if n := w.lookupFold(candidate); n != nil {
			return n.path(), nil
		}
	}
	return "", &Error{"open", p, fs.ErrNotExist}
}

// lookupFold finds a path whatever the case of its letters, nil unless exactly
// one fits. treeMu is held.
func (w *Workspace) lookupFold(p Path) *node {
	n := w.root
	for elem := range strings.SplitSeq(string(p), "/") {
		if n = n.childFold(elem); n == nil {
			return nil
		}
	}
	return n
}

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
