package host

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Document is one open document.
type Document struct {
	h     *Host
	id    string
	refs  int           // protected by Host.mu
	ready chan struct{} // closed when the following is set
	err   error
	doc   atomic.Pointer[ycrdt.Doc] // replaced when the document becomes a note
	over  chan struct{}

	folder   *folder // of a folder document
	unfollow func()
	closed   chan struct{}
	channel  atomic.Value // string

	mu     sync.Mutex  // protects the following
	loose  model.Store // has the document if that is in no folder, else nil
	kept   bool        // loose has something of it
	shared *bridge.Shared
}

// Origin is whose change an update is, and distinguishes its sender from other clients.
type Origin struct {
	User   string // "" if nobody's
	Sender any
}

// ID returns the document's id.
func (d *Document) ID() string { return d.id }

// Doc returns the document for reading and listening. Apply changes it.
func (d *Document) Doc() *ycrdt.Doc { return d.doc.Load() }

// Channel returns the id of the folder document that lists the document, "" if none does.
func (d *Document) Channel() string {
	channel, _ := d.channel.Load().(string)
	return channel
}

// Over is closed when the id stands for another document, as when the note was removed:
// open it again.
func (d *Document) Over() <-chan struct{} { return d.over }

// Close closes the document.
func (d *Document) Close() {
	d.h.mu.Lock()
	d.refs--
	last := d.refs == 0
	if last && d.h.docs[d.id] == d {
		delete(d.h.docs, d.id)
	}
	d.h.mu.Unlock()
	if !last {
		return
	}
	d.unfollow()
	d.mu.Lock()
	shared := d.shared
	d.mu.Unlock()
	if shared != nil {
		shared.Close()
	}
}

// becomeNote replaces the Yjs document by that of a note, and follows the note's end.
func (d *Document) becomeNote(s *bridge.Shared) {
	d.doc.Store(s.Doc())
	go func() {
		select {
		case <-s.Over():
			d.h.forget(d)
			close(d.over)
		case <-d.closed:
		}
	}()
}

// Apply applies a client's update. When it returns nil, the update is durable and its
// changes of files are done. Errors: those of ycrdt.Doc.ApplyUpdate and
// bridge.Shared.Change, and model.ErrTooLarge.
func (d *Document) Apply(ctx context.Context, update []byte, o Origin) error {
	apply := func(doc *ycrdt.Doc) error { return applyAs(doc, update, o) }
	by := model.Author{Name: o.User}
	if d.folder != nil {
		return d.folder.locked(func(n *names) error { return d.folder.change(ctx, n, by, apply) })
	}
	d.mu.Lock()
	if d.loose != nil {
		defer d.mu.Unlock()
		rec, err := record(d.Doc(), by, apply)
		if rec == nil {
			return err
		}
		return cmp.Or(d.keep(*rec), err)
	}
	shared := d.shared
	d.mu.Unlock()
	return shared.Change(ctx, by, apply)
}

// applyAs applies an update and registers its new clients for the user, as relay-server does.
func applyAs(doc *ycrdt.Doc, update []byte, o Origin) error {
	if err := checkSize(doc, update); err != nil {
		return err
	}
	before := doc.StateVector()
	if err := doc.ApplyUpdate(update, o); err != nil || o.User == "" {
		return err
	}
	for client := range doc.StateVector() {
		if _, known := before[client]; !known {
			folderdoc.Register(doc, o.User, client)
		}
	}
	return nil
}

// checkSize refuses an update that would make a note of more than model.MaxNote bytes. It
// applies only updates that might.
func checkSize(doc *ycrdt.Doc, update []byte) error {
	text := doc.Text(folderdoc.ContentsName)
	if text.Len()+len(update) <= model.MaxNote/3 {
		return nil // a unit has at most three bytes
	}
	trial := ycrdt.NewDoc(ycrdt.Options{})
	for _, u := range [][]byte{doc.EncodeStateAsUpdate(nil), update} {
		if err := trial.ApplyUpdate(u, nil); err != nil {
			return err
		}
	}
	if len(trial.Text(folderdoc.ContentsName).String()) > model.MaxNote {
		return model.ErrTooLarge
	}
	return nil
}

// ensureNonEmpty adds a struct to the document of an empty note: clients assume that a
// document without one was not uploaded yet.
func (d *Document) ensureNonEmpty(ctx context.Context) error {
	if len(d.Doc().StateVector()) > 0 {
		return nil
	}
	err := d.shared.Change(ctx, model.Author{}, func(doc *ycrdt.Doc) error {
		folderdoc.EnsureNonEmpty(doc)
		return nil
	})
	if errors.Is(err, model.ErrReadOnly) || errors.Is(err, model.ErrOffline) {
		return nil // it can still be read
	}
	return err
}

// history returns the records of a document that is no note, and their store; without
// records, the store of the first Folder.
func (h *Host) history(id string) (model.Store, []model.Record, error) {
	if len(h.folders) == 0 {
		return nil, nil, fs.ErrNotExist
	}
	for _, f := range h.folders {
		kept, err := f.store.Load(model.DocID(id))
		if err != nil || len(kept.Records) > 0 {
			return f.store, kept.Records, err
		}
	}
	return h.folders[0].store, nil, nil
}

func (d *Document) openLoose(create bool) error {
	store, records, err := d.h.history(d.id)
	if err != nil {
		return err
	}
	if len(records) == 0 && !create {
		return notExist(d.id)
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range records {
		if err := doc.ApplyUpdate(rec.Update, nil); err != nil {
			return err
		}
	}
	d.doc.Store(doc)
	d.loose, d.kept = store, len(records) > 0
	d.follow()
	return nil
}

// keep stores a record of a loose document.
func (d *Document) keep(rec model.Record) error {
	path := model.Path(".relay/docs/" + d.id) // no Folder's name begins with a dot
	seq, err := d.loose.Append(model.DocID(d.id), path, rec)
	if err != nil {
		return err
	}
	d.kept = true
	d.loose.Materialized(model.DocID(d.id), seq, model.ContentSum{}) // there is no file
	return nil
}

// record runs fn and returns a record of its changes to doc, nil if there are none.
func record(doc *ycrdt.Doc, by model.Author, fn func(*ycrdt.Doc) error) (*model.Record, error) {
	var updates [][]byte
	cancel := doc.OnUpdate(func(update []byte, _ any) { updates = append(updates, update) })
	err := fn(doc)
	cancel()
	if len(updates) == 0 {
		return nil, err
	}
	update, mergeErr := ycrdt.MergeUpdates(updates...)
	if mergeErr != nil {
		update = doc.EncodeStateAsUpdate(nil)
	}
	return &model.Record{Update: update, Author: by.Name, Session: by.Session, Time: time.Now().UTC()}, err
}
