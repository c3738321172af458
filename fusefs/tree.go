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
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/fusefs/program"
)

// tree is the mounted workspace: its names, and the state that all inodes share.
type tree struct {
	nodeTable
	root       fs.InodeEmbedder
	ws         workspace
	author     string
	signAgents bool
	// sessionNote is the name of each session, and named has the sessions that already have it.
	sessionNote string
	named       sync.Map
	log         *slog.Logger
	errno       errnoReporter
	// mounted is also the modification time of folders that have none.
	mounted     time.Time
	readOnlyErr error // reason why no note can be written, or nil
	// handleless is set if the kernel opens files without a request, see handleless.go.
	handleless    bool
	recent        *recentFiles
	uid, gid      uint32
	generation    atomic.Uint64 // of the newest inode
	dirtyFiles    sync.Map      // the notes with a buffer, by their *File, and each *draft
	inval         *notifications
	used          atomic.Bool // a note was looked up or opened since the last housekeeping
	watchNotifier atomic.Pointer[watchNotifier]
	former        formerInodes
	state         owner.Folder // keeps inode numbers, see keepNumbers; "" for none
	shown         shownLog
	programs      *program.Table
	draining      atomic.Bool // no new save may begin
	drained       atomic.Bool // no save may continue, see end
	scratch       scratchQuota
	// folders is held for writing while a folder is moved or removed, and for reading while
	// something is committed at a path, so that no commit goes below an old path.
	folders sync.RWMutex
}

// maxRecent bounds the texts in bytes that are kept because they were looked up last. If a program
// opens a file that it looked up earlier, and that has changed, the open fails and the kernel
// repeats the lookup. A mount without handles cannot do that: a reader may see a mixture once.
const (
	maxRecent           = 4 << 20
	maxRecentHandleless = 32 << 20
)

// attach makes n an inode of the file system. Every inode gets its own generation, so that go-fuse
// never mistakes it for another one with the same number: the table decides which inode is which.
func (t *tree) attach(n fs.InodeEmbedder, mode uint32, ino uint64) {
	t.root.EmbeddedInode().NewInode(context.Background(), n, fs.StableAttr{Mode: mode, Ino: ino, Gen: t.generation.Add(1)})
}

// entryChanged notifies the kernel that the name p appeared, vanished or leads to another node, if
// the kernel may know the folder.
func (t *tree) entryChanged(p model.Path) {
	if d := t.folderOf(p); d != nil {
		d.layer().touch()
		t.inval.entry(d, p.Base())
	}
}

// refusal returns the errno of a write to, or a creation in, the node of info. For an offline
// root it is the errno of the write itself.
func (t *tree) refusal(ctx context.Context, op string, p model.Path, info bridge.Info) syscall.Errno {
	switch {
	case info.Offline:
		return t.errno.Of(ctx, op, p, &model.Error{Op: op, Path: p, Err: model.ErrOffline})
	case info.ReadOnly:
		err := t.ws.MayWrite(p)
		if err == nil { // MayWrite checks folders, not single notes
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
	if t.sessionNote != "" {
		if _, ok := t.named.LoadOrStore(a.Session, nil); !ok {
			go t.nameSession(a) // no save waits for it
		}
	}
	return a
}

func (t *tree) nameSession(a model.Author) {
	if err := t.ws.SetSessionNote(a, model.SessionNote{Name: t.sessionNote}); err != nil {
		t.log.Warn("session has no name", model.LogAuthor, a.Name, model.LogErr, err)
	}
}

// isMounts reports whether an author is a program on this mount.
func (t *tree) isMounts(a model.Author) bool {
	return (a.Name == t.author || t.signAgents && t.programs.IsAgent(a.Name)) && a.Name != "" && strings.HasPrefix(a.Session, program.SessionPrefix)
}

func (t *tree) changeRequest(ctx context.Context) bridge.ChangeRequest {
	return bridge.ChangeRequest{Author: t.authorOf(t.programs.Of(ctx)), Origin: t}
}

// isWatchNotification reports whether the request comes from the process that wakes watchers, whose SETATTR must
// not set anything.
func (t *tree) isWatchNotification(ctx context.Context) bool {
	return t.watchNotifier.Load().process() != 0 && t.isWatchNotifier(t.programs.Of(ctx))
}

// isWatchNotifier reports whether a program is the process that wakes watchers.
func (t *tree) isWatchNotifier(p program.Program) bool {
	pid := t.watchNotifier.Load().process()
	return pid != 0 && p.PID == pid
}
