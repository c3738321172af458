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
	"github.com/relayfs/relayfs/fusefs/internal/inode"
	"github.com/relayfs/relayfs/fusefs/internal/life"
)

// names is what the kernel may know of the workspace, and the inodes behind the names.
type names struct {
	mu     sync.Mutex // protects the following, and the folders' own names
	root   folder
	nodes  map[model.Path]*known
	fresh  map[model.Path]*known // those of nodes that have no ID
	parked map[model.Path]*parking
	// retired are inodes of notes that another inode took over from, see retire.go.
	retired map[model.Path][]*File
	inos    inode.Numbers
	// epoch counts the changes of names, so that a lookup notices one that fell
	// between its question to the workspace and its entry in nodes.
	epoch   uint64
	nextGen uint64
	unsaved map[*File]struct{} // notes with a buffer
}

// known is a node of the workspace. id is 0 for a file that exists only here so
// far: a new note before its first bytes, an attachment not yet noticed.
type known struct {
	node node
	id   uint64
	used time.Time // when it was last looked up
}

// node is any inode of the mount.
type node interface {
	fs.InodeEmbedder
	// attr fills in the attributes as they are now.
	attr(ctx context.Context, out *fuse.Attr) error
}

// placed is a node of the workspace.
type placed interface {
	node
	where() *place
}

// place is where a node of the workspace is. names.mu protects it.
type place struct {
	path model.Path
	gone bool // it was removed
}

func (p *place) where() *place { return p }

// folder is what a name can be in: a Dir or a ScratchDir.
type folder interface {
	node
	layer() *overlay
	inWorkspace() bool
	// child finds a name, and its path as the workspace spells it, "" in a ScratchDir.
	child(ctx context.Context, name string) (node, model.Path, error)
	// create makes the file at a name that is free. p is its path, in the spelling of the
	// note that was moved away from there, if one was.
	create(ctx context.Context, name string, p model.Path, mode uint32) (node, syscall.Errno)
	list(ctx context.Context) ([]fuse.DirEntry, syscall.Errno)
}

// overlay is what a folder has of its own here: scratch names, and what programs set.
type overlay struct {
	t    *tree
	self folder

	// The following are protected by names.mu.
	entries map[string]node
	meta    meta
	changed time.Time // when a name in the folder last changed, as far as seen here
}

func (o *overlay) layer() *overlay { return o }

func (o *overlay) get(name string) node { return o.entries[name] }

func (o *overlay) put(name string, n node) {
	if o.entries == nil {
		o.entries = make(map[string]node)
	}
	o.entries[name] = n
	o.touch()
}

func (o *overlay) drop(name string) {
	delete(o.entries, name)
	o.touch()
}

// touch makes the folder's modification time new: the kernel keeps a listing for
// as long as that stays the same.
func (o *overlay) touch() { o.changed = time.Now() }

// nameChanged is touch for who does not hold names.mu.
func (o *overlay) nameChanged() {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	o.touch()
}

func newNames() names {
	return names{
		nodes:   make(map[model.Path]*known),
		fresh:   make(map[model.Path]*known),
		parked:  make(map[model.Path]*parking),
		retired: make(map[model.Path][]*File),
		inos:    inode.NewNumbers(),
		unsaved: make(map[*File]struct{}),
	}
}

// put makes f the node at p. mu is held, but for the first one.
func (n *names) put(p model.Path, f node, id uint64) {
	k := &known{f, id, time.Now()}
	n.nodes[p] = k
	if id == 0 {
		n.fresh[p] = k
		return
	}
	delete(n.fresh, p)
}

// forget takes the node at p out, if it is f. mu is held.
func (n *names) forget(p model.Path, f node) {
	if k := n.nodes[p]; k != nil && k.node == f {
		delete(n.nodes, p)
		delete(n.fresh, p)
	}
}

// attach makes f an inode of the file system. Every inode gets a generation of
// its own, so that go-fuse never takes one for another with the same number: who
// is who is decided in nodes. mu is held.
func (n *names) attach(f fs.InodeEmbedder, mode uint32, ino uint64) {
	n.nextGen++
	n.root.EmbeddedInode().NewInode(context.Background(), f, fs.StableAttr{Mode: mode, Ino: ino, Gen: n.nextGen})
}

// inoOf is the inode number of what the workspace calls id and has at p. mu is held.
func (n *names) inoOf(p model.Path, id uint64) uint64 {
	if k := n.nodes[p]; k != nil && (k.id == 0 || k.id == id) {
		return k.node.EmbeddedInode().StableAttr().Ino
	}
	return n.inos.Of(p, id)
}

// set takes over what a SETATTR says of a folder or a link.
func (n *names) set(m *meta, in *fuse.SetAttrIn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m.set(in, time.Now())
}

// pathOf is where a node of the workspace is now.
func (n *names) pathOf(p *model.Path) model.Path {
	n.mu.Lock()
	defer n.mu.Unlock()
	return *p
}

// where is where a node is in the workspace, and whether it still is.
func (n *names) where(at *place) (p model.Path, there bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return at.path, !at.gone
}

// at is the node that has a place now.
func (n *names) at(p *place) node {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k := n.nodes[p.path]; k != nil && !p.gone {
		return k.node
	}
	return nil
}

// replace gives f's number and name to next, and returns the folder if the kernel may know
// it. It does nothing if f does not have the name.
func (n *names) replace(f, next *File) node {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.nodes[f.path]
	if k == nil || k.node != f {
		return nil
	}
	next.path = f.path
	n.attach(next, f.StableAttr().Mode, f.StableAttr().Ino)
	n.put(f.path, next, k.id)
	if dir := n.nodes[f.path.Dir()]; dir != nil {
		return dir.node
	}
	return nil
}

// bound records the ID that a new note got.
func (n *names) bound(p model.Path, f *File, doc uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inos.Set(doc, f.StableAttr().Ino)
	if k := n.nodes[p]; k != nil && k.node == f {
		n.put(p, f, doc)
	}
}

// remove forgets a file, and returns where it was.
func (n *names) remove(f *File) model.Path {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(f.path, f)
	return f.path
}

// saved and dirtied keep the list of notes that have a buffer.
func (n *names) saved(f *File) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.unsaved, f)
}

func (n *names) dirtied(f *File) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unsaved[f] = struct{}{}
}

func (n *names) unsavedFiles() []*File {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Keys(n.unsaved))
}

// follow has a retired inode hear of what becomes of its note.
func (n *names) follow(f *File) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := f.path; !f.gone && !slices.Contains(n.retired[p], f) {
		n.retired[p] = append(n.retired[p], f)
	}
}

// left forgets a retired inode that nobody has open any more.
func (n *names) left(f *File) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := f.path
	rest := slices.DeleteFunc(n.retired[p], func(x *File) bool { return x == f })
	if len(rest) == 0 {
		delete(n.retired, p)
		return
	}
	n.retired[p] = rest
}

// retiredFor are the inodes that f took over from, and that somebody has open.
func (n *names) retiredFor(f *File) []*File {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k := n.nodes[f.path]; k == nil || k.node != f {
		return nil // scratch has no path
	}
	return slices.Clone(n.retired[f.path])
}

// unlinkRetired makes the retired inodes of p files without a name, when the one
// at the name becomes that too.
func (n *names) unlinkRetired(p model.Path) {
	n.mu.Lock()
	files := n.retired[p]
	delete(n.retired, p)
	n.mu.Unlock()
	for _, f := range files {
		f.lose(life.Unlink)
	}
}

// lose forgets the nodes at and below p. mu is held.
func (n *names) lose(p model.Path) {
	for at, k := range n.below(p) {
		if k.id == 0 {
			continue
		}
		n.forget(at, k.node)
		n.inos.Drop(k.id)
		if k, ok := k.node.(placed); ok {
			k.where().gone = true
		}
	}
	for at, files := range n.retired {
		if p.Contains(at) {
			delete(n.retired, at)
			for _, f := range files {
				f.gone = true
			}
		}
	}
}

// move moves the nodes at and below p. mu is held.
func (n *names) move(p, newPath model.Path) {
	n.lose(newPath) // what was there is replaced
	moved := n.below(p)
	for at, k := range moved {
		n.forget(at, k.node)
	}
	for at, files := range maps.Clone(n.retired) {
		if p.Contains(at) {
			delete(n.retired, at)
			to := newPath + at[len(p):]
			n.retired[to] = files
			for _, f := range files {
				f.path = to
			}
		}
	}
	for at, k := range moved {
		to := newPath + at[len(p):]
		n.put(to, k.node, k.id)
		if k, ok := k.node.(placed); ok {
			k.where().path = to
		}
	}
}

// below lists the nodes at and below p. mu is held.
func (n *names) below(p model.Path) map[model.Path]*known {
	found := make(map[model.Path]*known)
	if k := n.nodes[p]; k != nil {
		found[p] = k
		if _, ok := k.node.(folder); !ok {
			return found
		}
	}
	for at, k := range n.nodes {
		if strings.HasPrefix(string(at), string(p)+"/") {
			found[at] = k
		}
	}
	return found
}

func asFile(n node) *File {
	f, _ := n.(*File)
	return f
}
