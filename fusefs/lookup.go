//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/errno"
	"github.com/relayfs/relayfs/fusefs/internal/invalidate"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/recent"
)

func newTree(ws *bridge.Workspace, o Options) *tree {
	options := ws.Options()
	t := &tree{
		ws: ws, author: o.Author, log: o.Logger,
		locked:     options.Locked(),
		handleless: options.ReadOnly && keepCaches,
		uid:        uint32(os.Geteuid()), gid: uint32(os.Getegid()),
		inval: invalidate.New(),
		names: newNames(),
	}
	bound := int64(maxRecent)
	if t.handleless {
		bound = maxRecentHandleless
	}
	t.recent = recent.New(bound, (*File).unpin)
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.errno = errno.Reporter{Log: t.log}
	root := &Dir{overlay: t.newOverlay(0o755), id: 1}
	root.self, t.root = root, root
	t.put("", root, 1)
	return t
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
		d := &Dir{overlay: t.newOverlay(uint32(info.Mode.Perm())), place: place{path: info.Path}, id: info.ID}
		d.self = d
		t.attach(d, syscall.S_IFDIR, ino)
		return d
	case model.KindNote:
		f := t.newFile(uint32(info.Mode.Perm()))
		f.path, f.life, f.doc = info.Path, life.Live, info.ID
		t.attach(f, syscall.S_IFREG, ino)
		return f
	case model.KindLink:
		l := &Link{t: t, place: place{path: info.Path}, meta: t.newMeta(0o777)}
		t.attach(l, syscall.S_IFLNK, ino)
		return l
	default:
		a := &Attachment{t: t, place: place{path: info.Path}, meta: t.newMeta(uint32(info.Mode.Perm()))}
		t.attach(a, syscall.S_IFREG, ino)
		return a
	}
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

// Lookup finds a name: scratch first, because it hides what is below it.
func (d *Dir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.Begin(d)()
	n, p, err := d.child(ctx, name)
	if err == nil {
		err = n.attr(ctx, &out.Attr)
	}
	if f, ok := n.(*File); ok && f.state().HasRetired() { // it was found out to, only now
		return d.Lookup(ctx, name, out)
	}
	if !isASCII(name) && (err != nil || p.Base() != name) {
		// Another spelling of a name (NFC, NFD) is told of no changes: not cached.
		out.SetEntryTimeout(1)
	}
	if err != nil {
		return nil, d.t.errno.Of("lookup", p, err)
	}
	return n.EmbeddedInode(), 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// child finds a name. The path it returns is how the workspace spells it.
func (d *Dir) child(ctx context.Context, name string) (node, model.Path, error) {
	d.t.mu.Lock()
	n, p := d.get(name), d.path.Join(name)
	d.t.mu.Unlock()
	if n != nil {
		return n, p, nil
	}
	if err := model.CheckName(name); errors.Is(err, model.ErrNameTooLong) {
		return nil, p, err
	} else if err != nil {
		return nil, p, syscall.ENOENT // no such thing can be there
	}
	return d.t.lookup(ctx, p)
}

func (d *ScratchDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.Begin(d)()
	n, _, err := d.child(ctx, name)
	if err == nil {
		err = n.attr(ctx, &out.Attr)
	}
	if err != nil {
		return nil, d.t.errno.Of("lookup", model.Path(name), err)
	}
	return n.EmbeddedInode(), 0
}

// child finds a name.
func (d *ScratchDir) child(_ context.Context, name string) (node, model.Path, error) {
	d.t.mu.Lock()
	n := d.get(name)
	d.t.mu.Unlock()
	if n != nil {
		return n, "", nil
	}
	if err := model.CheckName(name); errors.Is(err, model.ErrNameTooLong) {
		return nil, "", err
	}
	return nil, "", syscall.ENOENT
}
