package bridge

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// DirEntry is one name in a folder.
type DirEntry struct {
	Name string
	Kind model.Kind
	ID   uint64
}

// node is one name in the tree. Its fields are protected by Workspace.treeMu.
type node struct {
	id       uint64
	name     string // as it is shown
	kind     model.Kind
	parent   *node            // as it is shown; nil if it is not
	home     *home            // where the source has it, nil if that is where it is shown
	children map[string]*node // KindDir: what is shown in it
	away     map[string]*node // KindDir: what the source has in it and is not shown there
	madeBy   model.Author     // KindDir: who made it in this process, nobody once others have used it
	pending  *proposal        // to rename or delete it
	content  *proposal        // to make something else its content; KindFile
	mode     fs.FileMode
	modTime  time.Time
	size     int64  // KindFile
	link     string // KindLink: what it says where its source has it
	folder   *folder
	note     *note.Note // KindNote
}

// path is the node's place in the workspace; for one that is proposed to be
// deleted, where people have it. treeMu is held.
func (n *node) path() model.Path {
	var parts []string
	for ; n.parent != nil; n = n.parent {
		parts = append(parts, n.name)
	}
	if n.hidden() {
		parts = append(parts, n.rel(), n.folder.node.name)
	}
	slices.Reverse(parts)
	return model.Path(strings.Join(parts, "/"))
}

// child finds a name: as it is written, or in another Unicode composition.
func (n *node) child(name string) *node {
	if c := n.children[name]; c != nil {
		return c
	}
	if isASCII(name) {
		return nil
	}
	key := model.FoldName(name)
	for have, c := range n.children {
		if model.FoldName(have) == key {
			return c
		}
	}
	return nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// lookup finds a path, nil if nothing is there. treeMu is held.
func (w *Workspace) lookup(p model.Path) *node {
	n := w.root
	if p == "" {
		return n
	}
	for elem := range strings.SplitSeq(string(p), "/") {
		if n = n.child(elem); n == nil {
			return nil
		}
	}
	return n
}

// find is lookup for callers that hold no lock; fs.ErrNotExist.
func (w *Workspace) find(op string, p model.Path) (*node, error) {
	w.treeMu.RLock()
	n := w.lookup(p)
	w.treeMu.RUnlock()
	if n == nil {
		return nil, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	return n, nil
}

// put adds what a source reports, with missing parents, or brings the node that
// is there up to date. What is only proposed to be shown there gives way. A path whose kind changed becomes a new node. treeMu is held.
func (w *Workspace) put(f *folder, e model.SourceEntry) (n *node, created bool) {
	dir := f.node
	rel := e.Rel
	for {
		elem, rest, more := strings.Cut(rel, "/")
		if !more {
			return w.putChild(dir, elem, e)
		}
		dir, _ = w.putChild(dir, elem, model.SourceEntry{Rel: elem, Dir: true, Mode: 0o755})
		rel = rest
	}
}

func (w *Workspace) putChild(dir *node, name string, e model.SourceEntry) (*node, bool) {
	kind := e.Kind()
	n := dir.inSource(name)
	if n != nil && n.kind == kind {
		n.update(e)
		return n, false
	}
	if n != nil {
		w.vanish(n)
	}
	if n = w.makeRoom(dir, name, kind); n != nil {
		n.update(e)
		return n, false
	}
	n = w.newNode(dir, name, kind)
	n.update(e)
	dir.children[name] = n
	return n, true
}

// newNode makes a node that is to be shown in dir. treeMu is held.
func (w *Workspace) newNode(dir *node, name string, kind model.Kind) *node {
	w.nextID++
	n := &node{id: w.nextID, name: name, kind: kind, parent: dir, folder: dir.folder}
	switch kind {
	case model.KindDir:
		n.children = make(map[string]*node)
	case model.KindNote:
		n.note = w.notes.New(n, n.folder.source, n.folder.store)
	}
	return n
}

// kindAs is what n is under another name. Only files are notes by their names.
func (n *node) kindAs(name string) model.Kind {
	if n.kind == model.KindDir || n.kind == model.KindLink {
		return n.kind
	}
	return model.KindOf(name, false)
}

func (n *node) update(e model.SourceEntry) {
	n.link = e.Link
	n.mode = e.Mode.Perm()
	n.size = e.Stamp.Size
	if e.Stamp.ModTime != 0 {
		n.modTime = time.Unix(0, e.Stamp.ModTime)
	}
}

// walk calls fn for n's descendants in path order. treeMu is held by the caller.
func (n *node) walk(fn func(*node)) {
	for _, c := range n.sorted() {
		fn(c)
		if c.kind == model.KindDir {
			c.walk(fn)
		}
	}
}

// sorted returns the children in the order of their paths: a folder sorts as if
// its name ended in '/', so that a walk lists whole paths in byte order.
func (n *node) sorted() []*node {
	list := make([]*node, 0, len(n.children))
	for _, c := range n.children {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *node) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	return list
}

func (n *node) sortKey() string {
	if n.kind == model.KindDir {
		return n.name + "/"
	}
	return n.name
}
