//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

const (
	// linger is the time for which the server continues to serve a mount after unmounting or detaching it.
	linger = 5 * time.Second
	// housekeeping is the interval at which unused inodes are dropped, and at which the server notices that another
	// program has unmounted the mount although it lives on elsewhere.
	housekeeping = time.Minute
)

type Server struct {
	tree         *tree
	fuse         *fuse.Server
	dir          string
	minor        string             // of the mount in the table of mounts; "" if unknown
	stop         context.CancelFunc // ends all goroutines except the server's own
	stopNotifier context.CancelFunc // ends the process that wakes watchers, because that process uses the mount
	tasks        sync.WaitGroup
	ended        chan struct{} // closed when serving has ended and everything is committed
	gone         chan struct{} // closed when ended is closed, or some time after a busy mount was detached
	leave        sync.Once     // closes gone
	unmount      sync.Once
	detached     chan error // gets the result of unmount
}

// Mount serves ws at dir and returns when the mount answers requests. It returns the errors of Check, among others. It
// does not mount if ctx has ended; later, ctx has no effect. The workspace must be started; Mount sets its mountpoint.
func Mount(ctx context.Context, ws *bridge.Workspace, dir string, o Options) (*Server, error) {
	if err := Check(dir); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := newTree(ws, o)
	var raw fuse.RawFileSystem = &folders{RawFileSystem: fs.NewNodeFS(t.root, nodeOptions())}
	if t.handleless {
		raw = handleless{raw}
	}
	server, err := fuse.NewServer(raw, dir, mountOptions(ws.Options().ReadOnly, o, t.log))
	if err != nil {
		return nil, &SetupError{Problem: fmt.Sprintf("%q cannot be mounted", dir), Hint: mountHint(), Err: err}
	}
	closeOnExec()
	s := &Server{tree: t, fuse: server, dir: dir, ended: make(chan struct{}), gone: make(chan struct{}), detached: make(chan error, 1)}
	mounted := make(chan struct{})
	s.start(mounted)
	if err := server.WaitMount(); err != nil {
		return nil, errors.Join(err, s.Unmount())
	}
	if m, err := mountOf(dir); err == nil {
		s.minor = m.minor
	}
	close(mounted)
	ws.SetMountpoint(dir)
	ws.OnMount(t.inval.flush)
	return s, nil
}

func nodeOptions() *fs.Options {
	return &fs.Options{
		EntryTimeout: new(cacheTimeout), AttrTimeout: new(cacheTimeout), NegativeTimeout: new(cacheTimeout),
		NullPermissions: true,
		RootStableAttr:  &fs.StableAttr{Ino: 1},
	}
}

func mountOptions(readOnly bool, o Options, log *slog.Logger) *fuse.MountOptions {
	m := &fuse.MountOptions{
		AllowOther: o.AllowOther,
		FsName:     sourceOf(os.Getpid()), Name: fsName,
		DisableXAttrs:     true,
		DisableSplice:     true, // notes are in memory, and a pipe to the kernel costs more than a copy
		ExtraCapabilities: fuse.CAP_ATOMIC_O_TRUNC,
		DirectMount:       os.Geteuid() == 0,
		// The kernel checks permissions by its cached attributes.
		Options: []string{"default_permissions"},
		Debug:   o.Debug,
		Logger:  slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		PanicHandler: func(v any) fuse.Status {
			log.Error("a request failed because of a bug in relayfs: please report it", "panic", v, "stack", string(debug.Stack()))
			return fuse.EIO
		},
	}
	if readOnly {
		m.Options = append(m.Options, "ro")
	}
	return m
}

// start runs the server and its goroutines. The watchNotifier starts last: WaitMount opens a file of the mount, and a
// process started at that moment would inherit the file, never close it, and keep the mount busy.
func (s *Server) start(mounted <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	unsubscribe := s.tree.ws.Subscribe(s.tree.changed)
	s.tasks.Go(func() { s.tree.inval.run(ctx) })
	s.tasks.Go(func() { s.housekeep(ctx) })
	poking, stopPoking := context.WithCancel(ctx)
	s.stopNotifier = stopPoking
	s.tasks.Go(func() {
		select {
		case <-mounted:
			s.tree.watchNotifier.run(poking, s.dir)
		case <-poking.Done():
		}
	})
	go func() {
		s.fuse.Serve()   // until the mount is unmounted
		_ = s.tree.end() // end logs its errors
		unsubscribe()
		s.stop()
		s.tasks.Wait()
		s.tree.ws.SetMountpoint("")
		s.tree.ws.OnMount(nil)
		close(s.ended)
		s.leave.Do(func() { close(s.gone) })
	}()
}

// SessionOf returns the session of the changes that a process makes on the mount.
func (s *Server) SessionOf(pid int) string { return s.tree.programs.OfProcess(pid).Session() }

// Done is closed when the mount has ended, by Unmount or from outside, and written data is committed. Unmount closes it
// after linger at the latest.
func (s *Server) Done() <-chan struct{} { return s.gone }

// Unmount blocks new saves, gives the saves in progress saveGrace to finish, commits the written data of open notes,
// except unfinished and failed saves, and unmounts. If the mount is busy, Unmount detaches it. The mount may live on,
// because programs have files open or because a container has a copy of it. Unmount then serves it for linger. The error
// describes failed commits and a failed detachment.
func (s *Server) Unmount() error {
	s.tree.awaitSaves()
	err := s.tree.end()
	select {
	case <-s.ended:
		return err
	default:
	}
	s.stopNotifier()
	time.AfterFunc(linger, func() { s.leave.Do(func() { close(s.gone) }) })
	go s.unmount.Do(func() { // in a goroutine because fuse.Unmount waits for the end of the last copy of the mount
		if !s.isMounted() { // another mount may have the directory
			s.detached <- nil
			return
		}
		err := s.fuse.Unmount()
		if err != nil {
			s.tree.log.Warn("mount is busy: detached", "mountpoint", s.dir, model.LogErr, err)
			err = s.detach()
		}
		s.detached <- err
	})
	<-s.gone
	select {
	case detachErr := <-s.detached:
		return errors.Join(err, detachErr)
	default:
		return err
	}
}

func (s *Server) detach() error {
	if m, err := mountOf(s.dir); err == nil && m.fstype != mountType {
		return nil // another program has unmounted it
	}
	return lazyUnmount(s.dir)
}

// isMounted reports whether the mount is still in the table of mounts. If it is not, it may live on: as a copy in a
// container, or for programs that use a detached mount.
func (s *Server) isMounted() bool {
	mounts, err := mountTable()
	return err != nil || s.minor == "" || slices.ContainsFunc(mounts, func(m mountEntry) bool { return m.fstype == mountType && m.minor == s.minor })
}

func (s *Server) endIfUnmounted() {
	if !s.isMounted() {
		s.tree.log.Warn("another program has unmounted the mount", "mountpoint", s.dir)
		go s.Unmount()
	}
}

func (s *Server) housekeep(ctx context.Context) {
	tick := time.NewTicker(housekeeping)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.tree.evict(ctx, maxIdle)
			s.tree.forgetUnused(now.Add(-housekeeping))
			s.endIfUnmounted()
		}
	}
}

// When a mount ends, programs may be in the middle of a save: a note is truncated and not yet written, or half written.
// Such programs get a moment to finish. An unfinished text does not become a suggestion. The note stays as before, as
// after a crash, and the program gets an error from its next write or its close.

const (
	saveGrace = 2 * time.Second
	// saveStep is the pause between two checks for saves.
	saveStep = 10 * time.Millisecond
)

// awaitSaves blocks new saves. It returns when no save is in progress, or after saveGrace.
func (t *tree) awaitSaves() {
	t.draining.Store(true)
	saving := func() (saving bool) {
		for x := range t.dirtyFiles.Range {
			switch x := x.(type) {
			case *File:
				x.update(func(s *fileState) { saving = saving || s.isBeingSaved() })
			case *draft:
				saving = saving || x.isBeingSaved()
			}
		}
		return saving
	}
	for start := time.Now(); saving() && time.Since(start) < saveGrace; {
		time.Sleep(saveStep)
	}
}

// end stops all saves, commits the uncommitted content of notes and drafts, even if it was only truncated, and applies all
// deferred unlinks. A note whose save is unfinished or has failed stays as it was.
func (t *tree) end() error {
	t.draining.Store(true)
	t.drained.Store(true)
	var errs []error
	for x := range t.dirtyFiles.Range {
		var p model.Path
		var saving, failed bool
		var prog program.Program
		var err error
		switch x := x.(type) {
		case *File:
			p = x.path()
			x.update(func(s *fileState) {
				if saving = s.isBeingSaved(); saving {
					s.failWrite(model.ErrClosed)
				}
				if b := s.text.Buffer(); b != nil {
					failed, prog = b.WriteErr != nil, b.Writer
				}
			})
			if !failed {
				err = x.commit(context.Background(), true)
			}
		case *draft:
			p = x.a.path()
			if saving, failed, prog = x.end(); !failed {
				err = x.a.commit(context.Background(), x)
			}
		}
		if saving {
			t.log.Warn("a program was in the middle of a save when the mount ended: the file stays as it was", model.LogPath, string(p))
		}
		if err != nil {
			t.errno.OfSaveBy(prog, "commit", p, err)
			errs = append(errs, err)
		}
	}
	t.flushUnlinks(context.Background(), "")
	return errors.Join(errs...)
}

// isBeingSaved reports whether a program seems to be in the middle of a save. An append is not such a save, because
// appended text is complete at any time.
func (f *fileState) isBeingSaved() bool {
	b := f.text.Buffer()
	return f.life.IsNote() && b != nil && b.IsBeingSaved() && f.hasPositionedWriter()
}
