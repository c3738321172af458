//go:build !windows

package fusefs

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

type node interface {
	fs.InodeEmbedder
	attr(ctx context.Context, out *fuse.Attr) error
	moveTo(model.Path)
	vanish()
	wereSet() bool
}

// location is the place of a node in the workspace. It is zero for a node that was always in the scratch layer.
type location struct {
	mu   sync.Mutex // guards the fields below
	at   model.Path
	gone bool // the workspace no longer has the node at that path
}

func (p *location) path() model.Path {
	at, _ := p.where()
	return at
}

func (p *location) where() (at model.Path, there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, !p.gone
}

func (p *location) moveTo(to model.Path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = to
}

func (p *location) vanish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
}

type folder interface {
	node
	path() model.Path
	layer() *entries
	inWorkspace() bool
	// child finds a name. It returns the path as the workspace spells it, or "" in a ScratchDir.
	child(ctx context.Context, name string) (node, model.Path, error)
	// create creates a file at the free name. p is the path of the file. If a note was moved away from that path, p has
	// the spelling of the note's path.
	create(ctx context.Context, name string, p model.Path, mode uint32) (node, syscall.Errno)
	list(ctx context.Context) ([]fuse.DirEntry, syscall.Errno)
	createScratch(ctx context.Context, name string, mode uint32) (*File, error)
}

type entries struct {
	mu      sync.Mutex // guards the fields below
	nodes   map[string]node
	changed time.Time // time of the last change of a name that this mount has recorded
	removed bool      // the folder no longer has a name
}

func (e *entries) layer() *entries { return e }

func (e *entries) get(name string) node {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.nodes[name]
}

func (e *entries) put(name string, n node) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.nodes == nil {
		e.nodes = make(map[string]node)
	}
	e.nodes[name] = n
	e.changed = time.Now()
}

func (e *entries) drop(name string, n node) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = time.Now()
	if e.nodes[name] != n {
		return false
	}
	delete(e.nodes, name)
	return true
}

// touch updates the folder's modification time. The kernel caches a listing while that time stays the same.
func (e *entries) touch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = time.Now()
}

func (e *entries) state() (changed time.Time, removed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed, e.removed
}

// close marks the folder as removed if the folder is empty, and reports whether it did.
func (e *entries) close() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.removed = len(e.nodes) == 0
	return e.removed
}

func (e *entries) all() map[string]node {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.nodes)
}

func (e *entries) dirEntries() (list []fuse.DirEntry) {
	for name, n := range e.all() {
		in := n.EmbeddedInode().StableAttr()
		list = append(list, fuse.DirEntry{Name: name, Mode: in.Mode, Ino: in.Ino})
	}
	return list
}

type nodeTable struct {
	mu    sync.Mutex
	inner tableState
}

func (n *nodeTable) update(fn func(*tableState)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fn(&n.inner)
}

type tableState struct {
	nodes      map[model.Path]*nodeEntry
	unnumbered map[model.Path]*nodeEntry // the nodes without an ID
	deferred   map[model.Path]*deferredUnlink
	// removed has the notes whose deletion relayfs has just proposed. It proposes the deletion at once, so that the note
	// stays deleted if relayfs is killed, and withdraws the proposal if a file is put at the note's name. Their at is the
	// note's path without its own pending rename.
	removed    map[model.Path]*deferredUnlink
	lastUnlink map[program.Identity]time.Time // time when a process last unlinked or put back a note; empty if no unlink is deferred
	replaced   map[model.Path][]*File         // inodes of notes that another inode has replaced
	inos       inodeNumbers
	// epoch counts the changes of names. A lookup compares two values of epoch to detect a change between its request
	// to the workspace and its update of nodes.
	epoch uint64
}

// nodeEntry is a node of the workspace. id is 0 for a file that exists only on this mount: a new note or attachment
// before its first commit.
type nodeEntry struct {
	node node
	id   uint64
	used time.Time // time of the last lookup
}

func newTable() tableState {
	return tableState{
		nodes:      make(map[model.Path]*nodeEntry),
		unnumbered: make(map[model.Path]*nodeEntry),
		deferred:   make(map[model.Path]*deferredUnlink),
		removed:    make(map[model.Path]*deferredUnlink),
		lastUnlink: make(map[program.Identity]time.Time),
		replaced:   make(map[model.Path][]*File),
		inos:       newInodeNumbers(),
	}
}

func (tb *tableState) put(p model.Path, f node, id uint64) {
	k := &nodeEntry{f, id, time.Now()}
	tb.nodes[p] = k
	if id == 0 {
		tb.unnumbered[p] = k
		return
	}
	delete(tb.unnumbered, p)
}

func (tb *tableState) has(p model.Path, f node) bool {
	k := tb.nodes[p]
	return k != nil && k.node == f
}

func (tb *tableState) forget(p model.Path, f node) {
	if tb.has(p, f) {
		delete(tb.nodes, p)
		delete(tb.unnumbered, p)
	}
}

func (tb *tableState) inoOf(p model.Path, id uint64) uint64 {
	if k := tb.nodes[p]; k != nil && (k.id == 0 || k.id == id) {
		return k.node.EmbeddedInode().StableAttr().Ino
	}
	return tb.inos.of(p, id)
}

func (tb *tableState) loseName(p model.Path) {
	for at, k := range tb.below(p) {
		if k.id == 0 {
			continue
		}
		tb.forget(at, k.node)
		tb.inos.drop(k.id)
		k.node.vanish()
	}
	for at, files := range tb.replaced {
		if p.Contains(at) {
			delete(tb.replaced, at)
			for _, f := range files {
				f.vanish()
			}
		}
	}
}

// move moves the nodes at and below p to newPath. Nodes with an ID that were at and below newPath lose their names.
func (tb *tableState) move(p, newPath model.Path) {
	tb.loseName(newPath)
	moved := tb.below(p)
	for at, k := range moved {
		tb.forget(at, k.node)
	}
	for at, files := range maps.Clone(tb.replaced) {
		if p.Contains(at) {
			delete(tb.replaced, at)
			to := newPath + at[len(p):]
			tb.replaced[to] = files
			for _, f := range files {
				f.moveTo(to)
			}
		}
	}
	for at, k := range moved {
		to := newPath + at[len(p):]
		tb.put(to, k.node, k.id)
		k.node.moveTo(to)
	}
}

func (tb *tableState) below(p model.Path) map[model.Path]*nodeEntry {
	found := make(map[model.Path]*nodeEntry)
	if k := tb.nodes[p]; k != nil {
		found[p] = k
		if _, ok := k.node.(folder); !ok {
			return found
		}
	}
	for at, k := range tb.nodes {
		if strings.HasPrefix(string(at), string(p)+"/") {
			found[at] = k
		}
	}
	return found
}

// folderOf returns the folder that contains p. It returns nil if the folder was not looked up, so that the kernel has
// not cached it.
func (n *nodeTable) folderOf(p model.Path) (d folder) {
	n.update(func(tb *tableState) {
		if k := tb.nodes[p.Dir()]; k != nil && p != "" {
			d, _ = k.node.(folder)
		}
	})
	return d
}

func (n *nodeTable) setDoc(f *File, doc uint64) {
	n.update(func(tb *tableState) {
		tb.inos.set(doc, f.StableAttr().Ino)
		if p := f.path(); tb.has(p, f) {
			tb.put(p, f, doc)
		}
	})
}

func (n *nodeTable) remove(f *File) {
	n.update(func(tb *tableState) { tb.forget(f.path(), f) })
}

// trackReplaced registers a replaced inode for the events of its note.
func (n *nodeTable) trackReplaced(f *File) {
	n.update(func(tb *tableState) {
		if p, there := f.where(); there && !slices.Contains(tb.replaced[p], f) {
			tb.replaced[p] = append(tb.replaced[p], f)
		}
	})
}

func (n *nodeTable) forgetReplaced(f *File) {
	n.update(func(tb *tableState) {
		p := f.path()
		tb.replaced[p] = slices.DeleteFunc(tb.replaced[p], func(x *File) bool { return x == f })
		if len(tb.replaced[p]) == 0 {
			delete(tb.replaced, p)
		}
	})
}

func (n *nodeTable) takeReplaced(p model.Path) (files []*File) {
	n.update(func(tb *tableState) {
		files = tb.replaced[p]
		delete(tb.replaced, p)
	})
	return files
}

// unlinkReplaced unlinks the replaced inodes of p. It is called when the inode at p loses the name.
func (n *nodeTable) unlinkReplaced(p model.Path) {
	for _, f := range n.takeReplaced(p) {
		f.loseName(evUnlink)
	}
}
