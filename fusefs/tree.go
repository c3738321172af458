//go:build !windows

package fusefs

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// tree is the mounted workspace: its names, and the state that all inodes share.
type tree struct {
	nodeTable
	root       fs.InodeEmbedder
	ws         workspace
	author     string
	signAgents bool
	log        *slog.Logger
	errno      errnoReporter
	// mounted is the time of the mount. It is also shown as the modification time of folders that have none.
	mounted     time.Time
	readOnlyErr error // reason why no note can be written, or nil
	// handleless is set if the kernel opens files without a request; see handleless.go.
	handleless    bool
	recent        recentFiles
	uid, gid      uint32
	generation    atomic.Uint64 // generation of the newest inode
	dirtyFiles    sync.Map      // keys are the notes with a buffer (*File) and the drafts (*draft)
	inval         *notifications
	used          atomic.Bool // a node was looked up, or a note opened, since the last housekeeping
	watchNotifier *watchNotifier
	former        formerInodes
	shown         shownLog
	reserved      sync.Map // thread ID -> reservation: the thread's open has just failed with ESTALE, so that the kernel repeats it (see reserve)
	programs      *program.Table
	draining      atomic.Bool // no new save may begin
	drained       atomic.Bool // no save may continue; see end
	scratch       scratchQuota
	// folders is held for writing while a folder is moved or removed, and for reading while something is committed at a
	// path. So no commit writes below an old path.
	folders sync.RWMutex
}

// attach makes n an inode of the file system. Every inode gets its own generation, so that go-fuse never mistakes it
// for another inode with the same number. Only the table decides which inode a name has.
func (t *tree) attach(n fs.InodeEmbedder, mode uint32, ino uint64) {
	t.root.EmbeddedInode().NewInode(context.Background(), n, fs.StableAttr{Mode: mode, Ino: ino, Gen: t.generation.Add(1)})
}

// entryChanged notifies the kernel that the name p appeared, disappeared or now belongs to another node. It does
// nothing if the kernel cannot have the folder cached.
func (t *tree) entryChanged(p model.Path) {
	if d := t.folderOf(p); d != nil {
		d.layer().touch()
		t.inval.entry(d, p.Base())
	}
}

// refusal returns the errno that a write to the node of info would get, or for a folder, a creation in the folder. It
// returns 0 if info allows the operation. For an offline root it is the errno that the write itself would get.
func (t *tree) refusal(ctx context.Context, op string, p model.Path, info bridge.Info) syscall.Errno {
	switch {
	case info.Offline:
		return t.errno.Of(ctx, op, p, &model.Error{Op: op, Path: p, Err: model.ErrOffline})
	case info.ReadOnly:
		err := t.ws.MayWrite(p)
		if err == nil { // MayWrite checks only folders
			err = &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
		}
		return t.errno.Of(ctx, op, p, err)
	}
	return 0
}

// authorOf returns the author of a program's changes. The session is the program's run.
func (t *tree) authorOf(p program.Program) model.Author {
	a := model.Author{Name: t.author, Session: p.Session()}
	if t.signAgents && p.Agent != "" {
		a.Name = p.Agent
	}
	return a
}

// isMounts reports whether an author may be a program on this mount.
func (t *tree) isMounts(a model.Author) bool {
	return (a.Name == t.author || t.signAgents && t.programs.IsAgent(a.Name)) && a.Name != "" && strings.HasPrefix(a.Session, program.SessionPrefix)
}

func (t *tree) changeRequest(ctx context.Context) bridge.ChangeRequest {
	return bridge.ChangeRequest{Author: t.authorOf(t.programs.Of(ctx)), Origin: t, InFolder: true}
}

// isWatchNotification reports whether the request comes from the process that wakes watchers, whose SETATTR must
// not set anything.
func (t *tree) isWatchNotification(ctx context.Context) bool {
	return t.watchNotifier.process() != 0 && t.isWatchNotifier(t.programs.Of(ctx))
}

// isWatchNotifier reports whether a program is the process that wakes watchers.
func (t *tree) isWatchNotifier(p program.Program) bool {
	pid := t.watchNotifier.process()
	return pid != 0 && p.PID == pid
}
