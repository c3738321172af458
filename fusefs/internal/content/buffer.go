//go:build !windows

package content

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/fusefs/program"
)

// Buffer is the content of a file in memory: of a scratch file always, of a note
// while somebody writes it. All handles of the file share it.
type Buffer struct {
	Data []byte

	// Gen counts the changes of Data; Kept is Gen as of the last commit, and
	// Failed as of the last commit whose error its writer was told.
	Gen, Kept, Failed uint64

	// Synced is Gen as of the last fsync.
	Synced uint64

	// Emptied says that Data was truncated to nothing and not written since.
	Emptied bool

	// Anew says that Data was emptied since it was made from From, so that nothing in it
	// comes from there.
	Anew bool

	// Spoiled says why a write failed. Data is half of something then, and is not
	// committed until it is begun anew.
	Spoiled error

	// From is what Data was made from, or what was committed last. Its Version is nil
	// for a note that does not exist yet.
	From Image
	// First is set until something is committed: until then the writer may have
	// computed Data from anything it was shown, not only from From.
	First bool

	Writer  program.Program // who changed Data last
	Touched time.Time       // when
	ModTime time.Time       // what the file shows as the time of that change
}

// Dirty says that Data holds changes that are not committed.
func (b *Buffer) Dirty() bool { return b.Gen != b.Kept }

// Due says that Data should be committed when its writer closes: it is dirty, and not
// merely emptied.
func (b *Buffer) Due() bool { return b.Dirty() && !b.Emptied }

// Saved records that the data as of gen is what im says.
func (b *Buffer) Saved(im Image, gen uint64) {
	b.From, b.Kept, b.First, b.Anew = im, gen, false, false
}

const (
	// Quiet is how long after the last write content is committed that no flush
	// has committed: pages of a mapping are written back at the kernel's leisure.
	Quiet = time.Second
	// emptyGrace is how long a note stays emptied on this mount alone. A program
	// that was killed between truncating and writing looks just like one that
	// wanted the note empty.
	emptyGrace = 5 * time.Second
	// newGrace is the same for a new note, for which being empty does no harm.
	newGrace = time.Second
)

// Wait is how long to wait before a note's buffer is committed without being asked; not
// due if that would be wrong. frozen says that a writer has it open.
func (b *Buffer) Wait(now time.Time, frozen, unborn bool) (wait time.Duration, due bool) {
	limit := Quiet
	switch {
	case !b.Dirty(), b.Failed == b.Gen, b.Emptied && frozen: // in the last case its writer may be about to begin
		return 0, false
	case b.Emptied && unborn:
		limit = newGrace
	case b.Emptied:
		limit = emptyGrace
	}
	return b.Touched.Add(limit).Sub(now), true
}

// UnderWay says whether a program that has the file open seems to be in the middle of
// saving it: it has emptied it or written to it a moment ago.
func (b *Buffer) UnderWay() bool {
	return b.Dirty() && b.Spoiled == nil && (b.Emptied || time.Since(b.Touched) < Quiet)
}

// Touch records a change of Data.
func (b *Buffer) Touch(by program.Program, now time.Time) {
	b.Gen++
	b.Writer = by
	b.Touched = now
	b.ModTime = Later(now, b.From.ModTime)
}

// Later is now, or the next millisecond after prev if that is later: programs
// compare whole milliseconds.
func Later(now, prev time.Time) time.Time {
	if least := prev.Add(time.Millisecond); now.Before(least) {
		return least
	}
	return now
}

// WriteAt writes p at off, and fills a gap with zeros.
func (b *Buffer) WriteAt(p []byte, off int64) {
	end := int(off) + len(p)
	b.extend(end)
	copy(b.Data[off:end], p)
	b.Emptied = false
}

// Truncate cuts Data to size or fills it up with zeros.
func (b *Buffer) Truncate(size int) {
	b.extend(size)
	b.Data = b.Data[:size]
	b.Emptied = size == 0
	if size == 0 {
		b.Spoiled, b.Anew = nil, true
	}
}

func (b *Buffer) extend(size int) {
	if more := size - len(b.Data); more > 0 {
		b.Data = slices.Grow(b.Data, more)[:size]
		clear(b.Data[size-more:])
	}
}
