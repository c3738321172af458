//go:build !windows

package fusefs

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// tree is the mounted workspace: names, and the inodes behind them.
type tree struct {
	ws     *bridge.Workspace
	author string
	log    *slog.Logger
	locked error // why no note can be written, nil if they can
	// handleless is set if the kernel opens files without asking, see handleless.go.
	handleless bool
	recent     recent
	uid, gid   uint32
	inval      *invalidator
	poker      atomic.Pointer[poker]
	shown      shownLog
	procs      processes
	ending     atomic.Bool  // no save begins any more
	ended      atomic.Bool  // nor goes on, see ending.go
	scratch    atomic.Int64 // bytes in scratch files
	// folders is held for writing while a folder is moved or removed, and for reading
	// while something is kept at a path, so that nothing is kept below an old one.
	folders sync.RWMutex

	mu     sync.Mutex // protects the following
	root   *Dir
	nodes  map[model.Path]*known // what the kernel may know of the workspace
	fresh  map[model.Path]*known // those of nodes that have no ID
	parked map[model.Path]*parking
	// adopting has the scratch files that are being renamed over notes.
	adopting map[model.Path]*File
	// retired are inodes of notes that another inode took over from, see retire.go.
	retired map[model.Path][]*File
	inos    map[uint64]uint64 // workspace ID -> inode number, see inode_number.go
	idOfIno map[uint64]uint64 // the reverse
	// epoch counts the changes of names, so that a lookup notices one that fell
	// between its question to the workspace and its entry in nodes.
	epoch   uint64
	nextIno uint64
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

func newTree(ws *bridge.Workspace, o Options) *tree {
	options := ws.Options()
	t := &tree{
		ws: ws, author: o.Author, log: o.Logger,
		locked:     options.Locked(),
		handleless: options.ReadOnly && keepCaches,
		uid:        uint32(os.Geteuid()), gid: uint32(os.Getegid()),
		inval:    newInvalidator(),
		nodes:    make(map[model.Path]*known),
		fresh:    make(map[model.Path]*known),
		parked:   make(map[model.Path]*parking),
		adopting: make(map[model.Path]*File),
		retired:  make(map[model.Path][]*File),
		inos:     make(map[uint64]uint64),
		idOfIno:  make(map[uint64]uint64),
		nextIno:  firstIno,
		unsaved:  make(map[*File]struct{}),
	}
	t.recent.bound = maxRecent
	if t.handleless {
		t.recent.bound = maxRecentHandleless
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.root = &Dir{t: t, meta: t.newMeta(0o755), id: 1}
	t.put("", t.root, 1)
	return t
}

// put makes n the node at p. mu is held, but for the first one.
func (t *tree) put(p model.Path, n node, id uint64) {
	k := &known{n, id, time.Now()}
	t.nodes[p] = k
	if id == 0 {
		t.fresh[p] = k
		return
	}
	delete(t.fresh, p)
}

// forget takes the node at p out, if it is n. mu is held.
func (t *tree) forget(p model.Path, n node) {
	if k := t.nodes[p]; k != nil && k.node == n {
		delete(t.nodes, p)
		delete(t.fresh, p)
	}
}

// attach makes n an inode of the file system. Every inode gets a generation of
// its own, so that go-fuse never takes one for another with the same number: who
// is who is decided in nodes. mu is held.
func (t *tree) attach(n fs.InodeEmbedder, mode uint32, ino uint64) {
	t.nextGen++
	t.root.NewInode(context.Background(), n, fs.StableAttr{Mode: mode, Ino: ino, Gen: t.nextGen})
}

// lookup finds what is at p in the workspace, a new note included.
func (t *tree) lookup(ctx context.Context, p model.Path) (node, model.Path, error) {
	for {
		t.mu.Lock()
		k, epoch := t.nodes[p], t.epoch
		t.mu.Unlock()
		info, err := t.ws.Stat(ctx, p)
		if err != nil && k != nil && k.id == 0 {
			return k.node, p, nil
		}
		if err != nil {
			return nil, p, err
		}
		n, err := t.bind(info, epoch)
		if n != nil || err != nil {
			return n, info.Path, err
		}
	}
}

// bind returns the node for what the workspace described, nil if names have
// changed since epoch, and an error if it is parked.
func (t *tree) bind(info bridge.Info, epoch uint64) (node, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.epoch != epoch {
		return nil, nil
	}
	if t.parked[info.Path] != nil {
		return nil, &model.Error{Op: "open", Path: info.Path, Err: syscall.ENOENT}
	}
	k := t.nodes[info.Path]
	if k != nil && k.id == 0 {
		if _, isFile := k.node.(*File); isFile {
			return k.node, nil // its own commit binds it
		}
		t.put(info.Path, k.node, info.ID)
		return k.node, nil
	}
	if k != nil && k.id == info.ID {
		k.used = time.Now()
		return k.node, nil
	}
	n := t.newNode(info)
	t.put(info.Path, n, info.ID)
	return n, nil
}

// newNode makes the inode for something of the workspace. mu is held.
func (t *tree) newNode(info bridge.Info) node {
	ino := t.inoOf(info.Path, info.ID)
	switch info.Kind {
	case model.KindDir:
		d := &Dir{t: t, path: info.Path, id: info.ID, meta: t.newMeta(uint32(info.Mode.Perm()))}
		t.attach(d, syscall.S_IFDIR, ino)
		return d
	case model.KindNote:
		f := t.newFile(uint32(info.Mode.Perm()))
		f.path, f.note, f.doc = info.Path, true, info.ID
		t.attach(f, syscall.S_IFREG, ino)
		return f
	case model.KindLink:
		l := &Link{t: t, path: info.Path, meta: t.newMeta(0o777)}
		t.attach(l, syscall.S_IFLNK, ino)
		return l
	default:
		a := &Attachment{t: t, path: info.Path, meta: t.newMeta(uint32(info.Mode.Perm()))}
		t.attach(a, syscall.S_IFREG, ino)
		return a
	}
}

// pathOf is where a node of the workspace is now.
func (t *tree) pathOf(p *model.Path) model.Path {
	t.mu.Lock()
	defer t.mu.Unlock()
	return *p
}

// where is where a file is in the workspace, and whether it still is.
func (t *tree) where(f *File) (p model.Path, there bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f.path, !f.gone
}

// dirAt is the folder at p if the kernel may know it.
func (t *tree) dirAt(p model.Path) *Dir {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.nodes[p]; k != nil {
		if d, ok := k.node.(*Dir); ok {
			return d
		}
	}
	return nil
}

// forgetUnused drops the nodes that the kernel has forgotten: they are not in
// go-fuse's tree of names, which mirrors the kernel's. One that was looked up
// since before may be on its way there.
func (t *tree) forgetUnused(before time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p, k := range t.nodes {
		_, parent := k.node.EmbeddedInode().Parent()
		_, unsaved := t.unsaved[asFile(k.node)]
		if parent == nil && p != "" && k.id != 0 && !unsaved && !holdsScratch(k.node) && k.used.Before(before) {
			t.forget(p, k.node)
		}
	}
}

func asFile(n node) *File {
	f, _ := n.(*File)
	return f
}

func holdsScratch(n node) bool {
	d, ok := n.(*Dir)
	return ok && len(d.overlay.entries) > 0
}

// entryChanged tells the kernel that the name p appeared, vanished or names
// something else.
func (t *tree) entryChanged(p model.Path) {
	if p == "" {
		return
	}
	if d := t.dirAt(p.Dir()); d != nil {
		d.touch()
		t.inval.entry(d, p.Base())
	}
}
