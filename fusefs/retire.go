//go:build !windows

package fusefs

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
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
	on    bool // it has not ended
	until time.Time
	hides bool // f is outdated, which nobody sees for that reason
}

// keepName begins a hold, or makes one longer that hides nothing: what others change is
// not hidden for longer than that. mu is held.
func (f *File) keepName() {
	if f.hold.hides {
		return
	}
	f.hold.until = time.Now().Add(saveHold)
	if !f.hold.on {
		f.hold.on = true
		time.AfterFunc(saveHold, f.endHold)
	}
}

func (f *File) endHold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if wait := time.Until(f.hold.until); wait > 0 {
		time.AfterFunc(wait, f.endHold)
		return
	}
	f.hold.on = false
	if f.isOutdated() {
		f.retire()
	}
	f.sleep()
}

// giveWay lets the name show the newest version, at once or when the hold is over. mu
// is held.
func (f *File) giveWay() {
	if f.hold.on {
		f.hold.hides = true
		return
	}
	f.retire()
}

// retire puts a new inode at f's name, for a version other than f's image. mu is
// held.
func (f *File) retire() {
	if f.retired.IsZero() {
		f.retired = time.Now()
		f.notBefore = later(f.notBefore, f.image.modTime)
		f.t.succeed(f, f.meta)
	}
	if f.mayBeOpen() {
		f.follow()
	}
}

// mayBeOpen says that somebody may have f open. mu is held.
func (f *File) mayBeOpen() bool { return len(f.handles) > 0 || f.t.handleless && f.known }

// follow has a retired inode hear of what becomes of its note. mu is held.
func (f *File) follow() {
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	if p := f.path; !f.gone && !slices.Contains(f.t.retired[p], f) {
		f.t.retired[p] = append(f.t.retired[p], f)
	}
}

// lookupAge is how long after it was told of an inode a program may take to open it.
const lookupAge = 5 * time.Second

// isLeft says that f is what a name led to long ago, or until somebody asked for another
// text, and that nobody but one handle has it open: whoever comes by that name is told to look it up again. What is found then
// may retire, too, before it is opened, and is opened all the same: the kernel looks
// twice, and not a third time.
func (f *File) isLeft() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := !f.retired.IsZero() && !f.t.handleless && (f.asked || time.Since(f.told) > lookupAge)
	return f.superseded || old && len(f.handles) == 1
}

// successor is the inode that is at the name from which f has retired, nil if there is
// none.
func (t *tree) successor(f *File) *File {
	if !f.isRetired() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.nodes[f.path]; k != nil && !f.gone && k.node != f {
		return asFile(k.node)
	}
	return nil
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
	if !h.on || !h.hides {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold = h
	time.AfterFunc(time.Until(h.until), f.endHold)
}

// succeed makes the inode that follows f.
func (t *tree) succeed(f *File, m meta) {
	m.mtime = time.Time{} // what somebody set was the time of other content
	next := t.newFile(m.mode)
	next.note, next.doc, next.meta, next.notBefore = true, f.doc, m, f.notBefore
	t.mu.Lock()
	p := f.path
	k := t.nodes[p]
	if k == nil || k.node != f {
		t.mu.Unlock()
		return
	}
	next.path = p
	t.attach(next, f.StableAttr().Mode, f.StableAttr().Ino)
	t.put(p, next, k.id)
	dir, known := t.nodes[p.Dir()]
	t.mu.Unlock()
	if known {
		t.inval.name(dir.node, p.Base())
	}
}

func (f *File) isRetired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.retired.IsZero()
}

// left forgets a retired inode that nobody has open any more. f.mu is held.
func (t *tree) left(f *File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := f.path
	rest := slices.DeleteFunc(t.retired[p], func(x *File) bool { return x == f })
	if len(rest) == 0 {
		delete(t.retired, p)
		return
	}
	t.retired[p] = rest
}

// unlinkRetired makes the retired inodes of p files without a name, when the one
// at the name becomes that too.
func (t *tree) unlinkRetired(p model.Path) {
	t.mu.Lock()
	files := t.retired[p]
	delete(t.retired, p)
	t.mu.Unlock()
	for _, f := range files {
		f.unlink()
	}
}
