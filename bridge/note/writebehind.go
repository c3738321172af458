package note

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A shared note's change is in the store at once and in the file a moment
// later. Until then the note is dirty. This file brings the file up to date and merges
// with what a person saved meanwhile.

const (
	// flushDelay is how long changes of a shared note are collected before the
	// file is written.
	flushDelay = 400 * time.Millisecond
	// flushRetry is how long a write of the file waits that failed.
	flushRetry = 5 * time.Second
)

// writeBehind is what a note knows of its file while the note is dirty.
type writeBehind struct {
	onDisk   *model.Version // what the file holds while cur is ahead of it, else nil
	flushing *time.Timer    // set while the file is to be written
	flushed  []flushed      // what the file held before it was last written
}

// staleSave is how long after a flush a person's program may save what it had
// read before that: the flush came between.
const staleSave = time.Second

// flushed is a version that the file held until a flush replaced it.
type flushed struct {
	version *model.Version
	at      time.Time
}

// keepFlushed remembers the version that was replaced in the file of a dirty note.
func (b *writeBehind) keepFlushed() {
	if b.onDisk != nil {
		b.flushed = append(b.recentlyFlushed(), flushed{b.onDisk, time.Now()})
	}
}

func (b *writeBehind) recentlyFlushed() []flushed {
	oldest := time.Now().Add(-staleSave)
	return slices.DeleteFunc(b.flushed, func(f flushed) bool { return f.at.Before(oldest) })
}

// inFile is the version that the file holds of a note that is cur.
func (b *writeBehind) inFile(cur *model.Version) *model.Version {
	if b.onDisk != nil {
		return b.onDisk
	}
	return cur
}

// savedFrom is the version that a person's program had read when it made saved
// of it: what the file holds, or held before a flush a moment ago, whichever is
// nearest. It is cur if the file holds that.
func (b *writeBehind) savedFrom(saved string, cur *model.Version) *model.Version {
	held := b.inFile(cur)
	b.flushed = b.recentlyFlushed()
	if len(b.flushed) == 0 {
		return held
	}
	versions := make([]*model.Version, 0, len(b.flushed)+1)
	for _, f := range b.flushed {
		versions = append(versions, f.version)
	}
	return textmerge.Nearest(append(versions, held), (*model.Version).Raw, saved)
}

// isShared says whether people edit the note live, or did and the file lacks some of
// that.
func (n *Locked) isShared() bool { return n.share.Load() != nil || n.onDisk != nil }

// markDirty notes that the file still holds v.
func (n *Locked) markDirty(v *model.Version) {
	n.onDisk = v
	n.set.dirty.Store((*Note)(n), nil)
}

// markClean notes that the file holds the current version.
func (n *Locked) markClean() {
	if n.onDisk != nil {
		n.onDisk = nil
		n.set.dirty.Delete((*Note)(n))
	}
}

// flushAfter has the file written in a while, unless that is planned already.
func (n *Locked) flushAfter(d time.Duration) {
	switch {
	case n.onDisk == nil:
	case n.flushing == nil:
		n.flushing = time.AfterFunc(d, (*Note)(n).flush)
	case d == 0:
		n.flushing.Reset(0)
	}
}

// flush writes the file, if the note is dirty.
func (n *Note) flush() {
	if n.set.act.Begin() != nil {
		return // FlushAll does it
	}
	defer n.set.act.Done()
	n.flushNow()
}

func (n *Note) flushNow() {
	l := n.Lock()
	l.flushing = nil
	events, err := l.Materialise()
	if err != nil {
		l.flushAfter(flushRetry)
	}
	l.Unlock()
	n.set.act.Publish(events...)
}

// FlushAll writes the file of every dirty note, at the end.
func (s *Set) FlushAll() {
	for n := range s.dirty.Range {
		n.(*Note).flushNow()
	}
}

// Materialise makes the file hold the current version, merged with what
// somebody saved since. After an error the note is still dirty, and the store
// has what the file lacks. The events are to be published after the lock's release.
func (n *Locked) Materialise() (events []model.Event, err error) {
	ctx := context.Background()
	for range maxAttempts {
		if n.onDisk == nil {
			return events, nil
		}
		cur := n.cur.Load()
		if err = n.putInFile(ctx, n.node.Place(), cur, cur.ModTime()); err == nil {
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
	if errors.Is(err, fs.ErrNotExist) && !n.node.Place().Attached {
		n.markClean() // the note was removed; the store keeps what it was
		return events, nil
	}
	n.set.o.Logger.Warn("shared note is not in its file yet", model.LogPath, string(n.node.Place().Path), model.LogErr, err)
	return events, err
}

// putInFile makes the file hold cur, which the store has.
func (n *Locked) putInFile(ctx context.Context, at Place, cur *model.Version, modTime time.Time) error {
	id, seq, sum := n.id, n.kept, model.SumOf(cur.Raw())
	return n.replace(ctx, at, cur.Raw(), modTime, model.Replacement{
		Expect: n.stamp,
		Meanwhile: func(post model.Stamp) error {
			return n.place(seq, model.Save{Pre: n.stamp, Post: post, Sum: sum[:]})
		},
		Aborted: func() {
			if err := n.place(seq, model.Save{}); err != nil {
				n.set.o.Logger.Error("a person's save may take back changes after a restart", model.LogPath, string(at.Path), model.LogErr, err)
			}
		},
		Settled: func() { n.store.Materialized(id, seq, sum) },
	})
}

// replace makes the file hold raw, which is the note's current version then.
func (n *Locked) replace(ctx context.Context, at Place, raw string, modTime time.Time, r model.Replacement) error {
	r.Data, r.ModTime = []byte(raw), r.Expect.Next(modTime)
	stamp, err := n.source.Replace(ctx, at.Rel, r)
	if err != nil {
		return model.WrapError("write", at.Path, err)
	}
	n.stamp = stamp
	n.keepFlushed()
	n.markClean()
	return nil
}

// takeOver brings in what a person saved: what the save changed of base is
// carried onto the note as it is now, and the file gets the result. It returns
// ErrConflict if the file has changed again.
func (n *Locked) takeOver(ctx context.Context, base *model.Version, saved string, stamp model.Stamp) (*model.Event, error) {
	at, cur := n.node.Place(), n.cur.Load()
	merged := textmerge.Merge(textmerge.RawSide(base.Raw(), base.Runs()), textmerge.RawSide(cur.Raw(), n.runs(cur)), saved)
	if !model.Writable(merged) {
		return nil, &model.Error{Op: "read", Path: at.Path, Err: model.ErrInvalidUTF8}
	}
	modTime := modTimeOf(cur, stamp)
	if merged == cur.Raw() {
		n.stamp = stamp
		return nil, n.putInFile(ctx, at, cur, modTime)
	}
	d := draft{note: n, at: at, cur: cur, held: saved, raw: merged, change: func(doc *ycrdt.Doc) model.Record {
		return n.changeSaved(doc, cur.Raw(), merged)
	}}
	if err := d.save(ctx, stamp, modTime); err != nil {
		return nil, err
	}
	return n.succeed(cur, n.newVersion(merged, modTime)), nil
}
