package wal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/disk"
)

type LSN uint64

const (
	defaultSegment = 4 << 20 // size of a segment in bytes
	maxFrame       = 1 << 30 // largest size of a frame's body in bytes
)

var (
	ErrTooLarge = errors.New("wal: frame is too large")
	ErrClosed   = errors.New("wal: log is closed")
	ErrDeleted  = errors.New("wal: the log's files were deleted")
)

type Options struct {
	SegmentSize int64             // size in bytes; 0 means 4 MiB
	Cut         func(name string) // if set, is called with a file that Open could not read to its end
}

// Log is an open log. Its methods are safe for concurrent use.
type Log struct {
	mu       sync.Mutex // guards the fields below
	idle     *sync.Cond // signalled when a sync ends
	syncing  bool       // a goroutine syncs without mu
	files    segmentSet
	last     LSN
	synced   LSN
	unsynced [][]byte // bodies of the frames after synced
	closed   bool
	syncErr  error // error of a failed sync: the frames after synced may not be on the disk; nil once they are rewritten
}

// Open opens the log in dir, which is empty for a new log. after is the LSN of the last frame in the checkpoint. Open
// calls frame, in order, with each later frame. A body is valid only during the call. If frame returns an error, Open
// returns it.
func Open(dir disk.Dir, o Options, after LSN, frame func(LSN, []byte) error) (*Log, error) {
	l := &Log{files: segmentSet{dir: dir, size: cmp.Or(o.SegmentSize, defaultSegment), onUnreadable: o.Cut}, synced: after}
	if o.Cut == nil {
		l.files.onUnreadable = func(string) {}
	}
	l.idle = sync.NewCond(&l.mu)
	var err error
	l.last, err = l.files.read(after, func(lsn LSN, body []byte) error {
		l.unsynced = append(l.unsynced, slices.Clone(body)) // the last process may not have synced the frame
		return frame(lsn, body)
	})
	if err == nil {
		err = l.Sync(l.last)
	}
	if err == nil {
		err = l.files.release(after)
	}
	if err != nil {
		return nil, errors.Join(err, l.files.close())
	}
	return l, nil
}

// Append adds a frame. The frame survives a crash of the process when Append returns, and a power cut after Sync. After
// an error the log is unchanged. The log keeps body, which the caller must not change any more.
func (l *Log) Append(body []byte) (LSN, error) {
	if len(body) == 0 || len(body) > maxFrame {
		return 0, ErrTooLarge
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.ready()
	if err == nil {
		err = l.files.write(l.last+1, body)
	}
	if err != nil {
		return 0, err
	}
	l.last++
	l.unsynced = append(l.unsynced, body)
	return l.last, nil
}

func (l *Log) LastLSN() LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Sync returns when every frame up to lsn survives a power cut. Callers that arrive during a sync share the next sync.
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
			continue
		}
		l.syncErr = err
	}
	return nil
}

// ready returns nil if frames can be written. After a failed sync it rewrites the frames after synced. The caller must
// hold mu.
func (l *Log) ready() error {
	switch {
	case l.closed:
		return ErrClosed
	case l.syncErr == nil:
		return nil
	}
	if err := l.files.rewrite(l.synced, l.unsynced); err != nil {
		return fmt.Errorf("%w, after %w", err, l.syncErr)
	}
	l.synced, l.unsynced, l.syncErr = l.last, nil, nil
	return nil
}

func (l *Log) Release(lsn LSN) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.idle.Wait()
	}
	return l.files.release(lsn)
}

func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.syncing {
		l.idle.Wait()
	}
	l.closed = true
	return l.files.close()
}
