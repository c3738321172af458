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
	"github.com/relayfs/relayfs/fusefs/program"
)

type node interface {
	fs.InodeEmbedder
	attr(ctx context.Context, out *fuse.Attr) error
	moveTo(model.Path)
	vanish()
	wereSet() bool
}

// place is the place of a node in the workspace; zero for a node of the scratch layer.
type place struct {
	mu   sync.Mutex // guards the fields below
	at   model.Path
	gone bool // the workspace has removed it
}

func (p *place) path() model.Path {
	at, _ := p.where()
	return at
}

// where returns the path, and whether the node still exists there.
func (p *place) where() (at model.Path, there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, !p.gone
}

func (p *place) moveTo(to model.Path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = to
}

func (p *place) vanish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
}

type folder interface {
	node
	layer() *entries
	inWorkspace() bool
	// child finds a name, and its path as the workspace spells it; "" in a ScratchDir.
	child(ctx context.Context, name string) (node, model.Path, error)
	// create creates the file at a free name. p is its path, in the spelling of the note that was
	// moved away from there, if any.
	create(ctx context.Context, name string, p model.Path, mode uint32) (node, syscall.Errno)
	list(ctx context.Context) ([]fuse.DirEntry, syscall.Errno)
	createScratch(ctx context.Context, name string, mode uint32) (*File, error)
}

type entries struct {
	mu      sync.Mutex // guards the fields below
	nodes   map[string]node
	changed time.Time // when a name in the folder last changed, as far as this mount knows
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

// touch updates the folder's modification time: the kernel caches a listing while that stays the
// same.
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

// close removes the folder's own name if the folder is empty, and reports whether it is.
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

type names struct {
	mu    sync.Mutex
	table table
}

// update calls fn with the table, under the lock of n.
func (n *names) update(fn func(*table)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fn(&n.table)
}

// table is guarded by names.
type table struct {
	nodes   map[model.Path]*known
	fresh   map[model.Path]*known // the nodes without an ID
	parked  map[model.Path]*parking
	removed map[model.Path]*removal
	busy    map[program.Identity]time.Time // when a process last parked a note or put one back, while any is parked
	retired map[model.Path][]*File         // inodes of notes that another inode has replaced
	inos    inodeNumbers
	// epoch counts the changes of names. By it a lookup notices a change between its question to
	// the workspace and its entry in nodes.
	epoch uint64
}

// known is a node of the workspace. id is 0 for a file that exists only here so
// far: a new note or attachment before its first bytes.
type known struct {
	node node
	id   uint64
	used time.Time // time of the last lookup
}

func newTable() table {
	return table{
		nodes:   make(map[model.Path]*known),
		fresh:   make(map[model.Path]*known),
		parked:  make(map[model.Path]*parking),
		removed: make(map[model.Path]*removal),
		busy:    make(map[program.Identity]time.Time),
		retired: make(map[model.Path][]*File),
		inos:    newInodeNumbers(),
	}
}

func (tb *table) put(p model.Path, f node, id uint64) {
	k := &known{f, id, time.Now()}
	tb.nodes[p] = k
	if id == 0 {
		tb.fresh[p] = k
		return
	}
	delete(tb.fresh, p)
}

func (tb *table) has(p model.Path, f node) bool {
	k := tb.nodes[p]
	return k != nil && k.node == f
}

func (tb *table) forget(p model.Path, f node) {
	if tb.has(p, f) {
		delete(tb.nodes, p)
		delete(tb.fresh, p)
	}
}

func (tb *table) inoOf(p model.Path, id uint64) uint64 {
	if k := tb.nodes[p]; k != nil && (k.id == 0 || k.id == id) {
		return k.node.EmbeddedInode().StableAttr().Ino
	}
	return tb.inos.of(p, id)
}

func (tb *table) lose(p model.Path) {
	for at, k := range tb.below(p) {
		if k.id == 0 {
			continue
		}
		tb.forget(at, k.node)
		tb.inos.drop(k.id)
		k.node.vanish()
	}
	for at, files := range tb.retired {
		if p.Contains(at) {
			delete(tb.retired, at)
			for _, f := range files {
				f.vanish()
			}
		}
	}
}

// move moves the nodes at and below p. It loses those at and below newPath.
func (tb *table) move(p, newPath model.Path) {
	tb.lose(newPath)
	moved := tb.below(p)
	for at, k := range moved {
		tb.forget(at, k.node)
	}
	for at, files := range maps.Clone(tb.retired) {
		if p.Contains(at) {
			delete(tb.retired, at)
			to := newPath + at[len(p):]
			tb.retired[to] = files
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

func (tb *table) below(p model.Path) map[model.Path]*known {
	found := make(map[model.Path]*known)
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

// folderOf returns the folder of a path, nil if the kernel cannot know it.
func (n *names) folderOf(p model.Path) (d folder) {
	n.update(func(tb *table) {
		if k := tb.nodes[p.Dir()]; k != nil && p != "" {
			d, _ = k.node.(folder)
		}
	})
	return d
}

func (n *names) bound(p model.Path, f *File, doc uint64) {
	n.update(func(tb *table) {
		tb.inos.set(doc, f.StableAttr().Ino)
		if tb.has(p, f) {
			tb.put(p, f, doc)
		}
	})
}

func (n *names) remove(f *File) {
	n.update(func(tb *table) { tb.forget(f.path(), f) })
}

// follow lets a retired inode get the events of its note.
func (n *names) follow(f *File) {
	n.update(func(tb *table) {
		if p, there := f.where(); there && !slices.Contains(tb.retired[p], f) {
			tb.retired[p] = append(tb.retired[p], f)
		}
	})
}

// left forgets a retired inode that no program has open any more.
func (n *names) left(f *File) {
	n.update(func(tb *table) {
		p := f.path()
		tb.retired[p] = slices.DeleteFunc(tb.retired[p], func(x *File) bool { return x == f })
		if len(tb.retired[p]) == 0 {
			delete(tb.retired, p)
		}
	})
}

// unlinkRetired takes the name from the retired inodes of p, when the inode at p loses it.
func (n *names) unlinkRetired(p model.Path) {
	var files []*File
	n.update(func(tb *table) {
		files = tb.retired[p]
		delete(tb.retired, p)
	})
	for _, f := range files {
		f.lose(evUnlink)
	}
}
