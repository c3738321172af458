package vault

import (
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// tree has, by name, the entries that Scan and Run have reported or that this process has written. Its lock is never
// held across a system call. The tree of bridge/namespace cannot replace it, because that tree learns of changes later.
type tree struct {
	mu       sync.Mutex // guards the fields below
	root     node
	byID     map[vaultdir.ID]*node // one entry for each inode; it may be an entry that the tree no longer has
	changing map[string]int        // by path: number of methods that are changing the path
}

// node is one name. Its Rel is only that name, so that moving a folder is one step.
type node struct {
	model.SourceEntry
	parent   *node
	written  bool // this process wrote the bytes of the stamp
	children map[string]*node
}

func (n *node) id() vaultdir.ID { return vaultdir.IDOfStamp(n.Stamp) }

func (n *node) entry(rel string) model.SourceEntry {
	e := n.SourceEntry
	e.Rel = rel
	return e
}

// entries returns everything below n, which is at rel, parents before children.
func (n *node) entries(rel string) iter.Seq[model.SourceEntry] {
	return func(yield func(model.SourceEntry) bool) { n.each(rel, yield) }
}

func (n *node) each(rel string, yield func(model.SourceEntry) bool) bool {
	for name, child := range n.children {
		at := vaultdir.Join(rel, name)
		if !yield(child.entry(at)) || !child.each(at, yield) {
			return false
		}
	}
	return true
}

func (n *node) get(rel string) *node {
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

func (n *node) putAt(e model.SourceEntry) *node {
	return n.folder(model.Parent(e.Rel)).put(path.Base(e.Rel), &e)
}

// put adds or updates a child. A folder keeps its children as long as it is a folder.
func (n *node) put(name string, e *model.SourceEntry) *node {
	child := n.children[name]
	if child == nil || child.Dir != e.Dir {
		child = &node{parent: n}
		child.Rel = strings.Clone(name) // name shares memory with a whole path
		n.children[child.Rel] = child
	}
	name = child.Rel
	child.SourceEntry, child.Rel, child.written = *e, name, false
	if e.Dir && child.children == nil {
		child.children = make(map[string]*node)
	}
	return child
}

func (n *node) folder(rel string) *node {
	dir := n.get(rel)
	if dir == nil {
		dir = n.putAt(model.SourceEntry{Rel: rel, Dir: true})
	}
	if dir.children == nil {
		dir.children = make(map[string]*node)
	}
	return dir
}

func (n *node) remove(rel string) *node {
	dir := n.get(model.Parent(rel))
	if dir == nil {
		return nil
	}
	name := path.Base(rel)
	child := dir.children[name]
	delete(dir.children, name)
	return child
}

// same reports whether e is unchanged. For a folder only its inode counts, because its times change with its contents.
func (n *node) same(e model.SourceEntry) bool {
	if n.Dir || e.Dir {
		return n.Dir == e.Dir && n.id() == vaultdir.IDOfStamp(e.Stamp)
	}
	return n.Stamp == e.Stamp
}

func (t *tree) replace(root node, byID map[vaultdir.ID]*node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.root, t.byID = root, byID
}

func (t *tree) hadEntries() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.root.children) > 0
}

// pathOf returns the path that the tree has for a file or folder, maybe under an earlier name.
func (t *tree) pathOf(file model.Stamp) (rel string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.byID[vaultdir.IDOfStamp(file)]
	for d := n; d != nil && d.parent != nil; d = d.parent {
		rel = path.Join(d.Rel, rel)
	}
	return rel, n != nil && n.Stamp.IsFile(file) && t.root.get(rel) == n
}

func (t *tree) entry(rel string) *model.SourceEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.root.get(rel)
	if n == nil {
		return nil
	}
	e := n.entry(rel)
	return &e
}

// stamp returns the stamp of the file at a path, and whether this process wrote it. ok is false if there is no file.
func (t *tree) stamp(rel string) (st model.Stamp, own, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.root.get(rel)
	if n == nil || n.Dir {
		return st, false, false
	}
	return n.Stamp, n.written, true
}

func (t *tree) record(e model.SourceEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(e)
}

// put adds or updates an entry. Call it with t.mu locked.
func (t *tree) put(e model.SourceEntry) *node {
	if old := t.root.get(e.Rel); old != nil {
		delete(t.byID, old.id())
	}
	n := t.root.putAt(e)
	t.byID[n.id()] = n
	return n
}

// recordWritten is record for an entry that this process has written, so that Run does not report it.
func (t *tree) recordWritten(e model.SourceEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(e).written = true
}

func (t *tree) move(oldRel, newRel string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.root.remove(oldRel); n != nil {
		n.parent, n.Rel = t.root.folder(model.Parent(newRel)), strings.Clone(path.Base(newRel))
		n.parent.children[n.Rel] = n
	}
}

// has reports whether the tree has the file or folder e under its path.
func (t *tree) has(e model.SourceEntry) bool {
	now := t.entry(e.Rel)
	return now != nil && vaultdir.IDOfStamp(now.Stamp) == vaultdir.IDOfStamp(e.Stamp)
}

// under returns a path and everything below it, children first.
func (t *tree) under(rel string) (list []model.SourceEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.root.get(rel); n != nil {
		list = slices.AppendSeq([]model.SourceEntry{n.entry(rel)}, n.entries(rel))
		slices.Reverse(list)
	}
	return list
}

// forget removes a path and everything below it.
func (t *tree) forget(rel string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.root.remove(rel)
	if n == nil {
		return
	}
	delete(t.byID, n.id())
	for e := range n.entries(rel) {
		delete(t.byID, vaultdir.IDOfStamp(e.Stamp))
	}
}

// differing returns the paths in the folder rel that differ from the tree.
func (t *tree) differing(rel string, entries []model.SourceEntry) map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	present := make(map[string]bool)
	dir := t.root.get(rel)
	if dir == nil {
		dir = &node{}
	}
	for name := range dir.children {
		present[vaultdir.Join(rel, name)] = true // removed below if entries has the entry unchanged
	}
	for _, e := range entries {
		delete(present, e.Rel)
		if n := dir.children[path.Base(e.Rel)]; n == nil || !n.same(e) {
			present[e.Rel] = true
		}
	}
	return present
}

// begin marks paths as being changed by this process. So Run does not report the change as a user's change before
// recordWritten or record is called. end removes the marks.
func (t *tree) begin(rels ...string) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, rel := range rels {
		t.changing[rel]++
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, rel := range rels {
			if t.changing[rel]--; t.changing[rel] == 0 {
				delete(t.changing, rel)
			}
		}
	}
}

func (t *tree) isBusy(rel string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changing[rel] > 0
}
