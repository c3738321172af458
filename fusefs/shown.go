//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
)

// What a note's inode shows.
//
// The kernel takes the size of a file and its bytes from different answers, caches both, and gives programs one without
// requesting the other (sendfile uses the cached size). An inode has one size at a time, for all processes. So an inode
// of a note has one text until a program writes through it. A change made elsewhere is shown like a save by rename: as
// a new inode with the same number at the name, with nothing cached. The old inode retires: programs that have it open
// continue to read the text that they opened, and base their writes on that text.
//
// A note without open handles is asleep: its inode keeps the length of its text but not the text,
// so that the workspace alone decides which texts stay in memory. If the note has another text when
// it is requested again, the inode retires. A note that was looked up a moment ago is awake
// (tree.recent): it is about to be opened.

// learn gets the newest version from the workspace and loads the text of f. ESTALE means that the
// text that f showed is no longer known.
func (f *File) learn(ctx context.Context) error {
	var rests, ask bool
	f.update(func(s *fileState) {
		rests = s.text.Rests()
		ask = s.doc != 0 && s.text.Buffer() == nil && (rests || !s.life.HasRetired())
	})
	p, there := f.where()
	switch {
	case !ask, !there && !rests: // removed while open: it keeps its text
		return nil
	case !there:
		return &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	v, err := f.t.ws.Open(ctx, p)
	f.update(func(s *fileState) {
		if err == nil {
			err = s.wake(v, p)
		} else if !s.text.Rests() && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	})
	return err
}

func (f *fileState) wake(v *model.Version, p model.Path) error {
	f.text.Learn(v)
	if f.text.Outdated() {
		f.giveWay() // the event of that change comes a moment later
		if f.t.handleless && f.text.Rests() {
			_ = f.NotifyContent(attributesOnly, 0) // readers have it open already
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

// published applies an event of the note. A decision or write that was requested elsewhere is shown
// at once: its requester does not wait for a hold to end.
func (f *File) published(ev model.Event, atOnce bool) {
	f.update(func(s *fileState) {
		s.text.Learn(ev.Version)
		switch {
		case ev.Origin == any(f) || !ev.ViewChanged || !s.text.Outdated():
		case atOnce:
			s.retire(evReplaceOnDemand)
		default:
			s.giveWay()
		}
	})
}

// sleep drops the text if it is not needed. On a mount without handles a retired f keeps it while
// it may be read, because no other place has it; before that tree.recent keeps it for a while.
func (f *fileState) sleep() {
	reading := len(f.handles) > 0 || f.life.HasRetired() && f.mayBeOpen()
	if f.life.IsNote() && !reading && f.pins == 0 && f.hold.until.IsZero() {
		f.text.Sleep()
	}
}

// pin loads the text of f and keeps it until unpin, which must be called after an error, too.
func (f *File) pin(ctx context.Context) error {
	f.update(func(s *fileState) { s.pins++ })
	return f.learn(ctx)
}

func (f *File) unpin() {
	f.update(func(s *fileState) {
		s.pins--
		s.sleep()
	})
}

// saveHold is the time for which a name keeps the inode through which a note was saved, although
// the note differs from the saved text: it has another writer's change, too, or kept its line ends.
// Programs check that the saved text is there.
const saveHold = 300 * time.Millisecond

type hold struct {
	until time.Time // zero if there is none
	hides bool      // the text is outdated, and the hold hides that
	// free is the earliest time of the next hold. After a hold that hid something there is no hold
	// for as long: otherwise a program that saves all the time would hide the changes of others for
	// good.
	free time.Time
}

// keepName starts a hold, or extends one that hides nothing: changes by others are hidden for
// saveHold at most.
func (f *fileState) keepName() {
	if f.hold.hides || time.Now().Before(f.hold.free) {
		return
	}
	if f.hold.until.IsZero() {
		time.AfterFunc(saveHold, f.endHold)
	}
	f.hold.until = time.Now().Add(saveHold)
}

func (f *File) endHold() {
	f.update(func(s *fileState) {
		if wait := time.Until(s.hold.until); wait > 0 {
			time.AfterFunc(wait, f.endHold)
			return
		}
		ended := hold{}
		if s.hold.hides {
			ended.free = time.Now().Add(saveHold)
		}
		s.hold = ended
		if s.text.Outdated() {
			s.retire(evReplace)
		}
		s.sleep()
	})
}

// inherit takes over the hold of the file that f replaces at its name, if that hides something, or
// did so a moment ago.
func (f *File) inherit(replaced node) {
	over, ok := replaced.(*File)
	if !ok {
		return
	}
	var h hold
	over.update(func(s *fileState) { h = s.hold })
	if h.hides {
		f.update(func(s *fileState) { s.hold = h })
		time.AfterFunc(time.Until(h.until), f.endHold)
	} else {
		f.update(func(s *fileState) { s.hold.free = h.free })
	}
}

// giveWay makes the name show the newest version, at once or when the hold ends.
func (f *fileState) giveWay() {
	if !f.hold.until.IsZero() {
		f.hold.hides = true
		return
	}
	f.retire(evReplace)
}

// retire puts a new inode at f's name, for a version other than the one that f shows. A retired
// inode that is open gets the events of its note.
func (f *fileState) retire(e inodeEvent) {
	was := f.life
	f.life = was.After(e)
	if !was.HasRetired() && f.life.HasRetired() {
		next := f.t.newFile(0)
		next.attributes.inherit(&f.attributes)
		next.state.life, next.state.doc, next.state.text = stateLive, f.doc, f.text.Next()
		next.state.hold.free = f.hold.free
		f.t.replace(f.File, next)
	}
	if f.mayBeOpen() {
		f.t.follow(f.File)
	}
	if p, there := f.where(); there && !f.told.IsZero() {
		f.t.former.add(f.File, p)
	}
}

// replace gives f's number and name to next, if f has the name.
func (t *tree) replace(f, next *File) {
	var dir *known
	t.update(func(tb *table) {
		p := f.path()
		if tb.has(p, f) {
			next.moveTo(p)
			t.attach(next, f.StableAttr().Mode, f.StableAttr().Ino)
			tb.put(p, next, tb.nodes[p].id)
			dir = tb.nodes[p.Dir()]
		}
	})
	if dir != nil {
		t.inval.renamed(dir.node, next.path().Base())
	}
}

func (f *fileState) mayBeOpen() bool {
	return len(f.handles) > 0 || f.t.handleless && !f.told.IsZero()
}

// lookupAge is the time after a lookup in which a program may open the inode.
const lookupAge = 5 * time.Second

// isLeft reports whether an open of f must fail with ESTALE, so that the kernel repeats the lookup. It must if this is
// the only handle of f, and the lookup of f was long ago or a caller has requested another text since. If the inode of
// the repeated lookup retires before it is opened, the open succeeds all the same: the kernel looks up twice, but not a
// third time.
func (f *File) isLeft() (left bool) {
	f.update(func(s *fileState) {
		old := s.life.HasRetired() && !f.t.handleless && (s.life == stateReplacedOnDemand || time.Since(s.told) > lookupAge)
		left = s.life.IsStale() || old && len(s.handles) == 1
	})
	return left
}

// successor returns the inode at the name from which f has retired, or nil.
func (f *File) successor() (next *File) {
	if !f.lifeState().HasRetired() {
		return nil
	}
	f.t.update(func(tb *table) {
		if p, there := f.where(); there && !tb.has(p, f) {
			if k := tb.nodes[p]; k != nil {
				next, _ = k.node.(*File)
			}
		}
	})
	return next
}
