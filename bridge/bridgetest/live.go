package bridgetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Live is a Folder in memory whose notes are live documents: a Source that is
// also a bridge.Documents. Its names change as those of a Source do. Store is
// the one that the workspace is given.
type Live struct {
	Source
	Store *Store

	docs sync.Map // *entry to *liveDoc
}

// liveDoc is one live document.
type liveDoc struct {
	id    model.DocID
	live  *Live
	entry *entry

	mu       sync.Mutex // protects the following; held while the document changes
	doc      *ycrdt.Doc
	modTime  time.Time
	readOnly bool
}

// Document returns the document of the note at rel.
func (l *Live) Document(_ context.Context, rel string) (bridge.Document, error) {
	if err := l.lock("open", rel); err != nil {
		return nil, err
	}
	defer l.mu.Unlock()
	e, err := l.find(rel)
	if err != nil {
		return nil, fail("open", rel, err)
	}
	return l.document(e), nil
}

// document is the document of an entry, with the entry's text if it is new.
func (l *Live) document(e *entry) *liveDoc {
	d := &liveDoc{id: model.DocID(fmt.Sprintf("doc-%d", e.stamp.Inode)), live: l, entry: e, doc: ycrdt.NewDoc(ycrdt.Options{}), modTime: time.Now()}
	known, loaded := l.docs.LoadOrStore(e, d)
	if !loaded && len(e.data) > 0 {
		d.doc.Transact(nil, func(tx *ycrdt.Txn) { d.doc.Text("contents").Insert(tx, 0, string(e.data)) })
	}
	return known.(*liveDoc)
}

// NewDocument makes a new note.
func (l *Live) NewDocument(ctx context.Context, rel string, rec *model.Record, fn func(*ycrdt.Doc) error) (bridge.Document, error) {
	if _, err := l.Create(ctx, rel, model.NewFile{Data: nil, Mode: 0o644, ModTime: time.Now()}); err != nil {
		return nil, err
	}
	d, err := l.Document(ctx, rel)
	if err != nil {
		return nil, err
	}
	return d, d.Change(ctx, rec, fn)
}

// Peer changes the document of the note at rel as a peer does: Run reports it.
func (l *Live) Peer(rel string, fn func(*ycrdt.Doc)) error {
	d, err := l.Document(context.Background(), rel)
	if err != nil {
		return err
	}
	doc := d.(*liveDoc)
	doc.mu.Lock()
	fn(doc.doc)
	doc.modTime = time.Now()
	doc.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report(model.SourceEvent{Kind: model.EventChanged, Rel: rel, Entry: doc.entry.describe(rel)})
	return nil
}

// SetReadOnly makes the document of the note at rel refuse changes.
func (l *Live) SetReadOnly(rel string) error {
	d, err := l.Document(context.Background(), rel)
	if err != nil {
		return err
	}
	doc := d.(*liveDoc)
	doc.mu.Lock()
	defer doc.mu.Unlock()
	doc.readOnly = true
	return nil
}

// ID names the document.
func (d *liveDoc) ID() model.DocID { return d.id }

// View calls fn with the document.
func (d *liveDoc) View(_ context.Context, fn func(*ycrdt.Doc, time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fn(d.doc, d.modTime)
}

// path is where the note is.
func (d *liveDoc) path() model.Path {
	d.live.mu.Lock()
	defer d.live.mu.Unlock()
	for rel, e := range d.live.entries {
		if e == d.entry {
			return model.Path(rel)
		}
	}
	return model.Path(d.id)
}

// Change changes the document and keeps that in the store.
func (d *liveDoc) Change(_ context.Context, rec *model.Record, fn func(*ycrdt.Doc) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readOnly {
		return fail("write", "", model.ErrReadOnly)
	}
	cancel := d.doc.OnUpdate(func(update []byte, _ any) { rec.Update = update })
	defer cancel()
	before := d.doc.EncodeStateAsUpdate(nil)
	rec.Client = uint64(d.doc.ClientID())
	rec.Clock = d.doc.StateVector()[d.doc.ClientID()]
	if err := fn(d.doc); err != nil || rec.Update == nil {
		return err
	}
	rec.Len = d.doc.StateVector()[d.doc.ClientID()] - rec.Clock
	if _, err := d.live.Store.Append(d.id, d.path(), *rec); err != nil {
		d.doc = ycrdt.NewDoc(ycrdt.Options{})
		return errors.Join(err, d.doc.ApplyUpdate(before, nil))
	}
	d.modTime = rec.Time
	return nil
}
