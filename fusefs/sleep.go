//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
)

// A note that nobody has open is asleep: its inode keeps the length of its text
// but not the text, so that the workspace alone decides which texts stay in
// memory. If the note has another text when somebody asks for it, the inode retires.
// What was looked up a moment ago is awake (recent.go): whoever did is about to open it.

// learn takes note of the newest version, and wakes f. ESTALE says that the text that
// f showed is not known any more.
func (f *File) learn(ctx context.Context) error {
	f.mu.Lock()
	resting := f.image.version == nil
	ask := f.note && f.doc != 0 && f.buf == nil && (resting || f.retired.IsZero())
	f.mu.Unlock()
	p, there := f.t.where(f)
	switch {
	case !ask, !there && !resting: // removed while open: it lives on as it was
		return nil
	case !there:
		return &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	v, err := f.t.ws.Open(ctx, p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		if f.image.version != nil && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	f.newer(v)
	if f.isOutdated() {
		f.giveWay() // the event that says so is a moment behind
	}
	f.wake()
	if f.asleep {
		return &model.Error{Op: "open", Path: p, Err: syscall.ESTALE}
	}
	return nil
}

// isOutdated says whether f shows something else than the newest version. A buffer is
// not: it is to become the newest. mu is held.
func (f *File) isOutdated() bool {
	switch {
	case !f.note, f.buf != nil, f.image.version == nil && !f.asleep:
		return false
	case f.latest == nil:
		return true
	case f.asleep:
		return int64(len(f.latest.Text())) != f.asleepSize || !f.imageOf(f.latest).modTime.Equal(f.image.modTime)
	}
	return f.image.text != f.latest.Text()
}

// wake makes the latest version the image of a file that has none. mu is held.
func (f *File) wake() {
	if !f.note || f.buf != nil || f.image.version != nil || f.latest == nil {
		return
	}
	if f.asleep && f.isOutdated() {
		if !f.t.handleless {
			return
		}
		_ = f.NotifyContent(attributesOnly, 0) // who reads has it open already, see handleless.go
	}
	f.asleep = false
	f.image = f.imageOf(f.latest)
}

// sleep lets go of the text if nobody needs it. mu is held.
func (f *File) sleep() {
	if f.note && f.buf == nil && f.image.exact() && !f.mayBeReading() && f.pins == 0 && !f.hold.on {
		f.asleep, f.asleepSize = true, int64(len(f.image.text))
		f.image = image{modTime: f.image.modTime}
		f.latest = nil
	}
}

// mayBeReading says that somebody may read the text that f shows, and nowhere else.
// On a mount without handles that may be so once f has retired; before, it is kept for
// a while. mu is held.
func (f *File) mayBeReading() bool {
	return len(f.handles) > 0 || f.t.handleless && f.known && !f.retired.IsZero()
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
