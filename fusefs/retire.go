//go:build !windows

package fusefs

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge"
)

// The kernel takes the size of a file and its bytes from different answers, and
// keeps both. If a note changes under somebody who is reading it, new bytes may
// be cut at the old size, or old ones filled up with zeros. A change made
// elsewhere is therefore shown like a save by rename: as a new inode of the same
// number at the name, with nothing cached. The old inode retires. Whoever has it
// open can finish what he is reading, and is shown the change a moment later; a
// read at the very moment of that may be torn, as it may on any disk.

// retirement is how long an inode keeps showing what it showed: longer than a
// program takes to read a note it has just opened.
const retirement = 50 * time.Millisecond

// retire puts a new inode at f's name, for a version other than f's image. mu is
// held.
func (f *File) retire() {
	if f.retired.IsZero() {
		f.retired = time.Now()
		f.t.succeed(f, f.meta)
	}
	if f.mayBeOpen() {
		f.follow()
	}
}

// mayBeOpen says that somebody may have f open. mu is held.
func (f *File) mayBeOpen() bool { return len(f.handles) > 0 || f.t.handleless && f.known }

// follow has a retired inode hear of what becomes of its note, and lets who has
// it open see that. mu is held.
func (f *File) follow() {
	f.t.mu.Lock()
	if p := f.path; !f.gone && !slices.Contains(f.t.retired[p], f) {
		f.t.retired[p] = append(f.t.retired[p], f)
	}
	f.t.mu.Unlock()
	time.AfterFunc(retirement, func() { f.t.inval.content(f) })
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
func (t *tree) unlinkRetired(p bridge.Path) {
	t.mu.Lock()
	files := t.retired[p]
	delete(t.retired, p)
	t.mu.Unlock()
	for _, f := range files {
		f.unlink()
	}
}

// mayTurn says that f, which is retired, may show another text. mu is held.
func (f *File) mayTurn() bool { return !f.retired.IsZero() && time.Since(f.retired) > retirement }
