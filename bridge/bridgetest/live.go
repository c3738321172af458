package bridgetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Live is a Source whose notes are live documents: it is also a model.Documents. Store is the store of the workspace.
// Peers do not change the files.
type Live struct {
	*Source
	Store *Store

	t    testing.TB
	docs sync.Map // *liveDoc by inode
}

func NewLive(t testing.TB, store *Store) *Live {
	t.Helper()
	return &Live{Source: NewSource(t), Store: store, t: t}
}

type liveDoc struct {
	live  *Live
	inode uint64

	mu       sync.Mutex // guards the fields below
	doc      *ycrdt.Doc
	modTime  time.Time
	readOnly bool
}

func (l *Live) Document(_ context.Context, rel string) (model.Document, error) {
	return l.document(rel)
}

// document returns the document of a note. If there is none yet, it creates one with the text of the file.
func (l *Live) document(rel string) (*liveDoc, error) {
	data, stamp, err := l.Read(context.Background(), rel)
	if err != nil {
		return nil, err
	}
	d := &liveDoc{live: l, inode: stamp.Inode, doc: ycrdt.NewDoc(ycrdt.Options{}), modTime: time.Now()}
	d.doc.Transact(func(tx *ycrdt.Txn) { d.doc.Text("contents").Insert(tx, 0, string(data)) })
	have, _ := l.docs.LoadOrStore(d.inode, d)
	return have.(*liveDoc), nil
}

func (l *Live) NewDocument(ctx context.Context, rel string, rec *model.Record, fn func(*ycrdt.Doc) error) (model.Document, error) {
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
	l.Person(l.t).Edit(rel, func(text string) string { return text })
	return nil
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

func (d *liveDoc) ID() model.DocID { return model.DocID(fmt.Sprintf("doc-%d", d.inode)) }

func (d *liveDoc) View(_ context.Context, fn func(*ycrdt.Doc, time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fn(d.doc, d.modTime)
}

func (d *liveDoc) path() model.Path {
	for _, rel := range d.live.Person(d.live.t).Names() {
		if e, err := d.live.Stat(rel); err == nil && e.Stamp.Inode == d.inode {
			return model.Path(rel)
		}
	}
	return model.Path(d.ID())
}

func (d *liveDoc) Change(_ context.Context, rec *model.Record, fn func(*ycrdt.Doc) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readOnly {
		return model.ErrReadOnly
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
	if rec.Seq, err = d.live.Store.Append(d.ID(), d.path(), *rec); err != nil {
		d.doc = ycrdt.NewDoc(ycrdt.Options{})
		return errors.Join(err, d.doc.ApplyUpdate(before))
	}
	d.modTime = rec.Time
	return nil
}
