//go:build !windows

package fusefs

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// draft is the new content of an Attachment in suggest mode: the whole file in memory, shared by all handles that have
// the file open for writing. It is committed to the workspace like a note's text: when a handle that wrote is closed or
// synced, and before the file is renamed. It is a model.File, so that handles write a draft in the same way as a file.
type draft struct {
	a *Attachment

	mu           sync.Mutex // guards the fields below
	buf          content.Buffer
	base         model.ContentSum // sum of the content from which buf was made, until the first commit; zero if buf was made without any content
	writers      int
	scratchBytes int64 // bytes accounted to the scratch layer
}

// newDraft returns the draft of a new file. It is committed even if no program writes to it.
func newDraft(a *Attachment, prog program.Program) *draft {
	d := &draft{a: a}
	d.buf.Truncated = true
	d.buf.Touch(prog, time.Now())
	a.t.dirtyFiles.Store(d, nil)
	return d
}

// openDraft returns the attachment's draft, which all its writers share. If there is none, openDraft creates it.
func (a *Attachment) openDraft(ctx context.Context, p model.Path, truncate bool) (*draft, error) {
	if err := a.t.ws.MayWriteFile(p); err != nil {
		return nil, err
	}
	d := a.shared()
	if d == nil {
		d = &draft{a: a}
		if !truncate {
			data, err := a.t.ws.ReadFile(ctx, p, model.MaxNote)
			if err != nil {
				return nil, err
			}
			d.buf.Data, d.base = data, model.SumOf(string(data))
		}
		a.mu.Lock()
		if a.draft == nil {
			a.draft = d
			a.t.dirtyFiles.Store(d, nil)
		}
		d = a.draft
		a.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writers++
	d.buf.Writer = a.t.programs.Of(ctx)
	if truncate {
		return d, d.truncate(0)
	}
	return d, nil
}

// shared returns the attachment's draft, or nil if no program has the attachment open for writing.
func (a *Attachment) shared() *draft {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.draft
}

func (d *draft) state() (size int64, modTime time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.buf.Data)), d.buf.ModTime
}

// due reports whether d should be committed when a writer closes it.
func (d *draft) due() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.Due()
}

// isBeingSaved reports whether a program seems to be writing d at the moment.
func (d *draft) isBeingSaved() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.IsBeingSaved()
}

// end makes a save in progress fail. saving reports whether there was one, and failed whether d is incomplete.
func (d *draft) end() (saving, failed bool, prog program.Program) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if saving = d.buf.IsBeingSaved(); saving {
		d.buf.WriteErr = model.ErrClosed
	}
	return saving, d.buf.WriteErr != nil, d.buf.Writer
}

func (d *draft) ReadAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	if off < int64(len(d.buf.Data)) {
		n = copy(p, d.buf.Data[off:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (d *draft) WriteAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fits(max(int64(len(d.buf.Data)), off+int64(len(p)))); err != nil {
		return 0, err
	}
	d.buf.WriteAt(p, off)
	d.buf.Touch(d.buf.Writer, time.Now())
	return len(p), nil
}

func (d *draft) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.truncate(size)
}

func (d *draft) truncate(size int64) error {
	if err := d.fits(size); err != nil {
		return err
	}
	if d.buf.Truncate(int(size)); size == 0 {
		d.base = model.ContentSum{}
	}
	d.buf.Touch(d.buf.Writer, time.Now())
	return nil
}

// fits returns an error if the draft cannot have the given size. It then also marks the draft as failed, because the
// draft lacks a part of the content that its program has written.
func (d *draft) fits(size int64) error {
	switch t := d.a.t; {
	case t.drained.Load():
		d.buf.WriteErr = model.ErrClosed
	case size > model.MaxNote:
		d.buf.WriteErr = model.ErrTooLarge
	case !t.scratch.grow(size - d.scratchBytes):
		d.buf.WriteErr = model.ErrNoSpace
	default:
		d.scratchBytes = size
		return nil
	}
	return d.buf.WriteErr
}

func (d *draft) Stat() (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return model.FileOf(d.a.path().Base(), d.buf.Data, d.buf.ModTime).Stat()
}

func (d *draft) Sync() error {
	if err := d.a.commit(context.Background(), d); err != nil {
		return err
	}
	return d.a.t.ws.Sync(context.Background(), d.a.path())
}

// Close ends the use of the draft by one writer. The last Close commits the changes since the last flush, even if the
// file was only created or truncated. It drops changes that could not be committed; the program that made them got
// the error.
func (d *draft) Close() error {
	d.mu.Lock()
	due := d.writers <= 1 && d.buf.FailedGen != d.buf.Gen
	d.mu.Unlock()
	var err error
	if due {
		err = d.a.commit(context.Background(), d)
	}
	d.mu.Lock()
	d.writers--
	last := d.writers <= 0
	left := d.buf.Dirty()
	if last {
		d.a.t.scratch.grow(-d.scratchBytes)
		d.scratchBytes = 0
	}
	d.mu.Unlock()
	if last {
		d.a.closeDraft(d, left)
	}
	return err
}

// closeDraft ends a's draft. left is set if part of the draft could not be committed. The name then shows the previous
// content, or disappears.
func (a *Attachment) closeDraft(d *draft, left bool) {
	a.mu.Lock()
	if a.draft == d {
		a.draft = nil
	}
	a.mu.Unlock()
	a.t.dirtyFiles.Delete(d)
	p, there := a.where()
	switch {
	case !left || !there:
	case a.isUnstored():
		a.forget(p)
		a.t.entryChanged(p)
	default:
		a.t.inval.content(a)
	}
}

func (a *Attachment) isUnstored() (unstored bool) {
	a.t.update(func(tb *tableState) {
		k := tb.nodes[a.path()]
		unstored = k != nil && k.node == a && k.id == 0
	})
	return unstored
}

func (a *Attachment) forget(p model.Path) {
	a.t.update(func(tb *tableState) { tb.forget(p, a) })
	a.vanish()
}

// commit durably proposes the content of d.
func (a *Attachment) commit(ctx context.Context, d *draft) error {
	defer a.t.holdCommits(a)()
	return a.commitHeld(ctx, d)
}

// commitHeld does the same as commit, for callers that have called holdCommits.
func (a *Attachment) commitHeld(ctx context.Context, d *draft) error {
	a.t.folders.RLock()
	defer a.t.folders.RUnlock()
	p, there := a.where()
	d.mu.Lock()
	data, gen, base, failed := slices.Clone(d.buf.Data), d.buf.Gen, d.base, d.buf.WriteErr
	due, prog := there && d.buf.Dirty(), d.buf.Writer
	d.mu.Unlock()
	if !due {
		return nil
	}
	err := failed
	if err == nil {
		_, err = a.t.ws.WriteFile(context.WithoutCancel(ctx), p, data, bridge.ChangeRequest{Author: a.t.authorOf(prog), Origin: a.t, Base: base, InFolder: true})
	}
	if err != nil {
		d.mu.Lock()
		d.buf.FailedGen = gen
		d.mu.Unlock()
		return model.WrapError("write", p, err)
	}
	info, err := a.t.ws.Stat(ctx, p)
	d.mu.Lock()
	d.buf.CommittedGen, d.base = gen, model.ContentSum{}
	if err == nil && d.buf.Gen == gen {
		d.buf.ModTime = info.ModTime
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	a.t.update(func(tb *tableState) {
		tb.inos.set(info.ID, a.StableAttr().Ino)
		if tb.has(p, a) {
			tb.put(p, a, info.ID)
		}
	})
	return nil
}

func (d *Dir) createDraft(ctx context.Context, p model.Path, mode uint32) *Attachment {
	t := d.t
	prog := t.programs.Of(ctx)
	a := &Attachment{common: t.newCommon(mode & 0o7777), madeIn: prog.Run}
	a.moveTo(p)
	a.draft = newDraft(a, prog)
	t.update(func(tb *tableState) {
		tb.cancelUnlink(p)
		t.attach(a, syscall.S_IFREG, tb.inos.next())
		tb.put(p, a, 0)
	})
	d.touch()
	return a
}

// closeUnwritten commits a new file that its creator does not open for writing.
func (a *Attachment) closeUnwritten(ctx context.Context) syscall.Errno {
	d := a.shared()
	if d == nil {
		return 0
	}
	d.mu.Lock()
	d.writers++
	d.mu.Unlock()
	return a.t.errno.OfSave(ctx, "create", a.path(), d.Close())
}
