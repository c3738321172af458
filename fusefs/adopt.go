//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
)

// adopt is a save by rename: the scratch file becomes the note at the new name,
// with its inode, and its content is the note's new content.
func (m *move) adopt(ctx context.Context, f *File) syscall.Errno {
	p := m.newPath
	if err := model.CheckName(m.newName); err != nil {
		return m.errno.Of("rename", p, err)
	}
	c, errno := m.saveOf(ctx, f)
	if errno != 0 {
		return errno
	}
	f.adopted.Store(true)
	defer f.adopted.Store(false)
	res, doc, err := c.store(ctx)
	if err != nil {
		return m.errno.Of("rename", p, err)
	}
	m.rebind(f, doc)
	f.inherit(m.dst)
	c.become(doc, res)
	c.giveMode(ctx)
	return 0
}

// saveOf is the change that f, renamed over a note or to a new one's name, makes.
func (m *move) saveOf(ctx context.Context, f *File) (*change, syscall.Errno) {
	if m.ended.Load() {
		return nil, syscall.EIO
	}
	if errno := m.creatable(ctx, m.newPath); errno != 0 {
		return nil, errno
	}
	from, doc, err := m.replaced(ctx)
	if err != nil {
		return nil, m.errno.Of("rename", m.newPath, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.edit() // a note may have no buffer
	c := newChange(f, m.newPath, doc, m.procs.Of(ctx), from, true, true)
	b := f.text.Buffer()
	c.write.Sync = b.Gen > 0 && b.Synced == b.Gen
	return c, 0
}

// replaced is the state of the note that the rename replaces, and its ID: the
// one that is parked at the name, or the one that is there.
func (m *move) replaced(ctx context.Context) (from content.Image, doc uint64, err error) {
	if pk := m.parkedAt(m.newPath); pk != nil {
		return pk.image, pk.doc, nil
	}
	if over, ok := m.dst.(*File); ok {
		over.mu.Lock()
		doc = over.doc
		over.mu.Unlock()
	}
	if doc == 0 {
		return content.Image{}, 0, nil
	}
	v, err := m.ws.Open(ctx, m.newPath)
	if err != nil {
		return content.Image{}, 0, err
	}
	return content.ImageOf(v), doc, nil
}

// rebind makes f the inode of the note at the new name. The inode that was there
// goes on without a name.
func (m *move) rebind(f *File, doc uint64) {
	m.mu.Lock()
	m.unpark(m.newPath)
	m.from.layer().drop(m.name)
	if k := m.nodes[m.oldPath]; k != nil && k.node == f { // it was a note itself
		m.inos.Drop(k.id)
		m.forget(m.oldPath, f)
	}
	m.inos.Set(doc, f.StableAttr().Ino)
	f.path = m.newPath
	m.put(m.newPath, f, doc)
	m.to.layer().touch()
	m.mu.Unlock()
	if over, ok := m.dst.(*File); ok {
		over.lose(life.Unlink)
	}
	m.unlinkRetired(m.newPath)
	f.release()
}

// saveThrough is a save by rename over a link to a file, which stays: what the link
// leads to gets the content, as if the program had followed it. done says whether it
// is one.
func (m *move) saveThrough(ctx context.Context, l *Link) (errno syscall.Errno, done bool) {
	f, ok := m.src.(*File)
	if !ok || f.state().IsNote() {
		return 0, false
	}
	p, err := m.ws.Follow(m.newPath)
	if err != nil {
		return 0, false // it leads nowhere
	}
	at := *m
	if at.dst, at.newPath, err = m.lookup(ctx, p); err != nil {
		return m.errno.Of("rename", p, err), true
	}
	defer m.holdCommits(f, at.dst)()
	switch at.dst.(type) {
	case *File:
		errno = at.saveAt(ctx, f, l)
	case *Attachment:
		errno = at.export(ctx, f)
	default:
		return 0, false
	}
	m.entryChanged(m.newPath) // the kernel has the file there
	return errno, true
}

// saveAt makes the content of the scratch file f that of the note at the new name,
// whose inode stays.
func (m *move) saveAt(ctx context.Context, f *File, origin any) syscall.Errno {
	c, errno := m.saveOf(ctx, f)
	if errno != 0 {
		return errno
	}
	c.write.Origin = origin
	if _, _, err := c.store(ctx); err != nil {
		return m.errno.Of("rename", m.newPath, err)
	}
	m.unlinkSource(f)
	return 0
}

// export makes a scratch file an attachment of the workspace, as a download is
// finished by renaming it. The kernel is told to look the name up again.
func (m *move) export(ctx context.Context, f *File) syscall.Errno {
	if errno := m.creatable(ctx, m.newPath); errno != 0 {
		return errno
	}
	f.mu.Lock()
	text, mode := f.text.String(), f.meta.mode
	f.mu.Unlock()
	var err error
	if m.dst != nil {
		err = m.putFile(ctx, text, mode)
	} else {
		err = m.makeFile(ctx, text, mode)
	}
	if err != nil {
		return m.errno.Of("rename", m.newPath, err)
	}
	m.unlinkSource(f)
	m.entryChanged(m.newPath)
	made, _, err := m.lookup(ctx, m.newPath)
	if a, ok := made.(*Attachment); ok {
		err = a.takeOver(ctx, f, text)
	}
	return m.errno.Of("rename", m.newPath, err)
}

// putFile puts a new file that is not a note in the place of one that is there. The old
// inode goes on without a name.
func (m *move) putFile(ctx context.Context, text string, mode uint32) error {
	p := m.newPath
	info, err := m.ws.Stat(ctx, p)
	if err == nil {
		err = m.ws.PutFile(p, []byte(text), fs.FileMode(mode&0o777), m.restructuring(ctx))
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	m.lose(p)
	m.inos.Set(info.ID, m.inos.Next())
	return nil
}

// makeFile makes a file that is not a note where nothing is, durably.
func (m *move) makeFile(ctx context.Context, text string, mode uint32) error {
	d, ok := m.to.(*Dir)
	if !ok {
		return syscall.EXDEV
	}
	n, err := d.createAttachment(ctx, m.newPath, mode)
	if err != nil {
		return err
	}
	info, err := m.writeFile(ctx, text)
	if err != nil {
		return err
	}
	if made, ok := n.(*Attachment); ok {
		made.wrote(info)
	}
	return nil
}

// writeFile writes a file of the workspace that is not a note, durably.
func (m *move) writeFile(ctx context.Context, text string) (fs.FileInfo, error) {
	file, err := m.ws.OpenFile(ctx, m.newPath, os.O_WRONLY|os.O_TRUNC)
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
