package bridge

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// contentsName is the root Text of a document that holds a note's raw text, as
// the Relay data model names it.
const contentsName = "contents"

// note is the state of one note: the text that readers get, and, once it has
// been written, its document.
type note struct {
	ws   *Workspace
	node *node

	// cur is the published version; nil until the note is first read and after
	// it was evicted.
	cur atomic.Pointer[model.Version]
	// changed is the modification time of the last version, in Unix nanoseconds; it
	// outlives cur. 0 until the note is first read.
	changed atomic.Int64

	// write admits one writer at a time. It is held across disk and protects the
	// following. Who takes it calls lock.
	write  sync.Mutex
	seq    uint64      // of the last version published
	stamp  model.Stamp // of the file that cur was read from or written to
	id     model.DocID // "" while the note has no document
	doc    *ycrdt.Doc
	text   *ycrdt.Text
	kept   uint64              // store sequence number of the last record of doc
	synced bool                // the store's history has been compared with the file
	ledger *attribution.Ledger // what the store's records up to kept tell, of doc or live; nil if that was not asked for
	live   Document            // instead of stamp, doc and the rest, where the document is the truth; see live.go
	bornOf model.Author        // who made the note in this process
	born   time.Time           // when

	assigned model.DocID    // the id of the document that it is to get, "" for any
	behind   *model.Version // what the file holds while cur is ahead of it, else nil; see behind.go
	flushing *time.Timer    // set while the file is to be written
	flushed  []flushed      // what the file held before it was last written

	share atomic.Pointer[share] // nil while nobody has it open as a live document; see share.go
}

// place is where a note is at one moment; a rename moves it.
type place struct {
	*folder
	path model.Path
	rel  string // in the folder
}

// where is the note's place now.
func (n *note) where() place {
	n.ws.treeMu.RLock()
	defer n.ws.treeMu.RUnlock()
	return place{n.node.folder, n.node.path(), n.node.rel()}
}

// isShown says whether the note has a path, and is not proposed to be deleted.
func (n *note) isShown() bool {
	n.ws.treeMu.RLock()
	defer n.ws.treeMu.RUnlock()
	return n.node.shown()
}

// version returns the published version, reading the note if need be.
func (n *note) version(ctx context.Context) (*model.Version, error) {
	if v := n.cur.Load(); v != nil {
		n.ws.cache.touch(n)
		return v, nil
	}
	n.write.Lock()
	defer n.write.Unlock()
	return n.load(ctx)
}

// load reads the note and brings its document up to the file. The write lock
// is held.
func (n *note) load(ctx context.Context) (*model.Version, error) {
	if v := n.cur.Load(); v != nil {
		return v, nil
	}
	at := n.where()
	if at.offline.Load() {
		return nil, &model.Error{Op: "open", Path: at.path, Err: model.ErrOffline}
	}
	if docs, ok := at.source.(Documents); ok {
		return n.loadLive(ctx, at, docs)
	}
	data, stamp, err := at.source.Read(ctx, at.rel)
	if err != nil {
		return nil, model.WrapError("open", at.path, err)
	}
	n.stamp = stamp
	v := model.NewVersion(asString(data), n.ws.o.View, 0, time.Unix(0, stamp.ModTime))
	if err := n.separateStored(at, v); err != nil {
		return nil, err
	}
	n.publishVersion(v)
	if n.synced {
		return v, nil
	}
	if err := n.catchUp(ctx, at); err != nil {
		n.cur.Store(nil)
		return nil, err
	}
	n.synced = true
	cur := n.cur.Load()
	if v := model.NewVersion(cur.Raw(), n.ws.o.View, 0, cur.ModTime()); n.doc != nil && cur.Separated() == nil {
		if n.separate(v); v.Separated() != nil { // what was typed while nobody followed the note
			cur = n.publishVersion(v)
		}
	}
	return cur, nil
}

// asString is data, which nobody else has, as a string without a copy: most of the
// memory that a first search through all notes takes.
func asString(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// publish makes raw the note's current version. The write lock is held.
func (n *note) publish(raw string, modTime time.Time) *model.Version {
	v := model.NewVersion(raw, n.ws.o.View, 0, modTime)
	n.separate(v)
	return n.publishVersion(v)
}

func (n *note) publishVersion(v *model.Version) *model.Version {
	n.seq++
	v.Number(n.seq)
	n.cur.Store(v)
	n.changed.Store(v.ModTime().UnixNano())
	n.ws.cache.add(n, n.size(v))
	return v
}

// replaced keeps what a later merge needs to know of the version that is about
// to be replaced. The write lock is held, doc is still in cur's state.
func (n *note) replaced(cur *model.Version) {
	if n.doc != nil && cur.Runs() == nil {
		cur.SetRuns(n.text.Runs())
	}
}

// runs are the identities of the current version's characters, nil without a
// document. The write lock is held.
func (n *note) runs() []ycrdt.Run {
	if n.live != nil {
		return n.cur.Load().Runs()
	}
	if n.doc == nil {
		return nil
	}
	return n.text.Runs()
}

// refresh brings the note up to its source's file, which somebody else changed.
// It returns the event to publish once the lock is released, or nil when
// nothing changed. The write lock is held.
func (n *note) refresh(ctx context.Context) (*model.Event, error) {
	cur := n.cur.Load()
	at := n.where()
	if cur == nil {
		n.synced = false // whoever reads it next compares store and file
		n.doc, n.text = nil, nil
		return &model.Event{Kind: model.EventChanged, Path: at.path, ViewChanged: true}, nil
	}
	if n.live != nil {
		return n.refreshLive(ctx, at, cur)
	}
	for range maxAttempts {
		ev, err := n.refreshFile(ctx, at, cur)
		if !errors.Is(err, model.ErrConflict) {
			return ev, err
		}
	}
	return nil, &model.Error{Op: "read", Path: at.path, Err: model.ErrConflict}
}

// refreshFile is refresh for a note with a file; ErrConflict says that the file
// has changed again.
func (n *note) refreshFile(ctx context.Context, at place, cur *model.Version) (*model.Event, error) {
	data, stamp, err := at.source.Read(ctx, at.rel)
	if err != nil {
		return nil, model.WrapError("read", at.path, err)
	}
	switch base := n.savedFrom(string(data), cur); {
	case string(data) == cur.Raw():
		n.stamp = stamp
		n.caughtUp()
		return nil, nil
	case n.behind != nil && string(data) == n.behind.Raw():
		n.stamp = stamp
		return nil, nil
	case base != cur:
		return n.takeOver(ctx, base, string(data), stamp)
	}
	ev, err := n.reconcile(string(data), modTimeOf(cur, stamp))
	if err == nil {
		n.stamp = stamp // else no write before what a person saved is taken over
	}
	return ev, err
}

// modTimeOf is the modification time of a change that a person made: the
// file's own, unless that would not be later than before.
func modTimeOf(cur *model.Version, stamp model.Stamp) time.Time {
	t := time.Unix(0, stamp.ModTime)
	if t.After(cur.ModTime()) {
		return model.NextModTime(cur.ModTime(), t)
	}
	return model.NextModTime(cur.ModTime(), time.Now())
}

// succeed publishes raw as the version after cur and describes the change. A
// change that readers do not see leaves the modification time alone.
func (n *note) succeed(cur *model.Version, raw string, modTime time.Time) *model.Event {
	v := model.NewVersion(raw, n.ws.o.View, 0, modTime)
	n.separate(v)
	return n.succeedBy(cur, v)
}

func (n *note) succeedBy(cur, v *model.Version) *model.Event {
	viewChanged := v.Text() != cur.Text()
	if !viewChanged {
		v.Date(cur.ModTime())
	}
	n.publishVersion(v)
	return &model.Event{
		Kind: model.EventChanged, Path: n.where().path, Version: v, ViewChanged: viewChanged,
	}
}

// lookupID asks the store for the document of the note there, "" if it has none.
func (at place) lookupID() (model.DocID, error) {
	id, err := at.store.DocID(model.Path(at.rel))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return id, model.WrapError("open", at.path, err)
}
