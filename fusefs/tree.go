//go:build !windows

package fusefs

import (
	"context"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/errno"
	"github.com/relayfs/relayfs/fusefs/internal/invalidate"
	"github.com/relayfs/relayfs/fusefs/internal/process"
	"github.com/relayfs/relayfs/fusefs/internal/recent"
	"github.com/relayfs/relayfs/fusefs/internal/scratch"
	"github.com/relayfs/relayfs/fusefs/internal/shown"
)

// tree is the mounted workspace: its names, and what all inodes use.
type tree struct {
	names
	ws     *bridge.Workspace
	author string
	log    *slog.Logger
	errno  errno.Reporter
	locked error // why no note can be written, nil if they can
	// handleless is set if the kernel opens files without asking, see internal/handleless.
	handleless bool
	recent     *recent.List[*File]
	uid, gid   uint32
	inval      *invalidate.Queue
	poker      atomic.Pointer[poker]
	shown      shown.Log
	procs      process.Table
	ending     atomic.Bool // no save begins any more
	ended      atomic.Bool // nor goes on, see end
	scratch    scratch.Quota
	// folders is held for writing while a folder is moved or removed, and for reading
	// while something is kept at a path, so that nothing is kept below an old one.
	folders sync.RWMutex
}

// maxRecent bounds the texts that stay awake since they were told of last. Who opens what
// was shown before that, and has changed, is told to look it up again. On a mount without
// handles nobody can be told: a reader may see a mixture once.
const (
	maxRecent           = 4 << 20
	maxRecentHandleless = 32 << 20
)

func (t *tree) newMeta(mode uint32) meta { return meta{mode: mode, uid: t.uid, gid: t.gid} }

// entryChanged tells the kernel that the name p appeared, vanished or names
// something else, if it may know the folder.
func (t *tree) entryChanged(p model.Path) {
	t.mu.Lock()
	k := t.nodes[p.Dir()]
	if k == nil || p == "" {
		t.mu.Unlock()
		return
	}
	d, ok := k.node.(folder)
	if ok {
		d.layer().touch()
	}
	t.mu.Unlock()
	if ok {
		t.inval.Entry(d, p.Base())
	}
}

func (t *tree) getattr(ctx context.Context, n node, p *model.Path, out *fuse.AttrOut) syscall.Errno {
	if err := n.attr(ctx, &out.Attr); err != nil {
		return t.errno.Of("getattr", t.pathOf(p), err)
	}
	return 0
}

// chmod sets the permissions that a SETATTR says, if it says other ones than are shown, in
// the workspace, which has no other bits of a mode.
func (t *tree) chmod(ctx context.Context, p model.Path, in *fuse.SetAttrIn, shown uint32) syscall.Errno {
	mode, ok := in.GetMode()
	if !ok || mode&0o7777 == shown {
		return 0
	}
	err := t.ws.Chmod(context.WithoutCancel(ctx), p, fs.FileMode(mode&0o777), t.isMounts)
	return t.errno.Of("chmod", p, err)
}

// refusal is the errno of a write to, or a creation in, what info describes. One
// and the same errno says that a Folder is offline, whether that is found out
// here or by the write itself.
func (t *tree) refusal(op string, p model.Path, info bridge.Info) syscall.Errno {
	switch {
	case info.Offline:
		return t.errno.Of(op, p, &model.Error{Op: op, Path: p, Err: model.ErrOffline})
	case info.ReadOnly:
		return syscall.EROFS
	}
	return 0
}

// restructuring is how the process behind a request changes names.
func (t *tree) restructuring(ctx context.Context) bridge.Restructure {
	return bridge.Restructure{By: t.authorOf(t.procs.Of(ctx)), Origin: t}
}

// isMounts says whether an author is a program on this mount.
func (t *tree) isMounts(a model.Author) bool {
	return a.Name != "" && a.Name == t.author && strings.HasPrefix(a.Session, sessionPrefix)
}

// isPoke says that a request comes from the process that wakes watchers: what it sets is
// not meant.
func (t *tree) isPoke(ctx context.Context) bool {
	pid := t.poker.Load().process()
	return pid != 0 && t.procs.Of(ctx).Id == pid
}
