//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

func newTree(ws *bridge.Workspace, o Options) *tree {
	options := ws.Options()
	t := &tree{
		ws: workspace{ws.ForAgents()}, author: o.Author, signAgents: o.SignAgents, log: o.Logger,
		programs:    &program.Table{Agents: o.Agents},
		readOnlyErr: options.ReadOnlyErr(),
		handleless:  options.ReadOnly && keepCaches,
		uid:         uint32(os.Geteuid()), gid: uint32(os.Getegid()),
		inval:     newNotifications(),
		nodeTable: nodeTable{inner: newTable()}, mounted: time.Now(),
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.watchNotifier = newWatchNotifier(o.WatchNotifier, t.log, t.inval.flush, t.former.at)
	t.errno = errnoReporter{Log: t.log, Procs: t.programs, Refused: o.Refused, Silent: t.isWatchNotifier}
	root := &Dir{overlay: overlay{common: t.newCommon(0o755)}}
	t.root = root
	t.update(func(tb *tableState) { tb.put("", root, 1) })
	return t
}

// lookup returns the node at p. It also finds a new file that the workspace does not have yet.
func (t *tree) lookup(ctx context.Context, p model.Path) (node, model.Path, error) {
	for {
		var k *nodeEntry
		var epoch uint64
		t.update(func(tb *tableState) { k, epoch = tb.nodes[p], tb.epoch })
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

// bind returns the node for info. It returns nil if names have changed since epoch, and an error if the unlink of the
// node is deferred.
func (t *tree) bind(info bridge.Info, epoch uint64) (n node, err error) {
	t.used.Store(true)
	t.update(func(tb *tableState) {
		k := tb.nodes[info.Path]
		switch {
		case tb.epoch != epoch:
		case tb.deferred[info.Path] != nil:
			err = &model.Error{Op: "open", Path: info.Path, Err: syscall.ENOENT}
		case k != nil && k.id == info.ID:
			n, k.used = k.node, time.Now()
		case k != nil && k.id == 0:
			n = k.node
			if _, isFile := n.(*File); !isFile { // a file gets its ID in its own commit
				tb.put(info.Path, n, info.ID)
			}
		default:
			n = t.newNode(info, tb.inoOf(info.Path, info.ID))
			tb.put(info.Path, n, info.ID)
		}
	})
	return n, err
}

func (t *tree) newNode(info bridge.Info, ino uint64) (n node) {
	mode, kind := uint32(info.Mode.Perm()), uint32(syscall.S_IFREG)
	switch info.Kind {
	case model.KindDir:
		n, kind = &Dir{overlay: overlay{common: t.newCommon(mode)}}, syscall.S_IFDIR
	case model.KindNote:
		f := t.newFile(mode)
		f.state.life, f.state.doc = stateLive, info.ID
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

// Lookup finds a name. It looks in the scratch layer first, because scratch names hide names of the workspace.
func (o *overlay) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if former := o.lookupFormer(ctx, name, out); former != nil {
		return former, 0
	}
	n, p, err := o.child(ctx, name)
	f, isFile := n.(*File)
	if isFile {
		f.reserve(ctx, p)
	}
	if err == nil {
		err = n.attr(ctx, &out.Attr)
	}
	if isFile && f.lifeState().IsReplaced() {
		return o.Lookup(ctx, name, out) // another inode has the name now
	}
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 && (err != nil || p.Base() != name) {
		// When a name changes, relayfs does not notify the kernel of the name's other spellings (NFC, NFD). So the kernel
		// must not cache such a spelling for long.
		out.SetEntryTimeout(1)
	}
	if err != nil {
		return nil, o.t.errno.Of(ctx, "lookup", p, err)
	}
	return n.EmbeddedInode(), 0
}

// child finds a name. It returns the path as the workspace spells it, or "" in a ScratchDir.
func (o *overlay) child(ctx context.Context, name string) (node, model.Path, error) {
	var p model.Path
	if o.folder().inWorkspace() {
		p = o.path().Join(name)
	}
	if n := o.get(name); n != nil {
		return n, p, nil
	}
	err := model.CheckName(name)
	switch {
	case errors.Is(err, model.ErrNameTooLong):
		return nil, p, err
	case err != nil, p == "": // no node can have such a name, or the ScratchDir does not have it
		return nil, p, syscall.ENOENT
	}
	return o.t.lookup(ctx, p)
}
