//go:build !windows

package fusefs

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// The scratch layer has files, folders and symbolic links in memory. Only this mount shows these files, in the
// workspace's folders.

type overlay struct {
	common
	entries
	listing listing
}

func (o *overlay) folder() folder { return o.Operations().(folder) }

func isScratchAt(dir folder, name string) bool { return !dir.inWorkspace() || isScratchName(name) }

func holdsScratch(n node) bool {
	d, ok := n.(folder)
	return ok && len(d.layer().all()) > 0
}

func (o *overlay) addScratch(ctx context.Context, name string, n node, mode uint32, out *fuse.Attr) error {
	if err := model.CheckNewName(name); err != nil {
		return err
	}
	var ino uint64
	o.t.update(func(tb *tableState) { ino = tb.inos.next() })
	o.t.attach(n, mode, ino)
	o.put(name, n)
	return n.attr(ctx, out)
}

func (o *overlay) createScratch(ctx context.Context, name string, mode uint32) (*File, error) {
	f := o.t.newFile(mode & 0o7777)
	f.update(func(s *fileState) { s.text = content.WrittenText(&content.Buffer{ModTime: time.Now()}) })
	return f, o.addScratch(ctx, name, f, syscall.S_IFREG, new(fuse.Attr))
}

// reportLeft reports that a file of this name cannot be created. A program may create a file under any name and rename
// it over a note in order to save that note. So reportLeft waits until it is clear that the file is not part of a save.
// The file then stays an ordinary scratch file.
func (o *overlay) reportLeft(name string, f *File, prog program.Program, err error) {
	time.AfterFunc(unlinkGrace, func() {
		switch {
		case o.get(name) != f || f.lifeState().IsNote():
		case f.untouchedSince(time.Now().Add(-unlinkGrace)):
			o.t.errno.OfSaveBy(prog, "create", o.path().Join(name), err)
		default:
			o.reportLeft(name, f, prog, err)
		}
	})
}

func (o *overlay) unlinkScratch(name string) (errno syscall.Errno, done bool) {
	n := o.get(name)
	if _, isDir := n.(*ScratchDir); n == nil || isDir {
		return syscall.EISDIR, n != nil
	}
	o.drop(name, n)
	if f, ok := n.(*File); ok {
		f.loseName(evUnlink)
	}
	return 0, true
}

// ScratchDir is a folder of the scratch layer. Everything in it is scratch.
type ScratchDir struct{ overlay }

func (*ScratchDir) inWorkspace() bool { return false }

func (d *ScratchDir) attr(_ context.Context, out *fuse.Attr) error {
	changed, removed := d.state()
	nlink := uint32(2)
	if removed {
		nlink = 0
	}
	d.fill(out, d.EmbeddedInode(), 4096, changed, nlink)
	return nil
}

func (d *ScratchDir) list(context.Context) ([]fuse.DirEntry, syscall.Errno) {
	return d.dirEntries(), 0
}

func (d *ScratchDir) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

func (d *ScratchDir) create(ctx context.Context, name string, p model.Path, mode uint32) (node, syscall.Errno) {
	f, err := d.createScratch(ctx, name, mode)
	return f, d.t.errno.Of(ctx, "create", p, err)
}

func (d *ScratchDir) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return d.mkScratchDir(ctx, name, mode, out)
}

func (o *overlay) mkScratchDir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	d := &ScratchDir{overlay{common: o.t.newCommon(mode & 0o7777)}}
	d.touch()
	err := o.addScratch(ctx, name, d, syscall.S_IFDIR, &out.Attr)
	return d.EmbeddedInode(), o.t.errno.Of(ctx, "mkdir", model.Path(name), err)
}
