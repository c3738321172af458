//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
)

// File is a note or a scratch file. A rename can turn a scratch file into a note, and a note into a scratch file.
type File struct {
	common

	mu    sync.Mutex
	state fileState
}

type fileState struct {
	*File
	life         inodeState
	doc          uint64 // the note's ID in the workspace, 0 if the workspace does not have it
	movedDoc     uint64 // the ID of the note that a scratch file was, or 0
	text         content.Text
	handles      map[*Handle]struct{}
	pagesStored  bool              // the kernel has pages of the content or of a buffer; see storePages
	pins         int               // users of the text besides handles
	attrSentAt   time.Time         // time when the kernel last got the attributes; zero if the kernel has none
	nameHold     nameHold          // keeps the inode at its name after a save
	timer        *time.Timer       // runs tick
	scratchBytes int64             // bytes accounted to the scratch layer
	alias        *attachmentHandle // the attachment that a rename made of this scratch file; programs that have the file open continue with alias
}

func (t *tree) newFile(mode uint32) *File {
	f := &File{common: t.newCommon(mode)}
	f.state.File = f
	return f
}

func (f *File) update(fn func(*fileState)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn(&f.state)
}

func (f *File) lifeState() (l inodeState) {
	f.update(func(s *fileState) { l = s.life })
	return l
}

// isStored reports whether f is a note that the workspace has.
func (f *File) isStored() (stored bool) {
	f.update(func(s *fileState) { stored = s.doc != 0 })
	return stored
}

func (f *File) attachment() (h *attachmentHandle) {
	f.update(func(s *fileState) { h = s.alias })
	return h
}

// attr fills in the attributes for the kernel. They belong to the content that reads return from now on. If that
// content is no longer the newest version, f is replaced when attr returns, unless nameHold delays the replacement.
func (f *File) attr(ctx context.Context, out *fuse.Attr) error {
	err := f.pin(ctx)
	if err != nil && !errors.Is(err, syscall.ESTALE) { // an image with size and time exists even after ESTALE
		f.unpin()
		return err
	}
	var note bool
	var alias *attachmentHandle
	f.update(func(s *fileState) {
		s.text.Show()
		s.attrSentAt = time.Now()
		f.fill(out, f.EmbeddedInode(), s.text.Size(), s.text.ModTime(), s.life.Links())
		note, alias = s.life.IsNote(), s.alias
	})
	if note && f.t.handleless {
		f.t.recent.add(f, int64(out.Size))
		return nil
	}
	f.unpin()
	if alias != nil {
		return alias.a.attr(ctx, out)
	}
	return nil
}

// OnForget is called when the kernel has forgotten the inode, so that no program has it open.
func (f *File) OnForget() {
	f.t.former.drop(f)
	f.update(func(s *fileState) {
		s.attrSentAt = time.Time{}
		if f.t.handleless {
			f.t.forgetReplaced(f)
		}
	})
}

func (f *File) Setattr(ctx context.Context, fh fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	switch {
	case f.t.isWatchNotification(ctx):
		return f.touched(out)
	case fh == nil && f.lifeState().IsStale():
		return newHandle(ctx, f, syscall.O_WRONLY).keep(ctx, syscall.ESTALE)
	}
	if h := f.attachment(); h != nil {
		return h.a.Setattr(ctx, h, in, out)
	}
	if size, ok := in.GetSize(); ok {
		h, _ := fh.(*Handle)
		if h == nil { // truncate(2) is open, ftruncate and close
			opened := newHandle(ctx, f, syscall.O_WRONLY)
			defer opened.Release(ctx)
			if errno := opened.open(ctx); errno != 0 {
				return opened.keep(ctx, errno)
			}
		}
		if errno := f.truncate(ctx, h, int64(min(size, 1<<62))); errno != 0 {
			return errno
		}
	}
	var doc uint64
	f.update(func(s *fileState) { doc = s.doc })
	if _, there := f.where(); doc != 0 && there {
		if errno := f.chmod(ctx, in); errno != 0 {
			return errno
		}
	}
	if next := f.successor(); next != nil {
		next.set(in)
		f.t.inval.content(next)
	}
	return f.common.Setattr(ctx, nil, in, out)
}

// touched answers the watchNotifier's SETATTR, which sets no attribute, from the attributes that the kernel got last.
func (f *File) touched(out *fuse.AttrOut) syscall.Errno {
	out.SetTimeout(cacheTimeout)
	f.update(func(s *fileState) {
		f.fill(&out.Attr, f.EmbeddedInode(), s.text.Size(), s.text.ModTime(), s.life.Links())
	})
	return 0
}

func (f *fileState) fits(size int64) syscall.Errno {
	switch {
	case f.life.IsNote() && size <= model.MaxNote:
		return 0
	case f.life.IsNote(), size > maxScratch:
		return syscall.EFBIG
	case !f.t.scratch.grow(size - f.scratchBytes):
		return syscall.ENOSPC
	}
	f.scratchBytes = size
	return 0
}

// release returns the file's bytes to the scratch quota, after the file has lost its name or is no longer a
// scratch file.
func (f *File) release() {
	f.update(func(s *fileState) {
		f.t.scratch.grow(-s.scratchBytes)
		s.scratchBytes = 0
	})
}

// untouchedSince reports whether no program has the file open, and no program has changed the file since t.
func (f *File) untouchedSince(t time.Time) (untouched bool) {
	f.update(func(s *fileState) {
		untouched = len(s.handles) == 0 && s.text.ModTime().Before(t) && f.setBefore(t)
	})
	return untouched
}

// loseName applies the event e, by which f loses its name. As POSIX requires, programs that have f open can still use
// it, but its content is no longer committed.
func (f *File) loseName(e inodeEvent) {
	f.update(func(s *fileState) {
		if s.text.State() == content.Evicted {
			e = evUnlinkStale // the mount no longer has its text
		}
		s.detach(e)
	})
	f.release()
}

func (f *fileState) detach(e inodeEvent) {
	if f.life.IsNote() {
		f.text.BecomeScratch()
		f.doc, f.movedDoc = 0, f.doc
		f.t.dirtyFiles.Delete(f.File)
	}
	f.life = f.life.After(e)
}
