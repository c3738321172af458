package wal

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/disk"
)

// LSN is the number of a frame. The first one is 1.
type LSN uint64

const (
	// defaultSegment is the size of a segment.
	defaultSegment = 4 << 20
	// writeAhead is how much of a segment is filled with zeros at a time.
	writeAhead = 256 << 10
	// keepSpares is how many released segments are kept to be used again.
	keepSpares = 2
	// MaxFrame is the length of the longest body.
	MaxFrame = 1 << 30
)

var (
	// ErrTooLarge says that a body is longer than MaxFrame.
	ErrTooLarge = errors.New("wal: frame is too large")
	// ErrClosed says that the log has been closed.
	ErrClosed = errors.New("wal: log is closed")
)

// Options configure a Log.
type Options struct {
	SegmentSize int64 // 0 means 4 MiB
}

// Log is an open log. Its methods may be called from several goroutines.
type Log struct {
	dir  disk.Dir
	size int64 // of a segment

	mu       sync.Mutex // protects the following
	idle     *sync.Cond // signalled when a sync ends
	syncing  bool
	segments []*segment // oldest first; the last one is written to, if it is open
	spares   []string   // names of files to be used again
	number   uint64     // of the newest segment
	last     LSN
	synced   LSN
	unsynced [][]byte // bodies of the frames after synced
	renamed  bool     // names in dir have changed since it was synced
	broken   error
}

// Open opens the log in dir, which is empty for a new one, and calls frame with the
// frames after the given one, the last in the checkpoint, in the order of their LSNs. A
// body is valid during the call. An error of frame is returned.
func Open(dir disk.Dir, o Options, after LSN, frame func(LSN, []byte) error) (*Log, error) {
	l := &Log{dir: dir, size: o.SegmentSize}
	if l.size == 0 {
		l.size = defaultSegment
	}
	l.idle = sync.NewCond(&l.mu)
	found, err := l.find()
	if err != nil {
		return nil, err
	}
	l.last = after
	for _, seg := range found {
		use := l.read
		if seg.first > l.last+1 { // frames are missing: it was never synced, but what stands for it may come later
			use = l.discard
		}
		if err := use(seg, frame); err != nil {
			return nil, err
		}
	}
	if l.last > after { // the last process may not have synced them
		if err := l.syncFound(); err != nil {
			return nil, err
		}
	}
	l.synced = l.last
	return l, l.forgetBefore(after)
}

// discard removes a segment whose frames are not part of the log. It must not be there
// when their LSNs have been given to others.
func (l *Log) discard(s *segment, _ func(LSN, []byte) error) error {
	l.renamed = true
	return l.dir.Remove(s.name)
}

// read calls frame with the segment's frames after the last one that is known.
func (l *Log) read(s *segment, frame func(LSN, []byte) error) error {
	f, err := l.dir.Open(s.name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	s.last = s.first - 1
	l.segments = append(l.segments, s)
	return s.frames(f, func(lsn LSN, body []byte) error {
		s.last = lsn
		if lsn <= l.last {
			return nil
		}
		l.last = lsn
		return frame(lsn, body)
	})
}

// syncFound syncs the segments that were found.
func (l *Log) syncFound() error {
	for _, s := range l.segments {
		f, err := l.dir.Open(s.name, os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Datasync(), f.Close()); err != nil {
			return err
		}
	}
	l.renamed = false
	return l.dir.Sync()
}

// Append adds a frame. It outlives the process when Append returns, and a power cut
// after Sync. After an error nothing was added.
func (l *Log) Append(body []byte) (LSN, error) {
	if len(body) == 0 || len(body) > MaxFrame {
		return 0, ErrTooLarge
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return 0, l.broken
	}
	if err := l.write(l.last+1, body); err != nil {
		return 0, err
	}
	l.last++
	l.unsynced = append(l.unsynced, slices.Clone(body))
	return l.last, nil
}

// write writes a frame to the newest segment, or to a new one if it has no room. mu is
// held.
func (l *Log) write(lsn LSN, body []byte) error {
	if s := l.open(); s != nil && s.room() >= frameSize(body) {
		return s.append(lsn, body)
	}
	s, err := l.begin(lsn, frameSize(body))
	if err != nil {
		return err
	}
	if err := s.append(lsn, body); err != nil {
		return errors.Join(err, l.drop(s))
	}
	return nil
}

// open is the segment that is written to, nil if there is none. mu is held.
func (l *Log) open() *segment {
	if n := len(l.segments); n > 0 && l.segments[n-1].file != nil {
		return l.segments[n-1]
	}
	return nil
}

// LastLSN is the number of the newest frame.
func (l *Log) LastLSN() LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Sync returns when every frame up to lsn outlives a power cut. Callers that arrive
// while a sync goes on share the next one.
func (l *Log) Sync(lsn LSN) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.synced < lsn {
		switch {
		case l.broken != nil:
			return l.broken
		case l.syncing:
			l.idle.Wait()
		default:
			l.syncOnce()
		}
	}
	return nil
}

// syncOnce syncs everything that has been appended. mu is held, but not during the wait
// for the disk.
func (l *Log) syncOnce() {
	l.syncing = true
	upTo, renamed := l.last, l.renamed
	var files []disk.File
	for _, s := range l.segments {
		if s.file != nil && s.last > l.synced {
			files = append(files, s.file)
		}
	}
	l.renamed = false
	l.mu.Unlock()
	err := syncAll(l.dir, files, renamed)
	l.mu.Lock()
	l.syncing = false
	l.idle.Broadcast()
	if err != nil {
		l.rewrite(err)
		return
	}
	l.unsynced = l.unsynced[upTo-l.synced:]
	l.synced = upTo
	l.closeFull()
}

func syncAll(dir disk.Dir, files []disk.File, renamed bool) error {
	for _, f := range files {
		if err := f.Datasync(); err != nil {
			return err
		}
	}
	if renamed {
		return dir.Sync()
	}
	return nil
}

// rewrite writes what is not synced to a new segment, after a sync that failed. If that
// cannot be synced either, the log is broken. mu is held.
func (l *Log) rewrite(cause error) {
	bad := len(l.segments)
	for bad > 0 && l.segments[bad-1].last > l.synced {
		bad--
	}
	broken := l.segments[bad:]
	l.segments = slices.Clip(l.segments[:bad])
	err := l.writeAnew(l.synced+1, broken)
	if err != nil {
		l.broken = errors.Join(cause, err)
		return
	}
	l.synced, l.unsynced = l.last, nil
}

// writeAnew writes the frames from first on to new segments and syncs these, and then
// does away with those that they stand for. Frames of those that were synced before are
// written again, too.
func (l *Log) writeAnew(first LSN, broken []*segment) error {
	var kept []frame
	for _, s := range broken {
		if s.first >= first {
			continue
		}
		if err := s.frames(s.file, func(lsn LSN, body []byte) error {
			if lsn < first {
				kept = append(kept, frame{lsn, slices.Clone(body)})
			}
			return nil
		}); err != nil {
			return err
		}
	}
	for i, body := range l.unsynced {
		kept = append(kept, frame{first + LSN(i), body})
	}
	for _, f := range kept {
		if err := l.write(f.lsn, f.body); err != nil {
			return err
		}
	}
	var files []disk.File
	for _, s := range l.segments {
		if s.file != nil {
			files = append(files, s.file)
		}
	}
	if err := syncAll(l.dir, files, true); err != nil {
		return err
	}
	for _, s := range broken {
		s.close()
		if err := l.dir.Remove(s.name); err != nil {
			return err
		}
	}
	return nil
}

// frame is one frame in memory.
type frame struct {
	lsn  LSN
	body []byte
}

// Release says that the frames up to lsn are needed no more. Their space is used again.
func (l *Log) Release(lsn LSN) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.idle.Wait()
	}
	return l.forgetBefore(lsn)
}

// forgetBefore makes spares of the segments that have nothing after lsn. The last one of
// them is kept as long as it is written to. mu is held.
func (l *Log) forgetBefore(lsn LSN) error {
	n := 0
	for n < len(l.segments) && l.segments[n].last <= lsn && (n < len(l.segments)-1 || l.segments[n].file == nil) {
		l.segments[n].close()
		l.spares = append(l.spares, l.segments[n].name)
		n++
	}
	l.segments = slices.Delete(l.segments, 0, n)
	for len(l.spares) > keepSpares {
		if err := l.dir.Remove(l.spares[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		l.spares, l.renamed = l.spares[1:], true
	}
	return nil
}

// closeFull closes the files of synced segments that nothing is written to any more. mu
// is held.
func (l *Log) closeFull() {
	for i, s := range l.segments {
		if i < len(l.segments)-1 && s.last <= l.synced {
			s.close()
		}
	}
}

// Close closes the log, without a sync.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.idle.Wait()
	}
	var err error
	for _, s := range l.segments {
		err = errors.Join(err, s.close())
	}
	if l.broken == nil {
		l.broken = ErrClosed
	}
	return err
}
