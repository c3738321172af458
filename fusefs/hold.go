//go:build !windows

package fusefs

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// A commit keeps a file at the path that the file had when it began. So a file
// changes its name between two commits, and a folder while nothing is committed:
// otherwise the commit would make anew what was just removed, or write to what has
// come to that path since.

// holdCommits waits for the commits of nodes, and lets none begin until release is
// called. Those of a folder are the commits of everything.
func (t *tree) holdCommits(nodes ...node) (release func()) {
	var files []*File
	for _, n := range nodes {
		switch n := n.(type) {
		case *Dir:
			t.folders.Lock()
			return t.folders.Unlock
		case *File:
			files = append(append(files, n), t.retiredFor(n)...)
		}
	}
	// In the same order everywhere; a generation is unique.
	slices.SortFunc(files, func(a, b *File) int { return cmp.Compare(a.StableAttr().Gen, b.StableAttr().Gen) })
	for _, f := range files {
		f.commitMu.Lock()
	}
	return func() {
		for _, f := range files {
			f.commitMu.Unlock()
		}
	}
}

// retiredFor are the inodes that f took over from, and that somebody has open.
func (t *tree) retiredFor(f *File) []*File {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.nodes[f.path]; k == nil || k.node != f {
		return nil // scratch has no path
	}
	return slices.Clone(t.retired[f.path])
}

// hasFresh says whether a file is right below p that the workspace does not have yet.
func (t *tree) hasFresh(p model.Path) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := range t.fresh {
		if at.Dir() == p {
			return true
		}
	}
	return false
}
