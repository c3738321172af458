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
	"github.com/relayfs/relayfs/bridge/note/attribution"
)

type Location struct {
	ID         uint64     // of the name: stable in this process, also across renames
	Path       model.Path // path in the workspace
	SourcePath model.Path // path without pending proposals
	Rel        string     // path in the source
	Offline    bool       // the source is offline
	Shown      bool       // the workspace shows the note: it has a path, and its deletion is not pending
	InTree     bool       // the tree has the note
}

type Node interface {
	Location() Location
}

// Note is the state of one note: the text for readers and, once the note has been written, its document.
//
// A vault may have a million notes, of which few are ever read. So a note is small until it is locked for the first
// time.
type Note struct {
	*Source
	node Node

	// current is the published version; nil before the first read and after an eviction.
	current atomic.Pointer[model.Version]
	// changed is the modification time of the last version, in Unix nanoseconds. It is 0 before the first read. An
	// eviction keeps it.
	changed atomic.Int64

	writeLock fifoMutex // held by the current writer; guards the field below and what it points to
	*opened             // nil before the first Lock

	// The cache's lock guards the fields below.
	cached *list.Element // nil if the note is not in the cache
	size   int           // cached bytes
}

type opened struct {
	document
	seq      uint64      // sequence number of the last published version
	stamp    model.Stamp // stamp of the file that current was read from or written to
	synced   bool        // the store's history has been compared with the file
	creation *creation   // nil if this process did not create the note
}

type creation struct {
	author  model.Author
	at      time.Time // zero for a note without a file
	folders []string  // its parent folders that agents created
}

func (n *Note) creator() model.Author {
	if n.creation == nil {
		return model.Author{}
	}
	return n.creation.author
}

// Locked is a Note whose lock is held until Unlock.
type Locked Note

func (n *Note) Lock() *Locked {
	n.writeLock.lock()
	if n.opened == nil {
		n.opened = &opened{document: document{store: n.history}}
	}
	return (*Locked)(n)
}

func (n *Locked) Unlock() { n.writeLock.unlock() }

// Version returns the published version. It reads the note if necessary. Errors: model.ErrOffline, fs.ErrNotExist,
// fs.ErrPermission.
func (n *Note) Version(ctx context.Context) (*model.Version, error) {
	if v := n.current.Load(); v != nil {
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
	return time.Unix(0, n.changed.Load()), n.current.Load() != nil
}

// load reads the note and reconciles document and file. The file may lack stored text because of a crash. If load
// cannot write that text to the file now, or the store cannot move the note's document to its path, it returns both the
// version and an error: readers can use the version, and the next load tries again.
func (n *Locked) load(ctx context.Context) (v *model.Version, err error) {
	for range maxAttempts { // a user may save while the file is updated
		if v, err = n.read(ctx); !errors.Is(err, model.ErrConflict) {
			break
		}
	}
	return v, err
}

func (n *Locked) read(ctx context.Context) (*model.Version, error) {
	if v := n.current.Load(); v != nil {
		return v, nil
	}
	loc := n.node.Location()
	if loc.Offline {
		return nil, &model.Error{Op: "open", Path: loc.Path, Err: model.ErrOffline}
	}
	if docs, ok := n.source.(model.Documents); ok {
		return n.loadLive(ctx, loc, docs)
	}
	data, stamp, err := n.source.Read(ctx, loc.Rel)
	if err != nil {
		return nil, model.WrapError("open", loc.Path, err)
	}
	n.stamp = stamp
	v := model.NewVersion(asString(data), n.set.o.View, time.Unix(0, stamp.ModTime))
	var h *model.History // the stored history; nil if not loaded
	var unclaimed error
	if !n.synced {
		kept, err := n.identify(ctx, loc, v.Raw())
		if _, found := errors.AsType[claimError](err); err != nil && !found {
			return nil, model.WrapError("open", loc.Path, err)
		}
		h, n.storedSeq, unclaimed = &kept, kept.LastSeq(), err
	}
	if err := n.separateStored(loc, v, h); err != nil {
		return nil, err
	}
	if unclaimed != nil {
		n.publish(v)
		n.current.Store(nil)
		n.id = "" // the next load looks for the document again
		return v, model.WrapError("open", loc.Path, unclaimed)
	}
	if n.synced {
		return n.publish(v), nil
	}
	newest, err := n.recover(ctx, loc, v, h)
	if err != nil {
		n.unloadDoc()
		n.current.Store(nil)
		return newest, err
	}
	n.synced = true
	if newest != nil {
		return n.current.Load(), nil
	}
	if n.doc != nil { // a user may have typed text while relayfs did not follow the note
		v = n.newVersion(v.Raw(), v.ModTime())
	}
	return n.publish(v), nil
}

func (n *Locked) loadLive(ctx context.Context, loc Location, docs model.Documents) (*model.Version, error) {
	if n.live == nil {
		d, err := docs.Document(ctx, loc.Rel)
		if err != nil {
			return nil, model.WrapError("open", loc.Path, err)
		}
		n.live, n.id = d, d.ID()
	}
	s, err := n.readLive(ctx)
	if err != nil {
		return nil, model.WrapError("open", loc.Path, err)
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

// asString converts data without a copy; the caller must not use data afterwards. Copies would be most of the memory
// that the first search through all notes uses.
func asString(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// newVersion makes a version with the given raw text, and with its attribution if the document is in that state.
func (n *Locked) newVersion(raw string, modTime time.Time) *model.Version {
	v := model.NewVersion(raw, n.set.o.View, modTime)
	if attribution.MarksIn(raw) && (n.live != nil || n.doc != nil && n.text.String() == raw) {
		n.separate(v) // otherwise v is a program's pending write, without users' text in agents' marks
	}
	return v
}

func (n *Locked) publish(v *model.Version) *model.Version {
	n.seq++
	v.SetSeq(n.seq, n.storedSeq)
	n.current.Store(v)
	n.changed.Store(v.ModTime().UnixNano())
	n.set.cache.add((*Note)(n), loadedBytes+len(v.Raw())+v.Known().Bytes()+n.document.size())
	return v
}

// Refresh updates the note from its source's file, which another program changed. It publishes the change if
// the note is shown.
func (n *Note) Refresh(ctx context.Context) {
	if n.set.events.BeginOp() != nil {
		return
	}
	defer n.set.events.EndOp()
	l := n.Lock()
	ev, err := l.refresh(context.WithoutCancel(ctx), nil)
	l.Unlock()
	switch {
	case errors.Is(err, fs.ErrNotExist): // the source reports the removal too
	case err != nil:
		n.set.o.Logger.Warn("changed note not read", model.LogPath, string(n.node.Location().Path), model.LogErr, err)
	case ev != nil && n.node.Location().Shown:
		n.set.events.Publish(*ev)
	}
}

// refresh is Refresh without publishing. It returns the event that the caller must publish after it releases the lock,
// or nil if nothing changed. If refuse is given and reports true for the file that was read, refresh changes nothing and
// returns ErrConflict.
func (n *Locked) refresh(ctx context.Context, refuse func(context.Context, model.Stamp) bool) (*model.Event, error) {
	current := n.current.Load()
	loc := n.node.Location()
	if current == nil {
		n.synced = false // the next reader compares store and file
		n.doc, n.text = nil, nil
		return &model.Event{Kind: model.EventChanged, Path: loc.Path, ViewChanged: true}, nil
	}
	if n.live != nil {
		s, err := n.readLive(ctx)
		if err != nil || !s.newEntries && s.raw == current.Raw() && slices.Equal(s.runs, current.Runs()) {
			return nil, model.WrapError("read", loc.Path, err)
		}
		return n.publishAfter(current, n.versionOf(s, model.NextModTime(current.ModTime(), s.modTime))), nil
	}
	data, stamp, err := n.source.Read(ctx, loc.Rel)
	if err != nil {
		return nil, model.WrapError("read", loc.Path, err)
	}
	if refuse != nil && refuse(ctx, stamp) {
		return nil, &model.Error{Op: "write", Path: loc.Path, Err: model.ErrConflict}
	}
	if string(data) == current.Raw() {
		n.stamp = stamp
		return nil, nil
	}
	ev, err := n.reconcile(string(data), stamp, modTimeOf(current, stamp))
	if err == nil {
		n.stamp = stamp // an error keeps the old stamp, so that no write succeeds before the user's save is merged
	}
	return ev, err
}

// modTimeOf returns the modification time of a user's change. It is the file's time if that is after current's
// modification time, and otherwise the present time. The result is at least a millisecond after current's modification
// time.
func modTimeOf(current *model.Version, stamp model.Stamp) time.Time {
	t := time.Unix(0, stamp.ModTime)
	if t.After(current.ModTime()) {
		return model.NextModTime(current.ModTime(), t)
	}
	return model.NextModTime(current.ModTime(), time.Now())
}

// publishAfter publishes v as the version after current and returns the event. If readers see no change, the
// modification time stays the same.
func (n *Locked) publishAfter(current, v *model.Version) *model.Event {
	return n.publishAs(current, v, v.Text() != current.Text())
}

func (n *Locked) publishAs(current, v *model.Version, viewChanged bool) *model.Event {
	if !viewChanged {
		v.SetModTime(current.ModTime())
	}
	n.publish(v)
	return &model.Event{Kind: model.EventChanged, Path: n.node.Location().Path, Version: v, ViewChanged: viewChanged}
}

// maxAttempts is the maximum number of times that a write is computed because the file has changed. Each retry means
// that another program's save succeeded in the meantime.
const maxAttempts = 32

func appendEvent(events []model.Event, ev *model.Event) []model.Event {
	if ev == nil {
		return events
	}
	return append(events, *ev)
}

// State returns the note's document, the stamp of its file and the checksum of its text. It creates a missing document,
// because a proposal about the note belongs to the document. It returns no document for a note of a server or a
// read-only note, and creates none for an empty note.
func (n *Note) State(ctx context.Context) (id model.DocID, file model.Stamp, sum model.ContentSum, err error) {
	l := n.Lock()
	defer l.Unlock()
	v, err := l.load(ctx)
	if err != nil {
		return "", file, sum, err
	}
	sum = model.SumOf(v.Raw())
	if l.live != nil || v.ReadOnly() || v.Raw() == "" && l.storedSeq == 0 {
		return "", l.stamp, sum, nil
	}
	loc := l.node.Location()
	records, err := l.open(loc, v.Raw())
	if err == nil {
		err = l.keep(loc, sum, l.stamp, records)
	}
	return l.id, l.stamp, sum, err
}

// DocID returns the document of the note's file, or "".
func (n *Note) DocID(ctx context.Context) (model.DocID, error) {
	l := n.Lock()
	defer l.Unlock()
	_, err := l.load(ctx)
	return l.id, err
}

// ChangedByUser reports whether a user has changed or removed the file since it had the given stamp and text. Writes by
// relayfs, and changes that the note has already taken over, do not count.
func (n *Note) ChangedByUser(ctx context.Context, since model.Stamp, text model.ContentSum) bool {
	l := n.Lock()
	defer l.Unlock()
	loc := n.node.Location()
	data, stamp, err := l.source.Read(ctx, loc.Rel)
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
	if current := n.current.Load(); current != nil {
		return current.Raw() != string(data)
	}
	id, err := l.lookupID(loc)
	if err != nil || id == "" {
		return true
	}
	h, err := l.store.Load(id)
	return err != nil || !h.WroteText(sum)
}

func (n *Note) Chmod(ctx context.Context, source model.Permissions, mode fs.FileMode) error {
	l := n.Lock() // no write may replace the file in the meantime
	defer l.Unlock()
	stamp, err := source.Chmod(ctx, n.node.Location().Rel, mode)
	if err != nil {
		return err
	}
	old := l.stamp
	if old.CTime = stamp.CTime; old == stamp {
		l.stamp = stamp
	}
	return nil
}

// Discard removes from the cache a note that is no longer in the tree.
func (n *Note) Discard() { n.set.cache.remove(n) }
