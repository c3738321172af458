//go:build !windows

package fusefs

import (
	"time"

	"github.com/relayfs/relayfs/fusefs/internal/life"
)

// The kernel takes the size of a file and its bytes from different answers, keeps both,
// and gives programs the one without asking for the other (sendfile goes by the size
// that it has). An inode has one size at a time, whoever has it open. So an inode of a
// note has one text, until somebody writes through it: what changed elsewhere is shown
// like a save by rename, as a new inode of the same number at the name, with nothing
// cached. The old inode retires. Whoever has it open reads what he opened, to the end,
// and writes what he makes of that.

// saveHold is how long a name stays with the inode through which a note was saved,
// although the note is not what was saved: somebody else's change is in it too, or it
// kept its line ends. Programs look whether what they saved is there.
const saveHold = 300 * time.Millisecond

// hold is the time for which an inode stays at its name.
type hold struct {
	until time.Time // zero if there is none
	hides bool      // the text is outdated, which nobody sees for that reason
}

// keepName begins a hold, or makes one longer that hides nothing: what others change is
// not hidden for longer than that. mu is held.
func (f *File) keepName() {
	if f.hold.hides {
		return
	}
	if f.hold.until.IsZero() {
		time.AfterFunc(saveHold, f.endHold)
	}
	f.hold.until = time.Now().Add(saveHold)
}

func (f *File) endHold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if wait := time.Until(f.hold.until); wait > 0 {
		time.AfterFunc(wait, f.endHold)
		return
	}
	f.hold = hold{}
	if f.text.Outdated() {
		f.retire(life.Retire)
	}
	f.sleep()
}

// inherit goes on with the hold of what f replaces at its name, if that hides something.
func (f *File) inherit(replaced node) {
	over, ok := replaced.(*File)
	if !ok {
		return
	}
	over.mu.Lock()
	h := over.hold
	over.mu.Unlock()
	if !h.hides {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold = h
	time.AfterFunc(time.Until(h.until), f.endHold)
}

// giveWay lets the name show the newest version, at once or when the hold is over. mu
// is held.
func (f *File) giveWay() {
	if !f.hold.until.IsZero() {
		f.hold.hides = true
		return
	}
	f.retire(life.Retire)
}

// retire puts a new inode at f's name, for a version other than what f shows. A retired
// inode that is open hears of what becomes of its note. mu is held.
func (f *File) retire(e life.Event) {
	was := f.life
	f.life = was.After(e)
	if !was.HasRetired() && f.life.HasRetired() {
		next := f.t.newFile(f.meta.mode)
		next.life, next.doc, next.meta, next.text = life.Live, f.doc, f.meta, f.text.Next()
		next.meta.mtime = time.Time{} // what somebody set was the time of other content
		if dir := f.t.replace(f, next); dir != nil {
			f.t.inval.Renamed(dir, next.path.Base())
		}
	}
	if f.mayBeOpen() {
		f.t.follow(f)
	}
}

// mayBeOpen says that somebody may have f open. mu is held.
func (f *File) mayBeOpen() bool { return len(f.handles) > 0 || f.t.handleless && !f.told.IsZero() }

// lookupAge is how long after it was told of an inode a program may take to open it.
const lookupAge = 5 * time.Second

// isLeft says that f is what a name led to long ago, or until somebody asked for another
// text, and that nobody but one handle has it open: whoever comes by that name is told to
// look it up again. What is found then may retire, too, before it is opened, and is opened
// all the same: the kernel looks twice, and not a third time.
func (f *File) isLeft() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.life.HasRetired() && !f.t.handleless && (f.life == life.Yielded || time.Since(f.told) > lookupAge)
	return f.life.IsStale() || old && len(f.handles) == 1
}

// successor is the inode that is at the name from which f has retired, nil if there is
// none.
func (t *tree) successor(f *File) *File {
	if !f.state().HasRetired() {
		return nil
	}
	n := t.at(&f.place)
	if n == node(f) {
		return nil
	}
	return asFile(n)
}
