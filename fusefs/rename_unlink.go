//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// renameNoReplace is a flag of renameat2(2).
const renameNoReplace = 1

type move struct {
	*tree
	from    folder
	name    string
	src     node
	to      folder
	newName string
	dst     node       // the node at newName, or nil
	oldPath model.Path // "" if the source is in a scratch folder
	newPath model.Path
}

// where returns the present path of the new name, because a user may have moved the note that has it, or its folder.
func (m *move) where() (p model.Path, there bool) {
	if over, ok := m.dst.(*File); ok {
		return over.where()
	}
	return m.to.path().Join(m.newPath.Base()), true
}

// unlinkSource removes the name of the scratch file f. Another inode has the new name, so an open of f by that name
// must fail with ESTALE.
func (m *move) unlinkSource(f *File) {
	m.from.layer().drop(m.name, f)
	f.loseName(evUnlinkStale)
}

// Rename handles all kinds of renames, such as a save that moves a scratch file or an untouched note over a note, an
// editor that moves a note away, a move within the scratch layer, and a rename in the workspace. It refuses to exchange
// two names in one call (RENAME_EXCHANGE), as many file systems do; three renames exchange them (exchangeDeferred).
func (o *overlay) Rename(ctx context.Context, name string, newParent gofs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := newParent.(folder)
	if !ok || flags != 0 && flags != renameNoReplace {
		return syscall.EINVAL
	}
	t, from := o.t, o.folder()
	ctx = context.WithoutCancel(ctx) // as on a disk, a signal does not interrupt a rename
	m := &move{tree: t, from: from, name: name, to: to, newName: newName}
	var err error
	if m.src, m.oldPath, err = from.child(ctx, name); err != nil {
		return t.errno.Of(ctx, "rename", m.oldPath, err)
	}
	m.dst, m.newPath, err = to.child(ctx, newName)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return t.errno.Of(ctx, "rename", m.newPath, err)
	case m.dst != nil && flags == renameNoReplace:
		return syscall.EEXIST
	case m.dst == m.src:
		return 0
	}
	if m.dst == nil {
		t.putBack(ctx, m.newPath)
	}
	if l, ok := m.dst.(*Link); ok {
		if errno, done := m.saveThroughLink(ctx, l); done {
			return errno
		}
	}
	defer t.holdCommits(m.src, m.dst)()
	if over, ok := m.dst.(*File); ok {
		// A program that is about to open the replaced file must still find its content.
		_ = over.pin(ctx) // an error means that the file cannot be read anyway
		defer over.unpin()
	}
	return m.do(ctx)
}

func (m *move) do(ctx context.Context) syscall.Errno {
	if m.dst == nil {
		if err := model.CheckNewName(m.newName); err != nil {
			return m.errno.Of(ctx, "rename", m.oldPath, err)
		}
	}
	toScratch := isScratchAt(m.to, m.newName) || m.to.layer().get(m.newName) != nil
	switch src := m.src.(type) {
	case *File:
		note := src.lifeState().IsNote()
		switch {
		case note && (toScratch || isBackupOf(m.newName, m.name)):
			return m.moveAway(ctx, src)
		case note:
			return m.moveNote(ctx, src)
		case toScratch:
			return m.moveScratch()
		case m.newPath.IsNote():
			return m.adopt(ctx, src)
		}
		return m.promoteToAttachment(ctx, src)
	case *Attachment:
		if d := src.shared(); d != nil {
			if err := src.commitHeld(ctx, d); err != nil {
				return m.errno.OfSave(ctx, "rename", m.oldPath, err)
			}
		}
		if errno, done := m.moveMadeOver(ctx, src); done {
			return errno
		}
		if m.ws.WritesFiles() != nil && toScratch {
			return m.moveFileAway(ctx, src)
		}
		if errno, done := m.moveProposedOver(ctx, src); done {
			return errno
		}
	case *ScratchLink, *ScratchDir:
		if !toScratch {
			return syscall.EXDEV // mv then copies the file
		}
		return m.moveScratch()
	}
	return m.renameInWorkspace(ctx)
}

func (m *move) moveScratch() syscall.Errno {
	if over, ok := m.dst.(*ScratchDir); ok && !over.close() {
		return syscall.ENOTEMPTY
	}
	m.from.layer().drop(m.name, m.src)
	m.to.layer().put(m.newName, m.src)
	if over, ok := m.dst.(*File); ok && !over.lifeState().IsNote() {
		over.loseName(evUnlink)
	}
	return 0
}

func (m *move) moveAway(ctx context.Context, f *File) syscall.Errno {
	err := f.commitHeld(ctx, false)
	switch {
	case err != nil:
	case !f.isStored():
		m.remove(f)
		f.update(func(s *fileState) { s.detach(evBecomeScratch) })
	default:
		err = m.deferUnlink(ctx, m.oldPath, f, m.newPath, whyRenamed)
	}
	if err != nil {
		return m.errno.Of(ctx, "rename", m.oldPath, err)
	}
	return m.moveScratch()
}

// moveNote renames a note that does not become a scratch file. The new name may belong to another note.
func (m *move) moveNote(ctx context.Context, f *File) syscall.Errno {
	if errno, done := m.replaceWithNew(ctx, f); done {
		return errno
	}
	if err := f.commitHeld(ctx, true); err != nil {
		return m.errno.Of(ctx, "rename", m.oldPath, err)
	}
	return m.renameInWorkspace(ctx)
}

func (m *move) renameInWorkspace(ctx context.Context) syscall.Errno {
	if m.newPath == "" {
		return syscall.EXDEV
	}
	if err := model.CheckName(m.newName); err != nil {
		return m.errno.Of(ctx, "rename", m.newPath, err)
	}
	if err := m.replaceFolder(ctx); err != nil {
		return m.errno.Of(ctx, "rename", m.newPath, err)
	}
	if done, err := m.exchangeDeferred(ctx); done {
		return m.errno.Of(ctx, "rename", m.oldPath, err)
	}
	m.dropDeferred(ctx, m.newPath)
	o := m.changeRequest(ctx)
	o.Replace = m.dst != nil
	if _, err := m.ws.Rename(ctx, m.oldPath, m.newPath, o); err != nil {
		return m.errno.Of(ctx, "rename", m.oldPath, err)
	}
	if over, ok := m.dst.(*File); ok {
		over.loseName(evUnlink)
	}
	return 0
}

func (m *move) replaceFolder(ctx context.Context) error {
	over, ok := m.dst.(*Dir)
	if _, isDir := m.src.(*Dir); !ok || !isDir {
		return nil
	}
	from, _ := m.oldPath.Split()
	if to, _ := m.newPath.Split(); from != to {
		return syscall.EXDEV // fail before anything is removed
	}
	if err := over.remove(ctx, m.newPath); err != nil {
		return err
	}
	m.dst = nil
	return nil
}

// exchangeDeferred exchanges the names of the note being moved and of a deferred note that was renamed away. The
// deferred note gets the old name and stays deferred. Programs exchange two files in this way: they rename a.md to
// a.md.tmp, b.md to a.md, and a.md.tmp to b.md. If no file is put at the old name, the deferred note was replaced and
// is removed.
func (m *move) exchangeDeferred(ctx context.Context) (done bool, err error) {
	du := m.deferredAt(m.newPath)
	if src, ok := m.src.(*File); !ok || !src.lifeState().IsNote() || du == nil || du.why != whyRenamed || !du.timer.Stop() {
		return false, nil
	}
	if err := m.ws.Exchange(ctx, m.oldPath, m.newPath, m.changeRequest(ctx)); err != nil {
		du.timer.Reset(unlinkGrace)
		return true, err
	}
	m.update(func(*tableState) { du.nameTaken = true })
	return true, nil
}

func (o *overlay) Unlink(ctx context.Context, name string) syscall.Errno {
	ctx = context.WithoutCancel(ctx)
	if errno, done := o.unlinkScratch(name); done {
		return errno
	}
	n, p, err := o.folder().child(ctx, name)
	if err != nil {
		return o.t.errno.Of(ctx, "unlink", p, err)
	}
	switch n := n.(type) {
	case *File:
		return o.t.errno.Of(ctx, "unlink", p, o.unlinkNote(ctx, p, n))
	case *Attachment:
		defer o.t.holdCommits(n)()
		if n.isUnstored() {
			n.forget(p)
			o.touch()
			return 0
		}
		_, err := o.t.ws.Remove(ctx, p, o.t.changeRequest(ctx))
		return o.t.errno.Of(ctx, "unlink", p, err)
	case *Link:
		_, err := o.t.ws.Remove(ctx, p, o.t.changeRequest(ctx))
		return o.t.errno.Of(ctx, "unlink", p, err)
	}
	return syscall.EISDIR
}

// unlinkNote removes the note or defers the removal, by the rule in deferred_unlink.go. It first tries to commit
// written content, so that a user who keeps the note finds that content.
func (o *overlay) unlinkNote(ctx context.Context, p model.Path, f *File) (err error) {
	t := o.t
	defer t.holdCommits(f)()
	unread := f.pin(ctx) // a program that is about to open the file must find its content
	defer f.unpin()
	defer func() {
		if err == nil {
			f.loseName(evUnlink)
			o.touch()
		}
	}()
	if !f.isStored() {
		t.remove(f)
		return nil
	}
	_ = t.errno.OfSave(ctx, "unlink", p, f.commitHeld(ctx, false)) // the note is removed even if the commit fails
	if t.ws.Options().Structure != bridge.StructureDirect {
		err := unread
		if err == nil {
			err = t.removeAtOnce(ctx, p, f)
		}
		switch refused := errors.Is(err, model.ErrDeletionLimit) || errors.Is(err, model.ErrNeedsReview); {
		case errors.Is(err, model.ErrDefer):
		case !refused, !t.isRenamed(p) && t.unlinkedBy(t.programs.Of(ctx).Identity) > 0:
			return err
		}
	}
	return t.deferUnlink(ctx, p, f, "", whyUnlinked)
}
