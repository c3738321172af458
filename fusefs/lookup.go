//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/life"
)

// lookup finds what is at p in the workspace, a new note included.
func (t *tree) lookup(ctx context.Context, p model.Path) (node, model.Path, error) {
	for {
		var k *known
		var epoch uint64
		t.update(func(tb *table) { k, epoch = tb.nodes[p], tb.epoch })
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
func (t *tree) bind(info bridge.Info, epoch uint64) (n node, err error) {
	t.update(func(tb *table) {
		k := tb.nodes[info.Path]
		switch {
		case tb.epoch != epoch:
		case tb.parked[info.Path] != nil:
			err = &model.Error{Op: "open", Path: info.Path, Err: syscall.ENOENT}
		case k != nil && k.id == info.ID:
			n, k.used = k.node, time.Now()
		case k != nil && k.id == 0:
			n = k.node
			if _, isFile := n.(*File); !isFile { // a file is bound by its own commit
				tb.put(info.Path, n, info.ID)
			}
		default:
			n = t.newNode(info, tb.inoOf(info.Path, info.ID))
			tb.put(info.Path, n, info.ID)
		}
	})
	return n, err
}

// newNode makes the inode for something of the workspace.
func (t *tree) newNode(info bridge.Info, ino uint64) (n node) {
	mode, kind := uint32(info.Mode.Perm()), uint32(syscall.S_IFREG)
	switch info.Kind {
	case model.KindDir:
		n, kind = &Dir{overlay: overlay{common: t.newCommon(mode)}, id: info.ID}, syscall.S_IFDIR
	case model.KindNote:
		f := t.newFile(mode)
		f.state.life, f.state.doc = life.Live, info.ID
		n = f
	case model.KindLink:
		n, kind = &Link{t.newCommon(0o777)}, syscall.S_IFLNK
	default:
		n = &Attachment{common: t.newCommon(mode)}
	}
	n.moveTo(info.Path)
	t.attach(n, kind, ino)
	return n
}

// Lookup finds a name: scratch first, because it hides what is below it.
func (d *Dir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	defer d.t.inval.Begin(d)()
	n, p, err := d.child(ctx, name)
	if err == nil {
		err = n.attr(ctx, &out.Attr)
	}
	if f, ok := n.(*File); ok && f.lifeState().HasRetired() { // attr has found another text
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
	n, p := d.get(name), d.path().Join(name)
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
	if n := d.get(name); n != nil {
		return n, "", nil
	}
	if err := model.CheckName(name); errors.Is(err, model.ErrNameTooLong) {
		return nil, "", err
	}
	return nil, "", syscall.ENOENT
}
