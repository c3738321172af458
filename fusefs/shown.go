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
// The kernel takes the size of a file and its bytes from different answers, keeps both,
// and gives programs the one without asking for the other (sendfile goes by the size
// that it has). An inode has one size at a time, whoever has it open. So an inode of a
// note has one text until somebody writes through it. A change made elsewhere is shown
// like a save by rename, as a new inode of the same number at the name, with nothing
// cached. The old inode retires: programs that have it open read what they opened, to the
// end, and write what they make of that.
//
// A note that nobody has open is asleep: its inode keeps the length of its text but not
// the text, so that the workspace alone decides which texts stay in memory. If the note
// has another text when somebody asks for it, the inode retires. What was looked up a
// moment ago is awake (tree.recent): it is about to be opened.

// learn asks the workspace for the newest version, and wakes f. ESTALE says that the text
// that f showed is not known any more.
func (f *File) learn(ctx context.Context) error {
	var rests, ask bool
	f.update(func(s *fileState) {
		rests = s.text.Rests()
		ask = s.doc != 0 && s.text.Buffer() == nil && (rests || !s.life.HasRetired())
	})
	p, there := f.where()
	switch {
	case !ask, !there && !rests: // removed while open: it lives on as it was
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
		f.giveWay() // the event that says so comes a moment later
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

// published takes over an event of the note. What was decided or written elsewhere, on
// demand, is shown at once: whoever asked for it does not wait for a hold to end.
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

// sleep drops the text if nobody needs it. On a mount without handles somebody may read
// it, and nowhere else, once f has retired; before that it is kept for a while.
func (f *fileState) sleep() {
	reading := len(f.handles) > 0 || f.life.HasRetired() && f.mayBeOpen()
	if f.life.IsNote() && !reading && f.pins == 0 && f.hold.until.IsZero() {
		f.text.Sleep()
	}
}

// pin wakes f and keeps it awake until unpin, which is called after an error too.
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

// saveHold is how long a name stays with the inode through which a note was saved,
// although the note differs from what was saved: it has somebody else's change too, or it
// kept its line ends. Programs check that what they saved is there.
const saveHold = 300 * time.Millisecond

// hold is the time for which an inode stays at its name.
type hold struct {
	until time.Time // zero if there is none
	hides bool      // the text is outdated, which nobody sees because of the hold
	// free is when the next hold may begin. A hold that hid something is followed by as long a
	// time without one, or a program that saves all the time hides what others changed for good.
	free time.Time
}

// keepName begins a hold, or extends one that hides nothing: what others change is hidden
// for no longer than saveHold.
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

// inherit goes on with the hold of the file that f replaces at its name, if that hides
// something, or did a moment ago.
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

// giveWay lets the name show the newest version, at once or when the hold is over.
func (f *fileState) giveWay() {
	if !f.hold.until.IsZero() {
		f.hold.hides = true
		return
	}
	f.retire(evReplace)
}

// retire puts a new inode at f's name, for a version other than what f shows. A retired
// inode that is open learns what becomes of its note.
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

// mayBeOpen says that somebody may have f open.
func (f *fileState) mayBeOpen() bool {
	return len(f.handles) > 0 || f.t.handleless && !f.told.IsZero()
}

// lookupAge is how long after it was told of an inode a program may take to open it.
const lookupAge = 5 * time.Second

// isLeft says that f is what a name led to long ago, or until somebody asked for another
// text, and that only one handle has it open: whoever comes by that name is told to look
// it up again. The inode found then may retire before it is opened, and is opened all the
// same: the kernel looks twice, and not a third time.
func (f *File) isLeft() (left bool) {
	f.update(func(s *fileState) {
		old := s.life.HasRetired() && !f.t.handleless && (s.life == stateReplacedOnDemand || time.Since(s.told) > lookupAge)
		left = s.life.IsStale() || old && len(s.handles) == 1
	})
	return left
}

// successor is the inode at the name from which f has retired, nil if there is none.
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
