package wal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/disk"
)

// LSN is the number of a frame. The first one is 1.
type LSN uint64

const (
	// defaultSegment is the size of a segment.
	defaultSegment = 4 << 20
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
	mu       sync.Mutex // protects the following
	idle     *sync.Cond // signalled when a sync ends
	syncing  bool       // a goroutine syncs without mu
	files    folder
	last     LSN
	synced   LSN
	unsynced [][]byte // bodies of the frames after synced
	closed   bool
	lost     error // a sync that failed: the disk may lack the frames after synced; nil if they are written again
	lacking  int   // the length of the longest body for which there was no room
	failed   error // why; nil if there is room
}

// Open opens the log in dir, which is empty for a new one, and calls frame with the
// frames after the given one, the last in the checkpoint, in the order of their LSNs. A
// body is valid during the call. An error of frame is returned.
func Open(dir disk.Dir, o Options, after LSN, frame func(LSN, []byte) error) (*Log, error) {
	l := &Log{files: folder{dir: dir, size: cmp.Or(o.SegmentSize, defaultSegment)}}
	l.idle = sync.NewCond(&l.mu)
	var err error
	if l.last, err = l.files.read(after, frame); err != nil {
		return nil, err
	}
	if l.last > after { // the last process may not have synced them
		if err := l.files.syncFound(); err != nil {
			return nil, err
		}
	}
	l.synced = l.last
	return l, l.files.release(after)
}

// Append adds a frame. It outlives the process when Append returns, and a power cut
// after Sync. After an error nothing was added.
func (l *Log) Append(body []byte) (LSN, error) {
	if len(body) == 0 || len(body) > MaxFrame {
		return 0, ErrTooLarge
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.ready()
	if err == nil {
		err = l.files.write(l.last+1, body)
	}
	if err != nil {
		l.lacking, l.failed = max(l.lacking, len(body)), err
		return 0, err
	}
	if len(body) >= l.lacking {
		l.lacking, l.failed = 0, nil
	}
	l.last++
	l.unsynced = append(l.unsynced, slices.Clone(body))
	return l.last, nil
}

// Failed returns why a frame could not be appended, and the length of the longest such body, until one of that length
// can be: a shorter one may still fit on a full disk. It returns nil if there is none.
func (l *Log) Failed() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lacking, l.failed
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
		if l.syncing {
			l.idle.Wait()
			continue
		}
		if err := l.ready(); err != nil || l.synced >= lsn {
			return err
		}
		upTo, flush := l.last, l.files.sync(l.synced)
		l.syncing = true
		l.mu.Unlock()
		err := flush()
		l.mu.Lock()
		l.syncing = false
		l.idle.Broadcast()
		if err == nil {
			l.unsynced = l.unsynced[upTo-l.synced:]
			l.synced = upTo
			l.files.closeFull(upTo)
			continue
		}
		l.lost = err
	}
	return nil
}

// ready returns nil if frames can be written: those after synced are written again if a sync of them has
// failed. mu is held.
func (l *Log) ready() error {
	switch {
	case l.closed:
		return ErrClosed
	case l.lost == nil:
		return nil
	}
	if err := l.files.rewrite(l.synced, l.unsynced); err != nil {
		return fmt.Errorf("%w, after %w", err, l.lost)
	}
	l.synced, l.unsynced, l.lost = l.last, nil, nil
	return nil
}

// Release says that the frames up to lsn are needed no more. Their space is used again.
func (l *Log) Release(lsn LSN) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.idle.Wait()
	}
	return l.files.release(lsn)
}

// Close closes the log, without a sync.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.idle.Wait()
	}
	l.closed = true
	return l.files.close()
}
