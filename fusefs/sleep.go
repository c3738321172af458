//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge"
)

// A note that nobody has open is asleep: its inode keeps the length of its text
// but not the text, so that the workspace alone decides which texts stay in
// memory.

// learn takes note of the newest version, and wakes f. It does not show a new
// version yet: the kernel still has the size of the image.
func (f *File) learn(ctx context.Context) error {
	f.mu.Lock()
	resting := f.image.version == nil
	ask := f.note && f.doc != 0 && f.buf == nil && (resting || time.Since(f.retired) > retirement)
	f.mu.Unlock()
	p, there := f.t.where(f)
	switch {
	case !ask, !there && !resting: // removed while open: it lives on as it was
		return nil
	case !there:
		return &bridge.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	v, err := f.t.ws.Open(ctx, p)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.newer(v)
		if f.differs(v) {
			f.retire() // the event that says so is a moment behind
		}
		f.wake()
		return nil
	case f.image.version != nil && errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// differs says whether v shows something else than the image. mu is held.
func (f *File) differs(v *bridge.Version) bool {
	if f.asleep {
		return int64(len(v.Text())) != f.asleepSize || !f.imageOf(v).modTime.Equal(f.image.modTime)
	}
	return f.image.version != nil && f.buf == nil && f.image.text != v.Text()
}

// wake makes the latest version the image of a file that has none. mu is held.
func (f *File) wake() {
	if !f.note || f.buf != nil || f.image.version != nil || f.latest == nil {
		return
	}
	if f.asleep && f.differs(f.latest) {
		f.uncached = true
	}
	f.asleep = false
	f.image = f.imageOf(f.latest)
}

// sleep lets go of the text if nobody needs it. mu is held.
func (f *File) sleep() {
	if f.note && f.buf == nil && f.image.exact() && len(f.handles) == 0 && f.pins == 0 {
		f.asleep, f.asleepSize = true, int64(len(f.image.text))
		f.image = image{modTime: f.image.modTime}
		f.latest = nil
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
