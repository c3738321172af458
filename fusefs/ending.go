//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// When a mount ends, programs may be in the middle of a save: a note is emptied and
// not written yet, or half of it is. They are given a moment to finish. What is not
// finished then is no suggestion: the note stays as it was, as after a crash, and the
// program is told so by its next write or its close.

const (
	// saveGrace is how long the end of a mount waits for saves.
	saveGrace = 2 * time.Second
	// saveStep is the time between looks at whether they have ended.
	saveStep = 10 * time.Millisecond
)

// awaitSaves lets no save begin any more, and returns when none is under way, or
// saveGrace has passed.
func (t *tree) awaitSaves() {
	t.ending.Store(true)
	for start := time.Now(); t.saving() && time.Since(start) < saveGrace; {
		time.Sleep(saveStep)
	}
}

func (t *tree) saving() bool {
	return slices.ContainsFunc(t.unsavedFiles(), func(f *File) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.underWay()
	})
}

// end lets no save go on, and commits every note that has something to commit, an
// emptied one too.
func (t *tree) end() error {
	t.ending.Store(true)
	t.ended.Store(true)
	var errs []error
	for _, f := range t.unsavedFiles() {
		p := t.pathOf(&f.path)
		if f.cutOff() {
			t.log.Warn("a program was in the middle of a save when the mount ended: the note stays as it was", model.LogPath, string(p))
		}
		f.mu.Lock()
		spoiled := f.isSpoiled()
		f.mu.Unlock()
		if spoiled {
			continue
		}
		if err := f.commit(context.Background(), true); err != nil {
			t.commitErrno("commit", p, err)
			errs = append(errs, err)
		}
	}
	t.settleParked(context.Background(), "")
	return errors.Join(errs...)
}

func (t *tree) unsavedFiles() []*File {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.unsaved))
}

// underWay says whether a program seems to be in the middle of saving f: it has it
// open, and has emptied it or written to it a moment ago. What is appended is whole
// at any time. mu is held.
func (f *File) underWay() bool {
	b := f.buf
	return f.note && b != nil && b.dirty() && b.spoiled == nil && f.frozen() && (b.emptied || time.Since(b.touched) < quiet)
}

// cutOff gives up a save, if one is under way.
func (f *File) cutOff() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	cut := f.underWay()
	if cut {
		f.spoil(model.ErrClosed)
	}
	return cut
}
