package note

import (
	"container/list"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/relayfs/relayfs/bridge/model"
)

type Place struct {
	Path     model.Path // path in the workspace
	Peoples  model.Path // path without pending proposals
	Rel      string     // path in the source
	Offline  bool       // the source is offline
	Shown    bool       // it has a path, and its deletion is not pending
	Attached bool       // it is in the tree
}

type Node interface {
	Place() Place
}

// Note is the state of one note: the text for readers and, once the note was written, its document.
type Note struct {
	set    *Set
	node   Node
	source model.Source

	// cur is the published version; nil before the first read and after an eviction.
	cur atomic.Pointer[model.Version]
	// changed is the modification time of the last version, in Unix nanoseconds; an eviction keeps it. 0 before the
	// first read.
	changed atomic.Int64

	writing turn // held by the current writer; guards the fields below
	document

	seq    uint64      // number of the last published version
	stamp  model.Stamp // stamp of the file that cur was read from or written to
	synced bool        // the store's history was compared with the file
	birth  *birth      // nil if this process did not create the note

	// Guarded by the cache's lock.
	cached *list.Element // nil if the note is not in the cache
	size   int           // cached bytes
}

// birth describes how a note was created.
type birth struct {
	by      model.Author
	at      time.Time // zero for a note without a file
	folders []string  // its parent folders that agents created
}

// bornOf returns the author who created the note in this process.
func (n *Note) bornOf() model.Author {
	if n.birth == nil {
		return model.Author{}
	}
	return n.birth.by
}

// Locked is a Note whose lock is held until Unlock.
type Locked Note

func (n *Note) Lock() *Locked {
	n.writing.take()
	return (*Locked)(n)
}

func (n *Locked) Unlock() { n.writing.pass() }

// Version returns the published version. It reads the note if necessary. Errors: model.ErrOffline, fs.ErrNotExist,
// fs.ErrPermission.
func (n *Note) Version(ctx context.Context) (*model.Version, error) {
	if v := n.cur.Load(); v != nil {
		n.set.cache.touch(n)
		return v, nil
	}
	l := n.Lock()
	defer l.Unlock()
	v, err := l.load(ctx)
	if v != nil {
		return v, nil
	}
	return nil, err
}

// Changed returns the modification time of the last version, and whether that version is in memory. The time is 1970
// before the first read.
func (n *Note) Changed() (t time.Time, loaded bool) {
	return time.Unix(0, n.changed.Load()), n.cur.Load() != nil
}

// load reads the note and reconciles document and file. A crash may have kept text from the file. If load cannot
// write that text now, it returns the version with it and an error: readers can use the version, and the next load
// tries again.
func (n *Locked) load(ctx context.Context) (v *model.Version, err error) {
	for range maxAttempts { // a user may save while the file is updated
		if v, err = n.read(ctx); !errors.Is(err, model.ErrConflict) {
			break
		}
	}
	return v, err
}

func (n *Locked) read(ctx context.Context) (*model.Version, error) {
	if v := n.cur.Load(); v != nil {
		return v, nil
	}
	at := n.node.Place()
	if at.Offline {
		return nil, &model.Error{Op: "open", Path: at.Path, Err: model.ErrOffline}
	}
	if docs, ok := n.source.(model.Documents); ok {
		return n.loadLive(ctx, at, docs)
	}
	data, stamp, err := n.source.Read(ctx, at.Rel)
	if err != nil {
		return nil, model.WrapError("open", at.Path, err)
	}
	n.stamp = stamp
	v := model.NewVersion(asString(data), n.set.o.View, time.Unix(0, stamp.ModTime))
	var h *model.History // the stored history, nil if not loaded
	if !n.synced {
		kept, err := n.identify(ctx, at, v.Raw())
		if err != nil {
			return nil, model.WrapError("open", at.Path, err)
		}
		h = &kept
	}
	if err := n.separateStored(at, v, h); err != nil {
		return nil, err
	}
	n.publish(v)
	if n.synced {
		return v, nil
	}
	if behind, err := n.recover(ctx, at, h); err != nil {
		n.closeDoc()
		n.cur.Store(nil)
		return behind, err
	}
	n.synced = true
	cur := n.cur.Load()
	if n.doc != nil {
		v := model.NewVersion(cur.Raw(), n.set.o.View, cur.ModTime())
		if n.separate(v); !v.ReadsAs(cur) { // text that was typed while relayfs did not follow the note
			cur = n.publish(v)
		}
	}
	return cur, nil
}

func (n *Locked) loadLive(ctx context.Context, at Place, docs model.Documents) (*model.Version, error) {
	if n.live == nil {
		d, err := docs.Document(ctx, at.Rel)
		if err != nil {
			return nil, model.WrapError("open", at.Path, err)
		}
		n.live, n.id = d, d.ID()
	}
	s, err := n.readLive(ctx)
	if err != nil {
		return nil, model.WrapError("open", at.Path, err)
	}
	return n.publish(n.versionOf(s, s.modTime)), nil
}

func (n *Locked) versionOf(s liveState, modTime time.Time) *model.Version {
	v := model.NewVersion(s.raw, n.set.o.View, modTime)
	v.SetRuns(s.runs)
	defer n.separate(v)
	if s.foreign {
		v.SetReadOnly()
	}
	return v
}

// asString converts data without a copy; the caller must not use data afterwards. The copies were most of the memory
// that a first search through all notes takes.
func asString(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// newVersion makes a version with that raw text. The document is in that state.
func (n *Locked) newVersion(raw string, modTime time.Time) *model.Version {
	v := model.NewVersion(raw, n.set.o.View, modTime)
	n.separate(v)
	return v
}

func (n *Locked) publish(v *model.Version) *model.Version {
	n.seq++
	v.SetSeq(n.seq)
	n.cur.Store(v)
	n.changed.Store(v.ModTime().UnixNano())
	n.set.cache.add((*Note)(n), loadedBytes+len(v.Raw())+v.Known().Bytes()+n.document.size())
	return v
}

// Refresh updates the note from its source's file, which another program changed. It publishes the change if shown.
func (n *Note) Refresh(ctx context.Context, shown bool) {
	if n.set.act.BeginOp() != nil {
		return
	}
	defer n.set.act.EndOp()
	l := n.Lock()
	ev, err := l.refresh(context.WithoutCancel(ctx))
	l.Unlock()
	switch {
	case errors.Is(err, fs.ErrNotExist): // the source reports the removal too
	case err != nil:
		n.set.o.Logger.Warn("changed note not read", model.LogPath, string(n.node.Place().Path), model.LogErr, err)
	case ev != nil && shown:
		n.set.act.Publish(*ev)
	}
}

// refresh is Refresh without publishing: it returns the event to publish after the lock is released, nil if nothing
// changed.
func (n *Locked) refresh(ctx context.Context) (*model.Event, error) {
	cur := n.cur.Load()
	at := n.node.Place()
	if cur == nil {
		n.synced = false // the next reader compares store and file
		n.doc, n.text = nil, nil
		return &model.Event{Kind: model.EventChanged, Path: at.Path, ViewChanged: true}, nil
	}
	if n.live != nil {
		s, err := n.readLive(ctx)
		if err != nil || !s.news && s.raw == cur.Raw() && slices.Equal(s.runs, cur.Runs()) {
			return nil, model.WrapError("read", at.Path, err)
		}
		return n.succeed(cur, n.versionOf(s, model.NextModTime(cur.ModTime(), s.modTime))), nil
	}
	data, stamp, err := n.source.Read(ctx, at.Rel)
	if err != nil {
		return nil, model.WrapError("read", at.Path, err)
	}
	if string(data) == cur.Raw() {
		n.stamp = stamp
		return nil, nil
	}
	ev, err := n.reconcile(string(data), modTimeOf(cur, stamp))
	if err == nil {
		n.stamp = stamp // after an error the old stamp stays, so that no write succeeds before the user's save is merged
	}
	return ev, err
}

// modTimeOf returns the modification time of a change by a user: that of the file, or a
// later one if the version before is not older.
func modTimeOf(cur *model.Version, stamp model.Stamp) time.Time {
	t := time.Unix(0, stamp.ModTime)
	if t.After(cur.ModTime()) {
		return model.NextModTime(cur.ModTime(), t)
	}
	return model.NextModTime(cur.ModTime(), time.Now())
}

// succeed publishes v as the version after cur and returns the event. If readers see no change, the modification time
// stays the same.
func (n *Locked) succeed(cur, v *model.Version) *model.Event {
	viewChanged := v.Text() != cur.Text()
	if !viewChanged {
		v.SetModTime(cur.ModTime())
	}
	n.publish(v)
	return &model.Event{Kind: model.EventChanged, Path: n.node.Place().Path, Version: v, ViewChanged: viewChanged}
}

// maxAttempts bounds how often a write is computed again because the file has changed. Each time another program's
// save succeeded.
const maxAttempts = 32

func appendEvent(events []model.Event, ev *model.Event) []model.Event {
	if ev == nil {
		return events
	}
	return append(events, *ev)
}

func (n *Note) State(ctx context.Context) (model.Stamp, model.ContentSum, error) {
	l := n.Lock()
	defer l.Unlock()
	v, err := l.load(ctx)
	if err != nil {
		return model.Stamp{}, model.ContentSum{}, err
	}
	return l.stamp, model.SumOf(v.Raw()), nil
}

// ChangedByPerson reports whether a user has changed the file since it had that stamp and text. Writes by relayfs do
// not count.
func (n *Note) ChangedByPerson(ctx context.Context, since model.Stamp, text model.ContentSum) bool {
	l := n.Lock()
	defer l.Unlock()
	at := n.node.Place()
	data, stamp, err := l.source.Read(ctx, at.Rel)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if stamp == since {
		return false
	}
	sum := model.SumOf(string(data))
	if sum == text {
		return false
	}
	if cur := n.cur.Load(); cur != nil {
		return cur.Raw() != string(data)
	}
	id, err := l.lookupID(at)
	if err != nil || id == "" {
		return true
	}
	h, err := l.store.Load(id)
	return err != nil || !h.Made(sum)
}

// Chmod sets the permission bits of the file and keeps its content.
func (n *Note) Chmod(ctx context.Context, source model.Permissions, mode fs.FileMode) error {
	l := n.Lock() // a write replaces the file
	defer l.Unlock()
	stamp, err := source.Chmod(ctx, n.node.Place().Rel, mode)
	if err != nil {
		return err
	}
	was := l.stamp
	if was.CTime = stamp.CTime; was == stamp {
		l.stamp = stamp
	}
	return nil
}

// Drop removes from the cache a note that is no longer in the tree.
func (n *Note) Drop() { n.set.cache.remove(n) }
