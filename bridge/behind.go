package bridge

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A shared note's change is in the store at once and in the file a moment
// later: in between, the file is behind. This file brings it up to date, merges
// with what a person saved meanwhile, and finds the state again after a crash.

const (
	// flushDelay is how long changes of a shared note are collected before the
	// file is written.
	flushDelay = 400 * time.Millisecond
	// flushRetry is how long a write of the file waits that failed.
	flushRetry = 5 * time.Second
)

// late are the notes whose files are behind.
type late struct {
	mu    sync.Mutex // protects the following
	notes map[*note]struct{}
}

func (l *late) add(n *note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.notes == nil {
		l.notes = make(map[*note]struct{})
	}
	l.notes[n] = struct{}{}
}

func (l *late) remove(n *note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.notes, n)
}

// all are the notes that are behind now.
func (l *late) all() []*note {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.notes))
}

// isShared says whether people edit the note live, or did and the file lacks some of
// that. The write lock is held.
func (n *note) isShared() bool { return n.share.Load() != nil || n.behind != nil }

// fallBehind notes that the file still holds v. The write lock is held.
func (n *note) fallBehind(v *model.Version) {
	n.behind = v
	n.ws.late.add(n)
}

// caughtUp notes that the file holds the current version. The write lock is held.
func (n *note) caughtUp() {
	if n.behind != nil {
		n.behind = nil
		n.ws.late.remove(n)
	}
}

// flushAfter has the file written in a while, unless that is planned already.
// The write lock is held.
func (n *note) flushAfter(d time.Duration) {
	switch {
	case n.behind == nil:
	case n.flushing == nil:
		n.flushing = time.AfterFunc(d, n.flush)
	case d == 0:
		n.flushing.Reset(0)
	}
}

// flush writes the file, if it is behind.
func (n *note) flush() {
	if n.ws.begin() != nil {
		return // close flushes
	}
	defer n.ws.inflight.Done()
	n.write.Lock()
	n.flushing = nil
	events, err := n.materialise(context.Background())
	if err != nil {
		n.flushAfter(flushRetry)
	}
	n.write.Unlock()
	n.ws.publishAll(events)
}

// flushAll writes every file that is behind, at the end.
func (w *Workspace) flushAll() {
	for _, n := range w.late.all() {
		n.write.Lock()
		events, _ := n.materialise(context.Background())
		n.write.Unlock()
		w.publishAll(events)
	}
}

// materialise makes the file hold the current version, merged with what
// somebody saved since. After an error the file is still behind, and the store
// has what it lacks. The write lock is held.
func (n *note) materialise(ctx context.Context) (events []model.Event, err error) {
	for range maxAttempts {
		if n.behind == nil {
			return events, nil
		}
		at, cur := n.where(), n.cur.Load()
		if err = n.putInFile(ctx, at, cur, cur.ModTime()); err == nil {
			return events, nil
		}
		if !errors.Is(err, model.ErrConflict) {
			break
		}
		var ev *model.Event
		ev, err = n.refresh(ctx)
		events = appendEvent(events, ev)
		if err != nil {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) && !n.attached() {
		n.caughtUp() // the note was removed; the store keeps what it was
		return events, nil
	}
	n.ws.log.Warn("shared note is not in its file yet", model.LogPath, string(n.where().path), model.LogErr, err)
	return events, err
}

// putInFile makes the file hold cur, which the store has. The write lock is held.
func (n *note) putInFile(ctx context.Context, at place, cur *model.Version, modTime time.Time) error {
	sum := model.SumOf(cur.Raw())
	stamp, err := at.source.Replace(ctx, at.rel, model.Replacement{
		Expect: n.stamp, Data: []byte(cur.Raw()), ModTime: modTime,
		Meanwhile: func(post model.Stamp) error {
			return at.store.Place(n.id, n.kept, model.Save{Pre: n.stamp, Post: post, Sum: sum[:]})
		},
	})
	if err != nil {
		return model.WrapError("write", at.path, err)
	}
	n.stamp = stamp
	n.keepFlushed()
	n.caughtUp()
	at.store.Materialized(n.id, n.kept, sum)
	return nil
}

// attached says whether the note is in the tree.
func (n *note) attached() bool {
	n.ws.treeMu.RLock()
	defer n.ws.treeMu.RUnlock()
	d := n.node
	for ; d.parent != nil; d = d.parent {
		if d.parent.children[d.name] != d {
			return false
		}
	}
	return d == n.ws.root || d.hidden()
}

// staleSave is how long after a flush a person's program may save what it had
// read before that: the flush came between.
const staleSave = time.Second

// flushed is a version that the file held until a flush replaced it.
type flushed struct {
	version *model.Version
	at      time.Time
}

// keepFlushed remembers the version that was replaced in a file that was behind.
func (n *note) keepFlushed() {
	if n.behind == nil {
		return
	}
	n.flushed = append(n.recentlyFlushed(), flushed{n.behind, time.Now()})
}

func (n *note) recentlyFlushed() []flushed {
	oldest := time.Now().Add(-staleSave)
	return slices.DeleteFunc(n.flushed, func(f flushed) bool { return f.at.Before(oldest) })
}

// savedFrom is the version that a person's program had read when it made saved
// of it: what the file holds, or held before a flush a moment ago, whichever is
// nearest. It is cur if the file holds that. The write lock is held.
func (n *note) savedFrom(saved string, cur *model.Version) *model.Version {
	held := cur
	if n.behind != nil {
		held = n.behind
	}
	n.flushed = n.recentlyFlushed()
	if len(n.flushed) == 0 {
		return held
	}
	versions := make([]*model.Version, 0, len(n.flushed)+1)
	for _, f := range n.flushed {
		versions = append(versions, f.version)
	}
	return textmerge.Nearest(append(versions, held), (*model.Version).Raw, saved)
}

// takeOver brings in what a person saved: what the save changed of base is
// carried onto the note as it is now, and the file gets the result. It returns
// ErrConflict if the file has changed again. The write lock is held.
func (n *note) takeOver(ctx context.Context, base *model.Version, saved string, stamp model.Stamp) (*model.Event, error) {
	at, cur := n.where(), n.cur.Load()
	merged := textmerge.Merge(textmerge.RawSide(base.Raw(), base.Runs()), textmerge.RawSide(cur.Raw(), n.runs()), saved)
	if model.NewVersion(merged, n.ws.o.View, 0, cur.ModTime()).ReadOnly() {
		return nil, &model.Error{Op: "read", Path: at.path, Err: model.ErrInvalidUTF8}
	}
	modTime := modTimeOf(cur, stamp)
	if merged == cur.Raw() {
		n.stamp = stamp
		return nil, n.putInFile(ctx, at, cur, modTime)
	}
	d := draft{note: n, at: at, cur: cur, raw: merged, change: func(doc *ycrdt.Doc) model.Record {
		return changeDoc(doc, cur.Raw(), textmerge.SavedEdits(cur.Raw(), merged), sourceOrigin{})
	}}
	if err := d.save(ctx, stamp, modTime); err != nil {
		return nil, err
	}
	return n.succeed(cur, merged, modTime), nil
}
