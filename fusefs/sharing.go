//go:build !windows

package fusefs

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// While a run (package program) has a note's inode open for writing, no other run has that inode open. The kernel has
// one size and one set of pages for each inode. Two runs that share an inode would write into each other's text, and a
// program would read bytes that another run has not saved yet: relayfs could not find out what it had
// read, or who wrote what.
//
// So if a run opens a note that another run writes, or opens it for writing while another run has it open, the open
// puts a new inode with the last saved text at the name, and fails with ESTALE. The kernel then looks up the name again
// and opens the new inode. The old inode is replaced (refresh.go): its handles continue with their own text, and each
// save of theirs is merged into the note. A truncation, too, is seen by its own run only.
//
// A save by rename is a save of the same note. So an inode that a program may still write to does not lose the note to
// such a save: it is replaced, too.

// reserveTimeout is the time for which an inode stays reserved for a program that does not open it, because it was
// killed, for example.
const reserveTimeout = 10 * time.Second

// admit makes h a handle of f. If other runs use f, or if its name is held for another session, it puts a new inode at
// the name of f and returns ESTALE. The kernel repeats an open once only, on the same thread, after a new lookup. So that
// lookup reserves the inode for the open. If the workspace cannot store a new note, the repeated open fails, too. (An
// open of a descriptor's file in /proc is repeated without a lookup; such an open may share the inode with other runs.)
func (f *File) admit(ctx context.Context, h *Handle, repeated bool) syscall.Errno {
	var busy bool
	f.update(func(s *fileState) {
		if busy = (s.isUsedByOthers(h) || s.isHeldForOthers(h)) && (!repeated || s.doc == 0); !busy {
			s.add(h)
		}
	})
	if busy {
		f.giveWay(ctx, h)
		return syscall.ESTALE
	}
	return 0
}

// reserve makes f the inode that the calling thread opens next, if the thread repeats an open. If f cannot be that
// inode, another inode has the name afterwards.
func (f *File) reserve(ctx context.Context, p model.Path) {
	kept := f.t.takeReserved(ctx, f, p)
	if kept == nil {
		return
	}
	h := &Handle{f: f, by: kept.by, writes: kept.writes}
	f.admit(ctx, h, false)
	kept.Release(ctx)
	h.keep(ctx, syscall.ESTALE)
}

func (f *fileState) add(h *Handle) {
	if f.handles == nil {
		f.handles = make(map[*Handle]struct{})
	}
	f.handles[h] = struct{}{}
}

// isUsedByOthers reports whether a run other than h's has uncommitted text in f, or has a handle of f while h or that
// handle writes.
func (f *fileState) isUsedByOthers(h *Handle) bool {
	if !f.life.IsNote() {
		return false
	}
	for other := range f.handles {
		if other.by.Run != h.by.Run && (other.writes || h.writes) {
			return true
		}
	}
	b := f.text.Buffer()
	return b != nil && b.Dirty() && b.Writer.Run != h.by.Run
}

// isUnstoredOfOthers reports whether a run other than h's uses f, a note that the workspace does not have yet. Such a
// note is stored before f loses its name, because a replaced inode writes to the note that the workspace has.
func (f *File) isUnstoredOfOthers(h *Handle) (unstored bool) {
	f.update(func(s *fileState) { unstored = s.doc == 0 && s.isUsedByOthers(h) })
	return unstored
}

// isHeldForOthers reports whether the name still shows another session's saved text instead of the newest text.
func (f *fileState) isHeldForOthers(h *Handle) bool {
	return !f.nameHold.until.IsZero() && f.text.IsStale() && f.nameHold.session != h.by.Session()
}

// giveWay puts a new inode with the last saved text at f's name if a run other than h's uses f, or if the name is
// held for another session. A note that the workspace does not have yet is stored first.
func (f *File) giveWay(ctx context.Context, h *Handle) {
	if f.isUnstoredOfOthers(h) {
		_ = f.commit(ctx, true) // an error belongs to the handle that wrote
	}
	f.update(func(s *fileState) {
		if s.life != stateLive || !s.isUsedByOthers(h) && !s.isHeldForOthers(h) {
			return
		}
		if text := s.text.Committed(); text.IsStale() {
			s.replaceInode(evReplace)
		} else {
			s.replaceBy(evReplace, text, s.nameHold)
		}
	})
}

// reservation is the handle of an open that the kernel repeats, and the path that it opens. A user may move the file
// of the handle in the meantime, but the kernel repeats the open by that path.
type reservation struct {
	h *Handle
	p model.Path
}

// keep stores the handle of an open that fails with errno, if that is ESTALE, until the kernel repeats the open. It
// returns errno.
func (h *Handle) keep(ctx context.Context, errno syscall.Errno) syscall.Errno {
	if caller, ok := fuse.FromContext(ctx); ok && errno == syscall.ESTALE {
		t, r := h.f.t, reservation{h, h.f.path()}
		if old, ok := t.reserved.Swap(caller.Pid, r); ok {
			old.(reservation).h.Release(ctx)
		}
		time.AfterFunc(reserveTimeout, func() {
			if t.reserved.CompareAndDelete(caller.Pid, r) {
				h.Release(context.Background())
			}
		})
	}
	return errno
}

// takeReserved returns the handle that keep has stored, if the calling thread's last open failed with ESTALE, and the
// thread repeats it with f at p. The caller must release the handle. If the thread opens another file, it has not
// repeated that open, because a user had moved or removed the file.
func (t *tree) takeReserved(ctx context.Context, f *File, p model.Path) *Handle {
	caller, ok := fuse.FromContext(ctx)
	if !ok {
		return nil
	}
	x, ok := t.reserved.LoadAndDelete(caller.Pid)
	if !ok {
		return nil
	}
	r := x.(reservation)
	if r.h.f == f || r.p == p {
		return r.h
	}
	r.h.Release(ctx)
	return nil
}

// isDirtyBy reports whether f has a text of prog's run that is not committed.
func (f *File) isDirtyBy(prog program.Program) (dirty bool) {
	f.update(func(s *fileState) { dirty = s.isDirtyBy(prog) })
	return dirty
}

func (f *fileState) isDirtyBy(prog program.Program) bool {
	b := f.text.Buffer()
	return b != nil && b.Dirty() && b.Writer.Run == prog.Run
}

// replaceBySave is called when prog has saved the note of f by a rename over f's name. If f has uncommitted
// text of prog's own run, that save replaced the text.
func (f *File) replaceBySave(prog program.Program) {
	var stays bool
	f.update(func(s *fileState) {
		if stays = s.doc != 0 && !s.isDirtyBy(prog); stays {
			s.life = s.life.After(evReplace)
			if s.mayBeOpen() || s.text.Buffer() != nil {
				f.t.trackReplaced(f)
			}
		}
	})
	if !stays {
		f.loseName(evUnlink)
	}
}

// forgetReplaced ends the tracking of a replaced inode that no program has open and that has nothing to commit.
func (f *fileState) forgetReplaced() {
	if f.life.IsReplaced() && !f.mayBeOpen() && f.text.State() != content.Buffered {
		f.t.forgetReplaced(f.File)
	}
}
