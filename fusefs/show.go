//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/invalidate"
	"github.com/relayfs/relayfs/fusefs/internal/life"
)

// What a note's inode shows. A note that nobody has open is asleep: its inode keeps the
// length of its text but not the text, so that the workspace alone decides which texts stay
// in memory. If the note has another text when somebody asks for it, the inode retires.
// What was looked up a moment ago is awake (tree.recent): whoever did is about to open it.

// learn takes note of the newest version, and wakes f. ESTALE says that the text that
// f showed is not known any more.
func (f *File) learn(ctx context.Context) error {
	f.mu.Lock()
	rests := f.text.Rests()
	ask := f.doc != 0 && f.text.Buffer() == nil && (rests || !f.life.HasRetired())
	f.mu.Unlock()
	p, there := f.t.where(&f.place)
	switch {
	case !ask, !there && !rests: // removed while open: it lives on as it was
		return nil
	case !there:
		return &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	v, err := f.t.ws.Open(ctx, p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		if !f.text.Rests() && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	f.text.Learn(v)
	if f.text.Outdated() {
		f.giveWay() // the event that says so is a moment behind
		if f.t.handleless && f.text.Rests() {
			_ = f.NotifyContent(invalidate.AttributesOnly, 0) // who reads has it open already
			f.text.Forget()
		}
	}
	if f.text.Rests() {
		f.text.Show()
	}
	if f.text.State() == content.Asleep {
		return &model.Error{Op: "open", Path: p, Err: syscall.ESTALE}
	}
	return nil
}

// published takes over an event of the note. What was decided or written elsewhere, on
// demand, is shown at once: nobody waits for a hold to end who asked for it.
func (f *File) published(ev model.Event, atOnce bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text.Learn(ev.Version)
	switch {
	case ev.Origin == any(f) || !ev.ViewChanged || !f.text.Outdated():
	case atOnce:
		f.retire(life.Yield)
	default:
		f.giveWay()
	}
}

// sleep lets go of the text if nobody needs it. On a mount without handles somebody may read
// it, and nowhere else, once f has retired; before, it is kept for a while. mu is held.
func (f *File) sleep() {
	reading := len(f.handles) > 0 || f.life.HasRetired() && f.mayBeOpen()
	if f.life.IsNote() && !reading && f.pins == 0 && f.hold.until.IsZero() {
		f.text.Sleep()
	}
}

// pin wakes f and keeps it awake until unpin, which is called also after an error.
func (f *File) pin(ctx context.Context) error {
	f.mu.Lock()
	f.pins++
	f.mu.Unlock()
	return f.learn(ctx)
}

func (f *File) unpin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pins--
	f.sleep()
}
