package bridge

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file keeps a note's document in step with the text of its file.

// sourceOrigin is the transaction origin of text that came from the source.
type sourceOrigin struct{}

// newDocID is a random 128-bit name.
func newDocID() model.DocID {
	var b [16]byte
	rand.Read(b[:])
	return model.DocID(hex.EncodeToString(b[:]))
}

// dropObjects takes away what a client has put into a text that is no text: a file has no
// place for it, and the places of the text after it would not be those of the file's.
func dropObjects(doc *ycrdt.Doc, text *ycrdt.Text) {
	if text.Len() == textmerge.UTF16Len(text.String()) {
		return
	}
	objects := text.Objects()
	doc.Transact(sourceOrigin{}, func(txn *ycrdt.Txn) {
		for _, pos := range slices.Backward(objects) {
			text.Delete(txn, pos, 1)
		}
	})
}

// changeDoc applies edits to a document whose text is raw and returns the record of it.
func changeDoc(doc *ycrdt.Doc, raw string, edits []diffwrap.Edit, origin any) model.Record {
	return record(doc, func(*model.Record) {
		text := doc.Text(contentsName)
		doc.Transact(origin, func(txn *ycrdt.Txn) { textmerge.ApplyEdits(txn, text, raw, edits) })
	})
}

// record returns the record of what fn does to doc.
func record(doc *ycrdt.Doc, fn func(*model.Record)) model.Record {
	clock := func() uint64 { return doc.StateVector()[doc.ClientID()] }
	rec := model.Record{Time: time.Now().UTC(), Client: uint64(doc.ClientID()), Clock: clock()}
	cancel := doc.OnUpdate(func(update []byte, _ any) { rec.Update = update })
	defer cancel()
	fn(&rec)
	rec.Len = clock() - rec.Clock
	return rec
}

// carryOut makes a plan's edits in doc, which is in the state raw, and returns the record of
// it.
func (n *note) carryOut(doc *ycrdt.Doc, raw string, plan *planner.Plan, by model.Author) model.Record {
	known, err := n.ledgerNow()
	if err != nil {
		known = attribution.NewLedger(nil) // whose the marks are that it leaves alone is not known for now
	}
	return record(doc, func(rec *model.Record) {
		plan.CarryOut(doc, doc.Text(contentsName), raw, by, known, rec)
	})
}

// openDoc makes sure that the note has a document in the state of raw, loading
// or creating it, and returns the records that the store does not hold yet.
func (n *note) openDoc(at place, raw string) ([]model.Record, error) {
	if n.doc != nil {
		return nil, nil
	}
	if n.id == "" {
		id, err := at.lookupID()
		if err != nil {
			return nil, err
		}
		if id == "" {
			id = n.assigned
		}
		if id == "" {
			id = newDocID()
		}
		n.id = id
	}
	h, err := at.store.Load(n.id)
	if err != nil {
		return nil, model.WrapError("open", at.path, err)
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil, model.WrapError("open", at.path, err)
	}
	n.doc, n.text = doc, doc.Text(contentsName)
	dropObjects(n.doc, n.text)
	if len(h.Records) > 0 {
		n.kept = h.Records[len(h.Records)-1].Seq
	}
	have := n.text.String()
	if have == raw {
		return nil, nil
	}
	return []model.Record{changeDoc(n.doc, have, textmerge.SavedEdits(have, raw), sourceOrigin{})}, nil
}

// prepare makes sure that the note has a document in the state of raw, in memory and in the
// store.
func (n *note) prepare(at place, raw string) error {
	records, err := n.openDoc(at, raw)
	if err != nil {
		return err
	}
	return n.keep(at, model.SumOf(raw), records)
}

// replay builds the document that records describe.
func replay(records []model.Record) (*ycrdt.Doc, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range records {
		if err := doc.ApplyUpdate(rec.Update, sourceOrigin{}); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// replayOne builds the document that one update describes.
func replayOne(update []byte) (*ycrdt.Doc, error) {
	return replay([]model.Record{{Update: update}})
}

// keepNew makes the document of a new note whose text plan led to, and has the store keep
// it before the file is there.
func (n *note) keepNew(at place, raw string, plan planner.Plan, by model.Author, post model.Stamp) error {
	n.doc = ycrdt.NewDoc(ycrdt.Options{})
	n.text = n.doc.Text(contentsName)
	if raw == "" {
		return nil // nothing to keep: the document is made when there is text
	}
	plan.Edits = []diffwrap.Edit{{New: raw}}
	rec := n.carryOut(n.doc, "", &plan, by)
	rec.Created = by.Name != ""
	sum := model.SumOf(raw)
	rec.Save = &model.Save{Post: post, Sum: sum[:]}
	seq, err := at.store.Append(n.id, model.Path(at.rel), rec)
	if err == nil {
		n.kept = seq
	}
	return err
}

// closeDoc forgets the in-memory document, whose state the store may not hold.
func (n *note) closeDoc() {
	n.doc, n.text, n.ledger = nil, nil, nil
	n.endShare()
	if n.behind != nil {
		n.caughtUp()
		n.cur.Store(nil) // to be found from file and store
		n.synced = false
	}
}

// keep has the store keep records of what the file holds, whose text has that sum. If it
// cannot, the document is forgotten: the next one is made of what the store has and of the
// file.
func (n *note) keep(at place, sum model.ContentSum, records []model.Record) error {
	if len(records) == 0 {
		return nil
	}
	seq, err := at.store.Append(n.id, model.Path(at.rel), records...)
	if err != nil {
		n.closeDoc()
		return model.WrapError("write", at.path, err)
	}
	n.advance(at, seq, sum, records)
	return nil
}

// advance notes that the store has kept records, of which the last is seq, and the file has
// their text.
func (n *note) advance(at place, seq uint64, sum model.ContentSum, records []model.Record) {
	n.extendLedger(seq, records)
	n.kept = seq
	at.store.Materialized(n.id, seq, sum)
}

// reconcile takes over raw, which a person's program put in the file, as plain
// text. The write lock is held; the event is to be published after its release.
func (n *note) reconcile(raw string, modTime time.Time) (*model.Event, error) {
	cur := n.cur.Load()
	at := n.where()
	next := model.NewVersion(raw, n.ws.o.View, 0, modTime)
	if next.ReadOnly() || (n.doc == nil && n.id == "") {
		n.replaced(cur)
		n.closeDoc()
		return n.succeed(cur, raw, modTime), nil
	}
	records, err := n.openDoc(at, cur.Raw())
	if err != nil {
		return nil, err
	}
	n.replaced(cur)
	records = append(slices.Clip(records), changeDoc(n.doc, cur.Raw(), textmerge.SavedEdits(cur.Raw(), raw), sourceOrigin{}))
	if err := n.keep(at, model.SumOf(raw), records); err != nil {
		// The file is the truth and has been read; the store catches up later.
		n.ws.log.Warn("person's change is not in the store yet", model.LogPath, string(at.path), model.LogErr, err)
	}
	return n.succeed(cur, raw, modTime), nil
}
