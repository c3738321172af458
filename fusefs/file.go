//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// File is a regular file of its own: a note, or a scratch file. A rename can
// make the one the other.
type File struct {
	gofs.Inode
	t    *tree
	path model.Path // of a note; protected by t.mu
	gone bool       // removed from the workspace by others; protected by t.mu

	// commitMu admits one commit or change of name at a time. It is held across the
	// workspace. Who takes several takes them with tree.holdCommits.
	commitMu sync.Mutex

	mu         sync.Mutex // protects the following
	note       bool
	doc        uint64 // the note's ID in the workspace, 0 while it is not there
	unlinked   bool   // the name is gone; who has it open keeps the content
	superseded bool   // and leads to another inode now, see supersede
	meta       meta
	handles    map[*Handle]struct{}

	// buf is the content of a scratch file, and of a note that is being written.
	buf *buffer
	// image is what the kernel was told of a note without a buffer, and what reads
	// return: the same for as long as nobody writes through this inode. latest is the
	// newest version known, nil if there is a newer one that has not been read.
	image  image
	latest *model.Version
	// madeFrom is set while image is what could not be saved: the image that this was made
	// from. Nobody's next write is computed from what was refused.
	madeFrom *image
	// asleep is set while nobody has a note open: image then has a time but no
	// text, only its length, so that the workspace alone decides which texts stay
	// in memory.
	asleep     bool
	asleepSize int64
	pushed     bool      // the kernel was given the content, or a writer's, see push.go
	pins       int       // who needs the text, besides handles
	known      bool      // the kernel was told of the inode, and has not forgotten it
	told       time.Time // when it was last told of the attributes
	// notBefore is the earliest modification time a new image may have.
	notBefore time.Time
	retired   time.Time   // when another inode took the name over, see retire.go
	asked     bool        // that was on demand: whoever asked for it finds the other one at once
	hold      hold        // of the name, after a save
	timer     *time.Timer // the next look at whether to commit
	charged   int64       // bytes accounted to the scratch layer
	exported  exported
}

func (t *tree) newFile(mode uint32) *File {
	return &File{t: t, meta: t.newMeta(mode)}
}

// attr fills in what the kernel is told of the inode, and of its content from here on.
// If that is no longer the newest version, f has retired when attr returns.
func (f *File) attr(ctx context.Context, out *fuse.Attr) error {
	if h := f.exported.to(); h != nil {
		return h.a.attr(ctx, out)
	}
	err := f.pin(ctx)
	if errors.Is(err, syscall.ESTALE) {
		err = nil // its size and time it knows
	}
	if err == nil {
		f.describe(out)
	}
	if err != nil || !f.isNote() {
		f.unpin()
		return err
	}
	f.t.recent.add(f, int64(out.Size))
	return nil
}

// describe fills in the attributes of what f shows.
func (f *File) describe(out *fuse.Attr) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.show()
	f.known, f.told = true, time.Now()
	nlink := uint32(1)
	if f.unlinked {
		nlink = 0
	}
	f.meta.fill(out, f.EmbeddedInode(), f.size(), f.modTime(), nlink)
}

// OnForget is called when the kernel has forgotten the inode: nobody has it open.
func (f *File) OnForget() {
	if !f.t.handleless {
		return // handles say who has
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = false
	f.t.left(f)
	f.sleep()
}

// size is the content's length. mu is held.
func (f *File) size() int64 {
	if f.buf != nil {
		return int64(len(f.buf.data))
	}
	if f.asleep {
		return f.asleepSize
	}
	return int64(len(f.image.text))
}

func (f *File) modTime() time.Time {
	if f.buf != nil {
		return f.buf.modTime
	}
	return f.image.modTime
}

// readAt copies content to dest. mu is held.
func (f *File) readAt(dest []byte, off int64) int {
	switch {
	case off >= f.size():
		return 0
	case f.buf != nil:
		return copy(dest, f.buf.data[off:])
	}
	return copy(dest, f.image.text[off:])
}

// content is a copy of what the file holds. mu is held.
func (f *File) content() string {
	if f.buf != nil {
		return string(f.buf.data)
	}
	return f.image.text
}

func (f *File) Getattr(ctx context.Context, _ gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return f.t.getattr(ctx, f, &f.path, out)
}

func (f *File) Setattr(ctx context.Context, fh gofs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	switch {
	case fh == nil && f.isSuperseded():
		return syscall.ESTALE
	case f.t.isPoke(ctx):
		out.SetTimeout(cacheTimeout)
		return f.Getattr(ctx, nil, out)
	}
	if h := f.exported.to(); h != nil {
		return h.a.Setattr(ctx, h, in, out)
	}
	if size, ok := in.GetSize(); ok {
		h, _ := fh.(*Handle)
		if errno := f.truncate(ctx, h, int64(min(size, 1<<62))); errno != 0 {
			return errno
		}
	}
	if errno := f.chmod(ctx, in); errno != 0 {
		return errno
	}
	f.set(in)
	if next := f.t.successor(f); next != nil {
		next.set(in)
		f.t.inval.content(next)
	}
	out.SetTimeout(cacheTimeout)
	return f.Getattr(ctx, nil, out)
}

// chmod gives a note that the workspace has the permissions that a SETATTR says, if it
// says other ones than are shown.
func (f *File) chmod(ctx context.Context, in *fuse.SetAttrIn) syscall.Errno {
	f.mu.Lock()
	mode, ok := in.GetMode()
	ok = ok && f.note && f.doc != 0 && mode&0o7777 != f.meta.mode
	f.mu.Unlock()
	p, there := f.t.where(f)
	if !ok || !there {
		return 0
	}
	return f.t.chmod(ctx, p, mode)
}

// chmod sets permissions in the workspace, which has no other bits of a mode.
func (t *tree) chmod(ctx context.Context, p model.Path, mode uint32) syscall.Errno {
	err := t.ws.Chmod(context.WithoutCancel(ctx), p, fs.FileMode(mode&0o777), t.isMounts)
	return t.errno("chmod", p, err)
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
	by := f.t.procs.of(ctx)
	err := f.pin(ctx)
	defer f.unpin()
	if err == nil {
		err = f.refresh(ctx)
	}
	if err != nil {
		return f.t.errno("truncate", f.t.pathOf(&f.path), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if errno := f.fits(size); errno != 0 {
		return errno
	}
	if f.size() == size {
		return 0
	}
	f.edit().truncate(int(size))
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
	note, doc, v := f.note, f.doc, f.latest
	f.mu.Unlock()
	if !note {
		return 0
	}
	if f.t.locked != nil {
		p, _ := f.t.where(f)
		return f.t.commitErrno("write", p, &model.Error{Op: "write", Path: p, Err: f.t.locked})
	}
	if v != nil && v.ReadOnly() {
		return syscall.EROFS
	}
	if doc == 0 {
		return 0
	}
	p, _ := f.t.where(f)
	info, err := f.t.ws.Stat(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return 0 // removed while it is open
	}
	if err != nil {
		return f.t.errno("write", p, err)
	}
	return f.t.refusal("write", p, info)
}

// refusal is the errno of a write to, or a creation in, what info describes. One
// and the same errno says that a Folder is offline, whether that is found out
// here or by the write itself.
func (t *tree) refusal(op string, p model.Path, info bridge.Info) syscall.Errno {
	switch {
	case info.Offline:
		return t.errno(op, p, &model.Error{Op: op, Path: p, Err: model.ErrOffline})
	case info.ReadOnly:
		return syscall.EROFS
	}
	return 0
}

// spoil is for a write that did not go in: what its program has written so far
// is half of something. mu is held.
func (f *File) spoil(why error) {
	if f.note && f.buf != nil {
		f.buf.spoiled = why
	}
}

// isSpoiled says that the buffer is half of something, which its program is told. mu
// is held.
func (f *File) isSpoiled() bool { return f.buf != nil && f.buf.spoiled != nil }

// fits says whether the content may be size bytes long, and accounts for it. mu
// is held.
func (f *File) fits(size int64) syscall.Errno {
	if f.note {
		if size > model.MaxNote {
			return syscall.EFBIG
		}
		return 0
	}
	if size > maxScratch {
		return syscall.EFBIG
	}
	more := size - f.charged
	if more > 0 && f.t.scratch.Load()+more > maxScratch {
		return syscall.ENOSPC
	}
	f.t.scratch.Add(more)
	f.charged = size
	return 0
}

// release gives back what the file was charged, when its name is gone or it is
// no longer scratch.
func (f *File) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.t.scratch.Add(-f.charged)
	f.charged = 0
}

// untouchedSince says that nobody has the file open or changed it since t.
func (f *File) untouchedSince(t time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.handles) == 0 && f.modTime().Before(t) && f.meta.ctime.Before(t)
}

// unlink makes f a file without a name: what has it open keeps it, as POSIX
// wants, and nothing of it is committed any more.
func (f *File) unlink() {
	f.mu.Lock()
	f.detach()
	f.unlinked = true
	f.mu.Unlock()
	f.release()
}

// supersede is unlink for a file whose name another inode has got, without the
// kernel's knowledge so far: who comes by that name is told to look it up again.
func (f *File) supersede() {
	f.unlink()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.superseded = true
}

func (f *File) isSuperseded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.superseded
}

// detach makes a note a scratch file with the content it shows. mu is held.
func (f *File) detach() {
	if !f.note {
		return
	}
	if f.buf == nil {
		f.superseded = f.superseded || f.asleep // its text is not known any more
		f.buf = &buffer{data: []byte(f.image.text), modTime: f.image.modTime}
	}
	f.note, f.doc = false, 0
	f.image, f.latest, f.madeFrom = image{}, nil, nil
	f.t.saved(f)
}

// saved and dirtied keep the list of notes that have a buffer.
func (t *tree) saved(f *File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.unsaved, f)
}

func (t *tree) dirtied(f *File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsaved[f] = struct{}{}
}
