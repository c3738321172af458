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

// Live is an in-memory root whose notes are live documents: it is a Source and also a bridge.Documents. Store is the
// store of the workspace.
type Live struct {
	Source
	Store *Store

	docs sync.Map // maps *entry to *liveDoc
}

type liveDoc struct {
	id    model.DocID
	live  *Live
	entry *entry

	mu       sync.Mutex // guards the fields below
	doc      *ycrdt.Doc
	modTime  time.Time
	readOnly bool
}

func (l *Live) Document(_ context.Context, rel string) (bridge.Document, error) {
	return l.document(rel)
}

// document returns the document of a note. If there is none yet, it creates one with the text of the file.
func (l *Live) document(rel string) (doc *liveDoc, err error) {
	err = l.do("open", rel, func(t *tree) error {
		e, err := t.find(rel)
		if err != nil {
			return err
		}
		d := &liveDoc{id: model.DocID(fmt.Sprintf("doc-%d", e.stamp.Inode)), live: l, entry: e, doc: ycrdt.NewDoc(ycrdt.Options{}), modTime: time.Now()}
		have, loaded := l.docs.LoadOrStore(e, d)
		if !loaded && len(e.data) > 0 {
			d.doc.Transact(func(tx *ycrdt.Txn) { d.doc.Text("contents").Insert(tx, 0, string(e.data)) })
		}
		doc = have.(*liveDoc)
		return nil
	})
	return doc, err
}

func (l *Live) NewDocument(ctx context.Context, rel string, rec *model.Record, fn func(*ycrdt.Doc) error) (bridge.Document, error) {
	if _, err := l.Create(ctx, rel, model.NewFile{Data: nil, Mode: 0o644, ModTime: time.Now()}); err != nil {
		return nil, err
	}
	d, err := l.document(rel)
	if err != nil {
		return nil, err
	}
	return d, d.Change(ctx, rec, fn)
}

// Peer changes the document of the note at rel as a remote peer does: Run reports the change.
func (l *Live) Peer(rel string, fn func(*ycrdt.Doc)) error {
	d, err := l.document(rel)
	if err != nil {
		return err
	}
	d.mu.Lock()
	fn(d.doc)
	d.modTime = time.Now()
	d.mu.Unlock()
	return l.locked(func(*tree) error {
		l.feed.add(model.SourceEvent{Kind: model.EventChanged, Rel: rel, Entry: d.entry.describe(rel)})
		return nil
	})
}

func (l *Live) SetReadOnly(rel string) error {
	d, err := l.document(rel)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readOnly = true
	return nil
}

func (d *liveDoc) ID() model.DocID { return d.id }

func (d *liveDoc) View(_ context.Context, fn func(*ycrdt.Doc, time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fn(d.doc, d.modTime)
}

func (d *liveDoc) path() model.Path {
	p := model.Path(d.id)
	_ = d.live.locked(func(t *tree) error {
		for rel, e := range t.entries {
			if e == d.entry {
				p = model.Path(rel)
			}
		}
		return nil
	})
	return p
}

func (d *liveDoc) Change(_ context.Context, rec *model.Record, fn func(*ycrdt.Doc) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readOnly {
		return fail("write", "", model.ErrReadOnly)
	}
	d.doc.OnUpdate(func(update []byte) { rec.Update = update })
	defer d.doc.OnUpdate(nil)
	before := d.doc.EncodeStateAsUpdate(nil)
	rec.Client = uint64(d.doc.ClientID())
	rec.Clock = d.doc.StateVector()[d.doc.ClientID()]
	if err := fn(d.doc); err != nil || rec.Update == nil {
		return err
	}
	rec.Len = d.doc.StateVector()[d.doc.ClientID()] - rec.Clock
	var err error
	if rec.Seq, err = d.live.Store.Append(d.id, d.path(), *rec); err != nil {
		d.doc = ycrdt.NewDoc(ycrdt.Options{})
		return errors.Join(err, d.doc.ApplyUpdate(before))
	}
	d.modTime = rec.Time
	return nil
}
