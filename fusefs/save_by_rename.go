//go:build !windows

package fusefs

import (
	"context"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// adopt handles a save by rename: the inode of the scratch file becomes the note at the new name, and its content
// becomes the note's content.
func (m *move) adopt(ctx context.Context, f *File) syscall.Errno {
	p := m.newPath
	if err := model.CheckName(m.newName); err != nil {
		return m.errno.Of(ctx, "rename", p, err)
	}
	prog := m.programs.Of(ctx)
	if over, ok := m.dst.(*File); ok {
		switch {
		case over.isUnstoredOfOthers(&Handle{by: prog, writes: true}):
			if err := over.commitHeld(ctx, true); err != nil {
				return m.errno.Of(ctx, "rename", p, err)
			}
		case over.isDirtyBy(prog):
			_ = over.commitHeld(ctx, false) // an error belongs to the handle that wrote
		}
	}
	c, errno := m.saveOf(ctx, f)
	if errno != 0 {
		return errno
	}
	res, err := c.store(ctx)
	if err != nil {
		return m.errno.Of(ctx, "rename", p, err)
	}
	m.rebind(f, res.ID, prog)
	f.inherit(m.dst)
	latest, _ := m.ws.Open(ctx, m.newPath) // f gets the events of the note only now
	f.update(func(s *fileState) {
		s.text.SetLatest(latest)
		s.become(c, res)
	})
	c.giveMode(ctx)
	return 0
}

func (m *move) saveOf(ctx context.Context, f *File) (c *change, errno syscall.Errno) {
	if m.drained.Load() {
		return nil, syscall.EIO
	}
	if errno := m.creatable(ctx, m.newPath); errno != 0 {
		return nil, errno
	}
	from, doc, err := m.replaced(ctx)
	if err != nil {
		return nil, m.errno.Of(ctx, "rename", m.newPath, err)
	}
	f.update(func(s *fileState) {
		b := s.edit() // creates the buffer, because a note may have none
		c = s.change(m.where, doc, m.programs.Of(ctx), from, true)
		c.write.Sync = b.Gen > 0 && b.SyncedGen == b.Gen
	})
	return c, 0
}

// replaced returns the image and the ID of the note that the rename replaces. This is the note whose unlink is deferred
// at the name, or otherwise the present note. The results are zero if there is no note.
func (m *move) replaced(ctx context.Context) (from content.Image, doc uint64, err error) {
	if du := m.deferredAt(m.newPath); du != nil {
		return du.image, du.doc, nil
	}
	if over, ok := m.dst.(*File); ok {
		over.update(func(s *fileState) { doc = s.doc })
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

// rebind makes f the inode of the note at the new name, for a save by prog. The previous inodes of the note lose their
// name, except those through which a program may still write to the note.
func (m *move) rebind(f *File, doc uint64, prog program.Program) {
	m.from.layer().drop(m.name, f)
	f.update(func(s *fileState) { s.text.SetLatest(nil) }) // f may have been another note
	m.update(func(tb *tableState) {
		m.newPath, _ = m.where()
		tb.cancelUnlink(m.newPath)
		if tb.has(m.oldPath, f) { // f was a note itself
			tb.inos.drop(tb.nodes[m.oldPath].id)
			tb.forget(m.oldPath, f)
		}
		tb.inos.set(doc, f.StableAttr().Ino)
		f.moveTo(m.newPath)
		tb.put(m.newPath, f, doc)
	})
	m.to.layer().touch()
	former := m.takeReplaced(m.newPath)
	if over, ok := m.dst.(*File); ok {
		former = append(former, over)
	}
	for _, over := range former {
		over.replaceBySave(prog)
	}
	f.release()
}

// saveThroughLink handles a save by rename over a link to a file. The link stays, and its target gets the content, as
// if the program had followed the link. done reports whether the rename was such a save.
func (m *move) saveThroughLink(ctx context.Context, l *Link) (errno syscall.Errno, done bool) {
	f, ok := m.src.(*File)
	if !ok || f.lifeState().IsNote() {
		return 0, false
	}
	p, err := m.ws.Follow(m.newPath)
	if err != nil {
		return 0, false // the link is broken
	}
	at := *m
	if at.dst, at.newPath, err = m.lookup(ctx, p); err != nil {
		return m.errno.Of(ctx, "rename", p, err), true
	}
	defer m.holdCommits(f, at.dst)()
	switch at.dst.(type) {
	case *File:
		errno = at.saveAt(ctx, f, l)
	case *Attachment:
		errno = at.promoteToAttachment(ctx, f)
	default:
		return 0, false
	}
	m.entryChanged(m.newPath) // the kernel expects the scratch file there
	return errno, true
}

// saveAt saves the content of the scratch file f in the note at the new name. The note keeps its inode.
func (m *move) saveAt(ctx context.Context, f *File, origin any) syscall.Errno {
	c, errno := m.saveOf(ctx, f)
	if errno != 0 {
		return errno
	}
	c.write.Origin = origin
	if _, err := c.store(ctx); err != nil {
		return m.errno.Of(ctx, "rename", m.newPath, err)
	}
	m.unlinkSource(f)
	return 0
}

// promoteToAttachment handles a rename that turns a scratch file into an attachment of the workspace, such as the
// rename at the end of a download. The kernel must look up the name again.
func (m *move) promoteToAttachment(ctx context.Context, f *File) syscall.Errno {
	if errno := m.creatable(ctx, m.newPath); errno != 0 {
		return errno
	}
	var text string
	f.update(func(s *fileState) { text = s.text.String() })
	write := func() error {
		return m.ws.PutFile(ctx, m.newPath, []byte(text), fs.FileMode(f.permissions()&0o777), m.changeRequest(ctx))
	}
	if m.ws.WritesFiles() != nil {
		write = func() error { return m.proposeFile(ctx, []byte(text)) }
	}
	if err := m.replaceFile(ctx, write, nil); err != nil {
		return m.errno.Of(ctx, "rename", m.newPath, err)
	}
	m.unlinkSource(f)
	m.entryChanged(m.newPath)
	n, _, err := m.lookup(ctx, m.newPath)
	if a, ok := n.(*Attachment); ok {
		if m.dst == nil && m.ws.WritesFiles() == nil {
			a.setMadeIn(m.programs.Of(ctx).Run)
		}
		err = a.takeOver(ctx, f, text)
	}
	return m.errno.Of(ctx, "rename", m.newPath, err)
}

func (m *move) proposeFile(ctx context.Context, data []byte) error {
	_, err := m.ws.WriteFile(ctx, m.newPath, data, m.changeRequest(ctx))
	return err
}

// replaceFile calls write, which writes the file at the new name. If a is not nil, a becomes the inode of that name. The
// previous inode loses the name.
func (m *move) replaceFile(ctx context.Context, write func() error, a *Attachment) error {
	if err := write(); err != nil {
		return err
	}
	info, err := m.ws.Stat(ctx, m.newPath)
	if err != nil {
		return err
	}
	if m.dst != nil {
		m.dst.vanish()
	}
	m.update(func(tb *tableState) {
		tb.epoch++
		tb.cancelUnlink(m.newPath)
		tb.loseName(m.newPath)
		if a == nil {
			tb.inos.set(info.ID, tb.inos.next())
			return
		}
		tb.forget(m.oldPath, a)
		a.moveTo(m.newPath)
		tb.inos.set(info.ID, a.StableAttr().Ino)
		tb.put(m.newPath, a, info.ID)
	})
	return nil
}

// moveProposedOver handles a rename over a file by another file that exists only as a proposal. Such a rename is a
// save, like a rename of a scratch file. done reports whether the rename was such a save.
func (m *move) moveProposedOver(ctx context.Context, a *Attachment) (errno syscall.Errno, done bool) {
	if _, ok := m.dst.(*Attachment); !ok || !m.ws.IsProposed(m.oldPath) {
		return 0, false
	}
	data, err := m.ws.ReadFile(ctx, m.oldPath, model.MaxNote)
	if err == nil {
		err = m.replaceFile(ctx, func() error { return m.proposeFile(ctx, data) }, a)
	}
	if err != nil {
		return m.errno.OfSave(ctx, "rename", m.newPath, err), true
	}
	m.retractFile(ctx, data)
	return 0, true
}

// retractFile removes the source of a rename over another file, after the other file got the content of the source.
func (m *move) retractFile(ctx context.Context, data []byte) {
	if err := m.ws.RetractFile(ctx, m.oldPath, data, m.changeRequest(ctx)); err != nil {
		m.log.Warn("a file that was renamed over another file was not removed: delete it if you do not need it", model.LogPath, string(m.oldPath), model.LogErr, err)
	}
}

// moveFileAway handles a program that renames a file to make a backup of it, as moveAway does for a note. The backup is
// a scratch file with the same content.
func (m *move) moveFileAway(ctx context.Context, a *Attachment) syscall.Errno {
	info, err := m.ws.Stat(ctx, m.oldPath)
	var data []byte
	if err == nil {
		data, err = m.ws.ReadFile(ctx, m.oldPath, model.MaxNote)
	}
	var f *File
	if err == nil {
		f, err = m.to.createScratch(ctx, m.newName, a.permissions())
	}
	if err != nil {
		return m.errno.OfSave(ctx, "rename", m.oldPath, err)
	}
	f.update(func(s *fileState) {
		s.text = content.WrittenText(&content.Buffer{Data: data, Gen: 1, ModTime: info.ModTime})
		_ = s.fits(int64(len(data))) // the backup may exceed the scratch quota, as in deferUnlink
	})
	if over, ok := m.dst.(*File); ok {
		over.loseName(evUnlink)
	}
	target := m.newPath
	if strings.HasPrefix(m.newName, ".") { // a hidden file in the vault would no longer be served
		target = ""
	}
	du := &deferredUnlink{doc: info.ID, target: target, why: whyRenamed, by: m.changeRequest(ctx), proc: m.programs.Of(ctx), backup: f}
	m.update(func(tb *tableState) {
		tb.loseName(m.oldPath)
		m.deferAt(tb, m.oldPath, du)
	})
	if m.newPath != "" {
		m.entryChanged(m.newPath) // the kernel expects the moved file there
	}
	return 0
}

// moveMadeOver handles a save that renames a file to the name of a note. The file is not a note; the same run has
// created it in the workspace, or it was created on this mount and is only proposed. The workspace accepts such files,
// because at first nothing shows that they are temporary. The file is removed after its content is durable in the note.
// done reports whether the rename was such a save.
func (m *move) moveMadeOver(ctx context.Context, a *Attachment) (errno syscall.Errno, done bool) {
	if !m.newPath.IsNote() {
		return 0, false
	}
	if isMade := m.ws.NoteID(m.newPath) != 0 && a.isMadeIn(m.programs.Of(ctx).Run); !isMade && !(a.madeIn.PID != 0 && m.ws.IsProposed(m.oldPath)) {
		return 0, false
	}
	data, err := m.ws.ReadFile(ctx, m.oldPath, model.MaxNote)
	if err != nil {
		return m.errno.Of(ctx, "rename", m.oldPath, err), true
	}
	f, err := m.from.(*Dir).createScratch(ctx, m.name, a.permissions())
	if err != nil {
		return m.errno.Of(ctx, "rename", m.oldPath, err), true
	}
	f.update(func(s *fileState) {
		s.text = content.WrittenText(&content.Buffer{Data: data, Gen: 1, ModTime: time.Now()})
	})
	if errno := m.adopt(ctx, f); errno != 0 {
		m.from.layer().drop(m.name, f)
		return errno, true
	}
	if err := m.ws.Sync(ctx, m.newPath); err != nil {
		m.log.Warn("a file that was renamed over a note was not removed: delete it if you do not need it", model.LogPath, string(m.oldPath), model.LogErr, err)
	} else {
		m.retractFile(ctx, data)
	}
	m.entryChanged(m.newPath) // the kernel expects the moved file there
	return 0, true
}

func (a *Attachment) setMadeIn(run program.Identity) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.madeIn = run
}

func (a *Attachment) isMadeIn(run program.Identity) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return run.PID != 0 && a.madeIn == run
}

// `sort Note.md > new.md && mv new.md Note.md` is a save of Note.md, as with a temporary name. But a new file with a
// note's name is a note, and until the rename this note does not look temporary. If by then only the creator of the new
// note has changed it (see bridge.UntouchedNote), or if the workspace does not have the new note yet, the inode of the
// new note becomes the inode of the replaced note, as the inode of a scratch file does. The new note itself is then
// removed without a trace.
//
// The new content is durable in the replaced note before the temporary note is removed. If relayfs crashes in between,
// or another writer changes the temporary note, both notes remain.

// replaceWithNew handles a rename of an untouched note over another note. done is false if the rename was a
// different one.
func (m *move) replaceWithNew(ctx context.Context, f *File) (errno syscall.Errno, done bool) {
	if !m.newPath.IsNote() || m.ws.NoteID(m.newPath) == 0 {
		return 0, false
	}
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return 0, false
	}
	fresh, ok := m.untouchedAt(ctx, f)
	if !ok {
		return 0, false
	}
	if errno := m.adopt(ctx, f); errno != 0 {
		f.update((*fileState).releaseClean)
		return errno, true
	}
	if fresh != nil {
		m.retract(ctx, fresh)
	}
	if _, err := m.ws.Stat(ctx, m.oldPath); err == nil {
		m.entryChanged(m.oldPath) // another writer has created a note at the old name, or has changed the moved note
	}
	return 0, true
}

// untouchedAt reports whether f, the note at the old name, may become another note's new content. fresh is the
// workspace's note of f, or nil.
func (m *move) untouchedAt(ctx context.Context, f *File) (fresh *bridge.UntouchedNote, ok bool) {
	var from content.Image
	var unstored, failed bool
	f.update(func(s *fileState) {
		s.text.Show()
		b := s.text.Buffer()
		from, unstored, failed = s.text.Base(), s.doc == 0, b != nil && b.WriteErr != nil
	})
	if unstored || failed {
		return nil, !failed
	}
	fresh, ok = m.ws.FindUntouched(ctx, m.oldPath, m.isMounts)
	return fresh, ok && (fresh.Text() == from.Text || from.Form && fresh.Text() == from.Version.Text())
}

func (m *move) retract(ctx context.Context, fresh *bridge.UntouchedNote) {
	err := m.ws.Sync(ctx, m.newPath) // the content must be durable, because the other note with it is removed next
	if err == nil {
		err = fresh.Retract(ctx, m.tree)
	}
	if err != nil {
		m.log.Warn("a note that was renamed over another note was not removed: delete it if you do not need it", model.LogPath, string(m.oldPath), model.LogErr, err)
	}
}
