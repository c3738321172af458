package vault

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// tree is what the Vault knows to be on the disk, by name. The zero tree is
// empty. Vault.mu protects it.
type tree struct{ root node }

// node is one name. Its path is not kept, so that moving a folder is one step.
type node struct {
	dir      bool
	own      bool // the stamp is of bytes that this process wrote
	entry    model.SourceEntry
	children map[string]*node
}

func (n *node) id() fileID { return fileID{n.entry.Stamp.Device, n.entry.Stamp.Inode} }

// get finds a path, nil if nothing is known there.
func (t *tree) get(rel string) *node {
	n := &t.root
	if rel == "" {
		return n
	}
	for elem := range strings.SplitSeq(rel, "/") {
		if n = n.children[elem]; n == nil {
			return nil
		}
	}
	return n
}

// put adds an entry, or brings the one that is there up to date. What a folder
// holds stays, unless it is no folder any more.
func (t *tree) put(e model.SourceEntry) *node {
	dir := t.folder(parent(e.Rel))
	name := e.Rel[strings.LastIndexByte(e.Rel, '/')+1:]
	n := dir.children[name]
	if n == nil || n.dir != e.Dir {
		n = &node{dir: e.Dir}
		dir.children[name] = n
	}
	n.entry, n.own = e, false
	if e.Dir && n.children == nil {
		n.children = make(map[string]*node)
	}
	return n
}

// folder finds or makes the node of a folder.
func (t *tree) folder(rel string) *node {
	n := t.get(rel)
	if n == nil {
		n = t.put(model.SourceEntry{Rel: rel, Dir: true})
	}
	if n.children == nil {
		n.children = make(map[string]*node)
	}
	return n
}

// remove forgets a path and all below it.
func (t *tree) remove(rel string) *node {
	dir := t.get(parent(rel))
	if dir == nil {
		return nil
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	n := dir.children[name]
	delete(dir.children, name)
	return n
}

// move gives a path, and all below it, another place.
func (t *tree) move(oldRel, newRel string) {
	n := t.remove(oldRel)
	if n == nil {
		return
	}
	dir := t.folder(parent(newRel))
	dir.children[newRel[strings.LastIndexByte(newRel, '/')+1:]] = n
}

// empty says whether nothing is known.
func (t *tree) empty() bool { return len(t.root.children) == 0 }

// depthFirst calls fn for rel and everything below it, children before parents.
func (n *node) depthFirst(rel string, fn func(rel string, n *node)) {
	for name, child := range n.children {
		child.depthFirst(join(rel, name), fn)
	}
	fn(rel, n)
}

// findFolder is where the folder id is known to be, below n, which is rel.
func (n *node) findFolder(rel string, id fileID) (string, bool) {
	for name, child := range n.children {
		switch {
		case !child.dir:
		case child.id() == id:
			return join(rel, name), true
		default:
			if at, ok := child.findFolder(join(rel, name), id); ok {
				return at, true
			}
		}
	}
	return "", false
}

// The Vault's side of the tree.

func (v *Vault) knownFolder(id fileID) (rel string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known.root.findFolder("", id)
}

// knownEntry is what is known of a path, nil if nothing is.
func (v *Vault) knownEntry(rel string) *model.SourceEntry {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := v.known.get(rel)
	if n == nil {
		return nil
	}
	e := n.entry
	e.Dir = n.dir || rel == ""
	return &e
}

// learn makes an entry known.
func (v *Vault) learn(e model.SourceEntry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known.put(e)
}

// forgetBelow forgets rel and all below it, and returns it, children first.
func (v *Vault) forgetBelow(rel string) []model.SourceEntry {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := v.known.remove(rel)
	if n == nil {
		return nil
	}
	var list []model.SourceEntry
	n.depthFirst(rel, func(path string, n *node) {
		list = append(list, model.SourceEntry{Rel: path, Dir: n.dir})
	})
	return list
}

func (v *Vault) isBusy(rel string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.busy[rel] > 0
}
