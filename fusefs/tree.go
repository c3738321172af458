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

// tree is the mounted workspace: its names, and what all inodes use.
type tree struct {
	names
	root       fs.InodeEmbedder
	ws         workspace
	author     string
	signAgents bool
	// sessionNote is the name of each session, and named are those that have it.
	sessionNote string
	named       sync.Map
	log         *slog.Logger
	errno       errnoReporter
	// mounted is when the tree was made.
	mounted time.Time
	locked  error // why no note can be written, nil if notes can be
	// handleless is set if the kernel opens files without asking, see handleless.go.
	handleless bool
	recent     *recentFiles
	uid, gid   uint32
	generation atomic.Uint64 // of the inode made last
	unsaved    sync.Map      // the notes with a buffer, by their *File, and each *draft
	inval      *notifications
	used       atomic.Bool // somebody has looked up or opened a note since the last housekeeping
	poker      atomic.Pointer[poker]
	former     formerInodes
	state      owner.Folder // keeps inode numbers, see keepNumbers; "" for none
	shown      shownLog
	programs   *program.Table
	ending     atomic.Bool // no save may begin any more
	ended      atomic.Bool // nor may one go on, see end
	scratch    scratchQuota
	// folders is held for writing while a folder is moved or removed, and for reading
	// while something is committed at a path, so that nothing is committed below an old one.
	folders sync.RWMutex
}

// maxRecent bounds the texts that stay awake because they were looked up last. A program
// that opens what it looked up before that, and that has changed, is told to look it up
// again. On a mount without handles nobody can be told: a reader may see a mixture once.
const (
	maxRecent           = 4 << 20
	maxRecentHandleless = 32 << 20
)

// attach makes n an inode of the file system. Every inode gets a generation of its own, so
// that go-fuse never takes one for another with the same number: the table decides which
// inode is which.
func (t *tree) attach(n fs.InodeEmbedder, mode uint32, ino uint64) {
	t.root.EmbeddedInode().NewInode(context.Background(), n, fs.StableAttr{Mode: mode, Ino: ino, Gen: t.generation.Add(1)})
}

// entryChanged tells the kernel that the name p appeared, vanished or names
// something else, if it may know the folder.
func (t *tree) entryChanged(p model.Path) {
	if d := t.folderOf(p); d != nil {
		d.layer().touch()
		t.inval.entry(d, p.Base())
	}
}

// refusal is the errno of a write to, or a creation in, what info describes. It says that a
// Folder is offline with the same errno as the write itself does.
func (t *tree) refusal(ctx context.Context, op string, p model.Path, info bridge.Info) syscall.Errno {
	switch {
	case info.Offline:
		return t.errno.Of(ctx, op, p, &model.Error{Op: op, Path: p, Err: model.ErrOffline})
	case info.ReadOnly:
		err := t.ws.MayWrite(p)
		if err == nil { // it says why of folders, not of one note
			err = &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
		}
		return t.errno.Of(ctx, op, p, err)
	}
	return 0
}

// authorOf is the author of a program's changes, and their session: the program's run.
func (t *tree) authorOf(p program.Program) model.Author {
	a := model.Author{Name: t.author, Session: p.Session()}
	if t.signAgents && p.Agent != "" {
		a.Name = p.Agent
	}
	if t.sessionNote != "" {
		if _, known := t.named.LoadOrStore(a.Session, nil); !known {
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

// isMounts says whether an author is a program on this mount.
func (t *tree) isMounts(a model.Author) bool {
	return (a.Name == t.author || t.signAgents && t.programs.IsAgent(a.Name)) && a.Name != "" && strings.HasPrefix(a.Session, program.SessionPrefix)
}

// restructuring is how the process that makes a request changes names.
func (t *tree) restructuring(ctx context.Context) bridge.ChangeRequest {
	return bridge.ChangeRequest{By: t.authorOf(t.programs.Of(ctx)), Origin: t}
}

// isPoke says that the request comes from the process that wakes watchers, which means to
// set nothing.
func (t *tree) isPoke(ctx context.Context) bool {
	return t.poker.Load().process() != 0 && t.wakes(t.programs.Of(ctx))
}

// wakes says that a program is the process that wakes watchers.
func (t *tree) wakes(p program.Program) bool {
	pid := t.poker.Load().process()
	return pid != 0 && p.PID == pid
}
