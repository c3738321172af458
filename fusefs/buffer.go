//go:build !windows

package fusefs

import (
	"slices"
	"time"
)

// buffer is the content of a file in memory: of a scratch file always, of a note
// while somebody writes it. All handles of the file share it.
type buffer struct {
	data []byte

	// gen counts the changes of data; kept is gen as of the last commit, and
	// failed as of the last commit whose error its writer was told.
	gen, kept, failed uint64

	// emptied says that data was truncated to nothing and not written since.
	emptied bool

	// anew says that data was emptied since it was made from from: nothing in it is of that.
	anew bool

	// spoiled says why a write did not go in, as that data would have become too large.
	// data is half of something then, and is not committed until it is begun anew.
	spoiled error

	// from is what data was made from, or what was committed last. version is nil
	// for a note that does not exist yet.
	from image
	// first is set until something is committed: until then the writer may have
	// computed data from anything it was shown, not only from from.
	first bool

	writer  process   // who changed data last
	touched time.Time // when
	modTime time.Time // what the file shows as the time of that change
}

// dirty says that data holds changes that are not committed.
func (b *buffer) dirty() bool { return b.gen != b.kept }

// due says that data should be committed when its writer closes: it is dirty,
// not merely emptied.
func (b *buffer) due() bool { return b.dirty() && !b.emptied }

// touch records a change of data.
func (b *buffer) touch(by process, now time.Time) {
	b.gen++
	b.writer = by
	b.touched = now
	b.modTime = later(now, b.from.modTime)
}

// later is now, or the next millisecond after prev if that is later: programs
// compare whole milliseconds.
func later(now, prev time.Time) time.Time {
	if least := prev.Add(time.Millisecond); now.Before(least) {
		return least
	}
	return now
}

// writeAt puts p at off, and fills a gap with zeros.
func (b *buffer) writeAt(p []byte, off int64) {
	end := int(off) + len(p)
	b.extend(end)
	copy(b.data[off:end], p)
	b.emptied = false
}

// truncate cuts data to size or fills it up with zeros.
func (b *buffer) truncate(size int) {
	b.extend(size)
	b.data = b.data[:size]
	b.emptied = size == 0
	if size == 0 {
		b.spoiled, b.anew = nil, true
	}
}

func (b *buffer) extend(size int) {
	have := len(b.data)
	if size <= have {
		return
	}
	b.data = slices.Grow(b.data, size-have)[:size]
	clear(b.data[have:])
}
