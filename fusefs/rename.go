//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// Flags of renameat2(2).
const (
	renameNoReplace = 1
	renameExchange  = 2
)

// move is one rename on its way.
type move struct {
	from    folder
	name    string
	src     node
	to      folder
	newName string
	dst     node       // what is there, nil if nothing is
	oldPath model.Path // "" in a scratch folder
	newPath model.Path
}

func (d *Dir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return d.t.rename(ctx, d, name, newParent, newName, flags)
}

func (d *ScratchDir) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return d.t.rename(ctx, d, name, newParent, newName, flags)
}

// rename does what a rename means here: a save, of scratch or of a fresh note over
// a note; a note moved away by an editor; a move of scratch; or a change of the
// workspace's structure.
func (t *tree) rename(ctx context.Context, from folder, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := newParent.(folder)
	if !ok || flags != 0 && flags != renameNoReplace && flags != renameExchange {
		return syscall.EINVAL
	}
	ctx = context.WithoutCancel(ctx) // as on a disk, a signal interrupts nothing here
	defer t.inval.names.begin(from, to)()
	m := &move{from: from, name: name, to: to, newName: newName}
	var err error
	if m.src, m.oldPath, err = t.childOf(ctx, from, name); err != nil {
		return t.errno("rename", m.oldPath, err)
	}
	m.dst, m.newPath, err = t.childOf(ctx, to, newName)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return t.errno("rename", m.newPath, err)
	case m.dst != nil && flags == renameNoReplace:
		return syscall.EEXIST
	case m.dst == nil && flags == renameExchange:
		return syscall.ENOENT
	case m.dst == m.src:
		return 0
	case flags == renameExchange && !t.exchangeable(m):
		return syscall.EINVAL
	}
	if l, ok := m.dst.(*Link); ok && flags == 0 {
		if errno, done := t.saveThrough(ctx, m, l); done {
			return errno
		}
	}
	defer t.holdCommits(m.src, m.dst)()
	if flags == renameExchange {
		return t.exchange(ctx, m)
	}
	if over, ok := m.dst.(*File); ok {
		// Who is about to open it by the name that it loses finds its content there.
		_ = over.pin(ctx) // what cannot be read has none
		defer over.unpin()
	}
	return t.do(ctx, m)
}

// childOf finds a name, and its path as the workspace spells it.
func (t *tree) childOf(ctx context.Context, dir folder, name string) (node, model.Path, error) {
	if d, ok := dir.(*Dir); ok {
		return d.child(ctx, name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := dir.names().get(name); n != nil {
		return n, "", nil
	}
	return nil, "", syscall.ENOENT
}

func (t *tree) do(ctx context.Context, m *move) syscall.Errno {
	if m.dst == nil {
		if err := model.CheckNewName(m.newName); err != nil {
			return t.errno("rename", m.oldPath, err)
		}
	}
	scratch := t.isScratchAt(m.to, m.newName) || t.holds(m.to, m.newName)
	switch src := m.src.(type) {
	case *File:
		switch {
		case src.isNote() && (scratch || isBackupOf(m.newName, m.name)):
			return t.moveAway(ctx, m, src)
		case src.isNote():
			return t.moveNote(ctx, m, src)
		case scratch:
			return t.moveScratch(m)
		case m.newPath.IsNote():
			return t.adopt(ctx, m, src)
		}
		return t.export(ctx, m, src)
	case *ScratchLink, *ScratchDir:
		if !scratch {
			return syscall.EXDEV // mv then copies it
		}
		return t.moveScratch(m)
	}
	return t.moveReal(ctx, m)
}

func (f *File) isNote() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.note
}

// holds says whether a scratch node has this name in dir.
func (t *tree) holds(dir folder, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return dir.names().get(name) != nil
}

// moveScratch moves a node within the scratch layer.
func (t *tree) moveScratch(m *move) syscall.Errno {
	t.mu.Lock()
	if over, ok := m.dst.(*ScratchDir); ok {
		if len(over.overlay.entries) > 0 {
			t.mu.Unlock()
			return syscall.ENOTEMPTY
		}
		over.removed = true
	}
	t.place(m)
	t.mu.Unlock()
	if over, ok := m.dst.(*File); ok && !over.isNote() {
		over.unlink()
	}
	return 0
}

// place gives src its new name in the scratch layer. mu is held.
func (t *tree) place(m *move) {
	m.from.names().drop(m.name)
	m.to.names().put(m.newName, m.src)
	m.from.touchLocked()
	m.to.touchLocked()
}

// moveAway is an editor that makes a backup of the note by renaming it.
func (t *tree) moveAway(ctx context.Context, m *move, f *File) syscall.Errno {
	if err := f.commitHeld(ctx, false); err != nil {
		return t.errno("rename", m.oldPath, err)
	}
	f.mu.Lock()
	unborn := f.doc == 0
	f.mu.Unlock()
	if unborn {
		t.mu.Lock()
		t.forget(m.oldPath, f)
		t.mu.Unlock()
		f.mu.Lock()
		f.detach()
		f.mu.Unlock()
	} else if err := t.park(ctx, m.oldPath, f, m.newPath, whyRenamed); err != nil {
		return t.errno("rename", m.oldPath, err)
	}
	return t.moveScratch(m)
}

// moveNote renames a note to another note's name, or to something that is none.
func (t *tree) moveNote(ctx context.Context, m *move, f *File) syscall.Errno {
	if errno, done := t.moveOver(ctx, m, f); done {
		return errno
	}
	if err := f.commitHeld(ctx, true); err != nil {
		return t.errno("rename", m.oldPath, err)
	}
	return t.moveReal(ctx, m)
}

// restructuring is how the process behind a request changes names.
func (t *tree) restructuring(ctx context.Context) bridge.Restructure {
	return bridge.Restructure{By: t.authorOf(t.procs.of(ctx)), Origin: t}
}

// moveReal changes the workspace, if its policy lets it.
func (t *tree) moveReal(ctx context.Context, m *move) syscall.Errno {
	if m.newPath == "" {
		return syscall.EXDEV
	}
	if err := model.CheckName(m.newName); err != nil {
		return t.errno("rename", m.newPath, err)
	}
	if err := t.replaceFolder(ctx, m); err != nil {
		return t.errno("rename", m.newPath, err)
	}
	if done, err := t.giveWay(ctx, m); done {
		return t.errno("rename", m.oldPath, err)
	}
	t.vacate(ctx, m.newPath)
	o := t.restructuring(ctx)
	o.Replace = m.dst != nil
	if _, err := t.ws.Rename(ctx, m.oldPath, m.newPath, o); err != nil {
		return t.errno("rename", m.oldPath, err)
	}
	if over, ok := m.dst.(*File); ok {
		over.unlink()
	}
	return 0
}

// replaceFolder removes an empty folder that a folder is renamed over.
func (t *tree) replaceFolder(ctx context.Context, m *move) error {
	over, ok := m.dst.(*Dir)
	if _, isDir := m.src.(*Dir); !ok || !isDir {
		return nil
	}
	from, _ := m.oldPath.Split()
	if to, _ := m.newPath.Split(); from != to {
		return syscall.EXDEV // before anything goes
	}
	if err := t.removeFolder(ctx, m.newPath, over); err != nil {
		return err
	}
	m.dst = nil
	return nil
}

// adopt is a save by rename: the scratch file becomes the note at the new name,
// with its inode, and its content is the note's new content.
func (t *tree) adopt(ctx context.Context, m *move, f *File) syscall.Errno {
	p := m.newPath
	if err := model.CheckName(m.newName); err != nil {
		return t.errno("rename", p, err)
	}
	if t.ended.Load() {
		return syscall.EIO
	}
	if errno := t.creatable(ctx, p); errno != 0 {
		return errno
	}
	c, err := t.saveOf(ctx, m, f)
	if err != nil {
		return t.errno("rename", p, err)
	}
	t.setAdopting(p, f)
	defer t.setAdopting(p, nil)
	res, doc, err := t.store(ctx, p, c.doc, c.write)
	if err != nil {
		return t.errno("rename", p, err)
	}
	t.rebind(m, f, doc)
	f.inherit(m.dst)
	f.become(c, doc, res)
	f.giveMode(ctx, p)
	return 0
}

// setAdopting says that f is about to become the inode at p, which therefore is
// not to be told of f's save; nil ends that.
func (t *tree) setAdopting(p model.Path, f *File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f == nil {
		delete(t.adopting, p)
		return
	}
	t.adopting[p] = f
}

// saveOf is the change that f, renamed over a note or to a new one's name, makes.
func (t *tree) saveOf(ctx context.Context, m *move, f *File) (change, error) {
	c := change{path: m.newPath, by: t.procs.of(ctx)}
	from, err := t.replacedBy(ctx, m, &c.doc)
	if err != nil {
		return c, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.buf, c.gen, c.text = f.buf, f.buf.gen, f.content()
	c.write = t.writeOf(c.doc, c.by, from, true, true, c.text)
	c.write.ModTime, c.write.Origin = f.buf.modTime, f
	return c, nil
}

// replacedBy is the state of the note that the rename replaces, and its ID: the
// one that is parked at the name, or the one that is there.
func (t *tree) replacedBy(ctx context.Context, m *move, doc *uint64) (image, error) {
	t.mu.Lock()
	if pk := t.parked[m.newPath]; pk != nil {
		defer t.mu.Unlock()
		*doc = pk.doc
		return pk.image, nil
	}
	t.mu.Unlock()
	over, ok := m.dst.(*File)
	if !ok {
		return image{}, nil
	}
	over.mu.Lock()
	*doc = over.doc
	over.mu.Unlock()
	if *doc == 0 {
		return image{}, nil
	}
	v, err := t.ws.Open(ctx, m.newPath)
	if err != nil {
		return image{}, err
	}
	return image{v.Text(), v.ModTime(), v}, nil
}

// rebind makes f the inode of the note at the new name. The inode that was there
// goes on without a name.
func (t *tree) rebind(m *move, f *File, doc uint64) {
	t.mu.Lock()
	t.unpark(m.newPath)
	m.from.names().drop(m.name)
	if k := t.nodes[m.oldPath]; k != nil && k.node == f { // it was a note itself
		t.dropIno(k.id)
		t.forget(m.oldPath, f)
	}
	t.setIno(doc, f.StableAttr().Ino)
	f.path = m.newPath
	t.put(m.newPath, f, doc)
	m.from.touchLocked()
	m.to.touchLocked()
	t.mu.Unlock()
	if over, ok := m.dst.(*File); ok {
		over.unlink()
	}
	t.unlinkRetired(m.newPath)
	f.release()
}

// become turns a scratch file into the note that its content was committed to.
func (f *File) become(c change, doc uint64, res bridge.Result) {
	f.t.dirtied(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note, f.doc, f.latest = true, doc, res.Version
	wrote := f.written(c, res)
	f.image = wrote
	f.t.shown.wrote(doc, c.by, wrote)
	f.keepName()
	f.buf.from, f.buf.kept, f.buf.first = wrote, c.gen, false
	if f.buf.dirty() {
		f.arm(quiet)
	}
	f.settle()
}

// export makes a scratch file an attachment of the workspace, as a download is
// finished by renaming it. The kernel is told to look the name up again.
func (t *tree) export(ctx context.Context, m *move, f *File) syscall.Errno {
	if errno := t.creatable(ctx, m.newPath); errno != 0 {
		return errno
	}
	f.mu.Lock()
	text, mode := f.content(), f.meta.mode
	f.mu.Unlock()
	var err error
	if m.dst != nil {
		err = t.putFile(ctx, m.newPath, text, mode)
	} else {
		err = t.makeFile(ctx, m, text, mode)
	}
	if err != nil {
		return t.errno("rename", m.newPath, err)
	}
	t.mu.Lock()
	m.from.names().drop(m.name)
	m.from.touchLocked()
	t.mu.Unlock()
	f.supersede()
	t.entryChanged(m.newPath)
	made, _, err := t.lookup(ctx, m.newPath)
	if a, ok := made.(*Attachment); ok {
		err = a.takeOver(ctx, f, text)
	}
	return t.errno("rename", m.newPath, err)
}

// putFile puts a new file that is not a note in the place of one that is there. The old
// inode goes on without a name.
func (t *tree) putFile(ctx context.Context, p model.Path, text string, mode uint32) error {
	info, err := t.ws.Stat(ctx, p)
	if err == nil {
		err = t.ws.PutFile(p, []byte(text), fs.FileMode(mode&0o777), t.restructuring(ctx))
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	t.lose(p)
	t.setIno(info.ID, t.newIno())
	return nil
}

// makeFile makes a file that is not a note where nothing is, durably.
func (t *tree) makeFile(ctx context.Context, m *move, text string, mode uint32) error {
	d, ok := m.to.(*Dir)
	if !ok {
		return syscall.EXDEV
	}
	n, err := t.createAttachment(ctx, d, m.newPath, mode)
	if err != nil {
		return err
	}
	info, err := t.writeFile(ctx, m.newPath, text)
	if err != nil {
		return err
	}
	if made, ok := n.(*Attachment); ok {
		made.wrote(info)
	}
	return nil
}

// writeFile writes a file of the workspace that is not a note, durably.
func (t *tree) writeFile(ctx context.Context, p model.Path, text string) (fs.FileInfo, error) {
	file, err := t.ws.OpenFile(ctx, p, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	_, err = file.WriteAt([]byte(text), 0)
	if err == nil {
		err = file.Sync()
	}
	info, statErr := file.Stat()
	return info, errors.Join(err, statErr, file.Close())
}
