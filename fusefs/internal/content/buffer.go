//go:build !windows

package content

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// Buffer is the content of a file in memory. A scratch file always has a buffer; a note has a buffer while it is being
// written. All handles of a file share its buffer.
type Buffer struct {
	Data []byte

	// Gen counts the changes of Data. CommittedGen is the Gen of the last commit. FailedGen is the Gen of the last
	// commit that failed.
	Gen, CommittedGen, FailedGen uint64

	// SyncedGen is the Gen of the last fsync of a file that the workspace does not have.
	SyncedGen uint64

	// Truncated is set if Data was truncated to size 0, or belongs to a new note or draft, and was not written since.
	Truncated bool

	// written is the length of the beginning of Data that was written since Data was made from Base.
	written int

	// WriteErr is the error of a failed write. Data is then incomplete, and is not committed before it is truncated to
	// size 0.
	WriteErr error

	// Base is the image from which Data was made, or the image that was committed last. Its Version is nil for a note
	// that does not exist yet.
	Base Image

	Writer     program.Program // the program that changed Data last
	ModifiedAt time.Time       // time of the last change of Data
	ModTime    time.Time       // the file's modification time after the last change of Data
}

func (b *Buffer) Dirty() bool { return b.Gen != b.CommittedGen }

// Due reports whether close must commit the buffer: it is dirty and not merely truncated.
func (b *Buffer) Due() bool { return b.Dirty() && !b.Truncated }

// IsRewritten reports whether no part of Data comes from Base: a program truncated the file first, or wrote over all of
// it.
func (b *Buffer) IsRewritten() bool { return b.written == len(b.Data) }

func (b *Buffer) Saved(im Image, gen uint64) {
	b.Base, b.CommittedGen, b.written = im, gen, 0
}

const (
	// WritebackDelay is the time after the last write at which content is committed even without a flush. The kernel
	// may write back mapped pages at any time, even if no flush follows.
	WritebackDelay = time.Second
	// rewriteGrace is the time for which only this mount shows a note that was truncated, or of which a program that has
	// it open has written only the beginning. A program that was killed between truncating and writing looks the same as
	// a program that wants the note to be empty. And if half of a text were committed, other writers could insert words
	// into the other half, which would be a deletion until the program writes it.
	rewriteGrace = 5 * time.Second
	// newGrace is the corresponding time for a new note. It is shorter, because a new note may be meant to be empty.
	newGrace = time.Second
)

// Wait returns the delay before a note's buffer is committed without a request. due is false if the buffer must not be
// committed. positioned is set if a handle that wrote other than by appending is open. unstored is set if the note does
// not exist yet.
func (b *Buffer) Wait(now time.Time, positioned, unstored bool) (wait time.Duration, due bool) {
	limit := WritebackDelay
	switch {
	case !b.Dirty(), b.FailedGen == b.Gen, b.Truncated && positioned: // after truncating, the writer may be about to write
		return 0, false
	case b.Truncated && unstored:
		limit = newGrace
	case b.Truncated, b.written > 0 && positioned && !unstored:
		limit = rewriteGrace
	}
	return b.ModifiedAt.Add(limit).Sub(now), true
}

// IsBeingSaved reports whether a program seems to be saving the file: it has truncated the file or just written to it,
// without a commit.
func (b *Buffer) IsBeingSaved() bool {
	return b.Dirty() && b.WriteErr == nil && (b.Truncated || time.Since(b.ModifiedAt) < WritebackDelay)
}

func (b *Buffer) Touch(prog program.Program, now time.Time) {
	b.Gen++
	b.Writer = prog
	b.ModifiedAt = now
	b.ModTime = model.NextModTime(b.Base.ModTime, now)
}

// WriteAt writes p at off and fills a gap with zeros.
func (b *Buffer) WriteAt(p []byte, off int64) {
	end := int(off) + len(p)
	b.extend(end)
	copy(b.Data[off:end], p)
	b.Truncated = false
	if int(off) <= b.written {
		b.written = max(b.written, end)
	}
}

func (b *Buffer) Truncate(size int) {
	b.extend(size)
	b.Data = b.Data[:size]
	b.Truncated = size == 0
	b.written = min(b.written, size)
	if size == 0 {
		b.WriteErr = nil
	}
}

func (b *Buffer) extend(size int) {
	if more := size - len(b.Data); more > 0 {
		b.Data = slices.Grow(b.Data, more)[:size]
		clear(b.Data[size-more:])
	}
}
