//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/scratch"
)

// File is a regular file of its own: a note, or a scratch file. A rename can
// make the one the other.
type File struct {
	gofs.Inode
	t *tree
	place

	// commitMu admits one commit or change of name at a time. It is held across the
	// workspace. Who takes several takes them with tree.holdCommits.
	commitMu sync.Mutex
	adopted  atomic.Bool // it is being renamed over a note, whose inodes are not to be told of that

	mu       sync.Mutex // protects the following
	life     life.State
	doc      uint64 // the note's ID in the workspace, 0 while it is not there
	text     content.Text
	meta     meta
	handles  map[*Handle]struct{}
	pushed   bool        // the kernel was given the content, or a writer's, see Handle.push
	pins     int         // who needs the text, besides handles
	told     time.Time   // when the kernel was last told of the attributes; zero if it knows none
	hold     hold        // of the name, after a save
	timer    *time.Timer // the next look at whether to commit
	charged  int64       // bytes accounted to the scratch layer
	exported exported
}

// exported is the attachment that a scratch file became which was renamed to such a name.
// Who has the scratch file open goes on with that.
type exported interface {
	attr(ctx context.Context, out *fuse.Attr) error
	setattr(ctx context.Context, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno
	gofs.FileReader
	gofs.FileWriter
	gofs.FileFsyncer
	close()
}

func (t *tree) newFile(mode uint32) *File {
	return &File{t: t, meta: t.newMeta(mode)}
}

// state is what f is to the names of the mount.
func (f *File) state() life.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.life
}

func (f *File) goesOnAs() exported {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exported
}

// attr fills in what the kernel is told of the inode, and of its content from here on.
// If that is no longer the newest version, f has retired when attr returns.
func (f *File) attr(ctx context.Context, out *fuse.Attr) error {
	err := f.pin(ctx)
	if err != nil && !errors.Is(err, syscall.ESTALE) { // then its size and time are known
		f.unpin()
		return err
	}
	f.mu.Lock()
	f.text.Show()
	f.told = time.Now()
	f.meta.fill(out, f.EmbeddedInode(), f.text.Size(), f.text.ModTime(), f.life.Links())
	note, goesOnAs := f.life.IsNote(), f.exported
	f.mu.Unlock()
	if note {
		f.t.recent.Add(f, int64(out.Size))
		return nil
	}
	f.unpin()
	if goesOnAs != nil {
		return goesOnAs.attr(ctx, out)
	}
	return nil
}

// OnForget is called when the kernel has forgotten the inode: nobody has it open.
func (f *File) OnForget() {
	if !f.t.handleless {
		return // handles say who has
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = time.Time{}
	f.t.left(f)
	f.sleep()
}

func (f *File) Getattr(ctx context.Context, _ gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return f.t.getattr(ctx, f, &f.path, out)
}

func (f *File) Setattr(ctx context.Context, fh gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	switch {
	case fh == nil && f.state().IsStale():
		return syscall.ESTALE
	case f.t.isPoke(ctx):
		out.SetTimeout(cacheTimeout)
		return f.Getattr(ctx, nil, out)
	}
	if a := f.goesOnAs(); a != nil {
		return a.setattr(ctx, in, out)
	}
	if size, ok := in.GetSize(); ok {
		h, _ := fh.(*Handle)
		if errno := f.truncate(ctx, h, int64(min(size, 1<<62))); errno != 0 {
			return errno
		}
	}
	f.mu.Lock()
	doc, mode := f.doc, f.meta.mode
	f.mu.Unlock()
	if p, there := f.t.where(&f.place); doc != 0 && there {
		if errno := f.t.chmod(ctx, p, in, mode); errno != 0 {
			return errno
		}
	}
	f.set(in)
	if next := f.t.successor(f); next != nil {
		next.set(in)
		f.t.inval.Content(next)
	}
	out.SetTimeout(cacheTimeout)
	return f.Getattr(ctx, nil, out)
}

// set takes over what a SETATTR says, but for the size.
func (f *File) set(in *fuse.SetAttrIn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meta.set(in, time.Now())
}

// truncate sets the size, through h or, for truncate(2), nil.
func (f *File) truncate(ctx context.Context, h *Handle, size int64) syscall.Errno {
	if errno := f.writable(ctx, h != nil); errno != 0 {
		return errno
	}
	by := f.t.procs.Of(ctx)
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return f.t.errno.Of("truncate", f.t.pathOf(&f.path), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Show()
	if errno := f.fits(size); errno != 0 {
		return errno
	}
	if f.text.Size() == size {
		return 0
	}
	f.edit().Truncate(int(size))
	f.changed(h, by)
	return 0
}

// writable says whether the content may be changed at all. begun says that a save
// goes on.
func (f *File) writable(ctx context.Context, begun bool) syscall.Errno {
	if f.t.ended.Load() || f.t.ending.Load() && !begun {
		return syscall.EIO
	}
	f.mu.Lock()
	note, doc, v := f.life.IsNote(), f.doc, f.text.Latest()
	f.mu.Unlock()
	p, _ := f.t.where(&f.place)
	switch {
	case !note:
		return 0
	case f.t.locked != nil:
		return f.t.errno.OfSave("write", p, &model.Error{Op: "write", Path: p, Err: f.t.locked})
	case v != nil && v.ReadOnly():
		return syscall.EROFS
	case doc == 0:
		return 0
	}
	info, err := f.t.ws.Stat(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return 0 // removed while it is open
	}
	if err != nil {
		return f.t.errno.Of("write", p, err)
	}
	return f.t.refusal("write", p, info)
}

// fits says whether the content may be size bytes long, and accounts for it. mu
// is held.
func (f *File) fits(size int64) syscall.Errno {
	switch {
	case f.life.IsNote() && size <= model.MaxNote:
		return 0
	case f.life.IsNote(), size > scratch.Max:
		return syscall.EFBIG
	case !f.t.scratch.Grow(size - f.charged):
		return syscall.ENOSPC
	}
	f.charged = size
	return 0
}

// release gives back what the file was charged, when its name is gone or it is
// no longer scratch.
func (f *File) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.t.scratch.Grow(-f.charged)
	f.charged = 0
}

// untouchedSince says that nobody has the file open or changed it since t.
func (f *File) untouchedSince(t time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.handles) == 0 && f.text.ModTime().Before(t) && f.meta.ctime.Before(t)
}

// lose makes f a file without a name, by one of the events that mean that: what has it
// open keeps it, as POSIX wants, and nothing of it is committed any more.
func (f *File) lose(e life.Event) {
	f.mu.Lock()
	if f.text.State() == content.Asleep {
		e = life.Supersede // its text is not known any more
	}
	f.detach(e)
	f.mu.Unlock()
	f.release()
}

// detach makes a note a scratch file with the content it shows. mu is held.
func (f *File) detach(e life.Event) {
	if f.life.IsNote() {
		f.text.Detach()
		f.doc = 0
		f.t.saved(f)
	}
	f.life = f.life.After(e)
}
