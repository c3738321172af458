package bridge

import (
	"context"
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

// changeDoc applies edits to the note's document and returns the record of it.
func (n *note) changeDoc(raw string, edits []diffwrap.Edit, origin any) model.Record {
	rec := model.Record{Time: time.Now().UTC(), Client: uint64(n.doc.ClientID())}
	cancel := n.doc.OnUpdate(func(update []byte, _ any) { rec.Update = update })
	defer cancel()
	before := n.clock()
	n.doc.Transact(origin, func(txn *ycrdt.Txn) { textmerge.ApplyEdits(txn, n.text, raw, edits) })
	rec.Clock = before
	rec.Len = n.clock() - before
	return rec
}

// carryOut makes a plan's edits in the note's document and returns the record of it.
func (n *note) carryOut(raw string, plan *planner.Plan, by model.Author) model.Record {
	rec := model.Record{Time: time.Now().UTC(), Client: uint64(n.doc.ClientID()), Clock: n.clock()}
	known, err := n.ledgerNow()
	if err != nil {
		known = attribution.NewLedger(nil) // whose the marks are that it leaves alone is not known for now
	}
	cancel := n.doc.OnUpdate(func(update []byte, _ any) { rec.Update = update })
	defer cancel()
	plan.CarryOut(n.doc, n.text, raw, by, known, &rec)
	rec.Len = n.clock() - rec.Clock
	return rec
}

// clock is the next clock of this process's client in the document.
func (n *note) clock() uint64 { return n.doc.StateVector()[n.doc.ClientID()] }

// openDoc makes sure that the note has a document in the state of raw, loading
// or creating it, and returns the records that the store does not hold yet.
func (n *note) openDoc(at place, raw string) ([]model.Record, error) {
	if n.doc != nil {
		return n.held, nil
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
	return n.catchUpTo(at, raw, have, h), nil
}

// prepare makes sure that the note has a document in the state of raw, in memory
// and in the store: if the write that follows is interrupted, what it did is
// told from what was there.
func (n *note) prepare(at place, raw string) error {
	_, err := n.prepareFor(planner.Plan{}, at, raw, model.Author{})
	return err
}

// prepareFor is prepare before by carries out plan. If the intent tells as well what
// was there, which is nobody's, the first record of a document is returned, to be
// kept with the plan's own.
func (n *note) prepareFor(plan planner.Plan, at place, raw string, by model.Author) ([]model.Record, error) {
	records, err := n.openDoc(at, raw)
	if err != nil {
		return nil, err
	}
	told := plan.Decision != nil || by.Name != "" && plan.OnlyInserts()
	someones := slices.ContainsFunc(records, func(r model.Record) bool { return r.Author != "" })
	if n.kept == 0 && told && !someones {
		return records, nil
	}
	return nil, n.keep(at, model.SumOf(raw), records)
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

// keepNew makes the document of a new note whose text plan led to.
func (n *note) keepNew(at place, raw string, plan planner.Plan, by model.Author) error {
	n.doc = ycrdt.NewDoc(ycrdt.Options{})
	n.text = n.doc.Text(contentsName)
	if raw == "" {
		return nil // nothing to keep: the document is made when there is text
	}
	plan.Edits = []diffwrap.Edit{{New: raw}}
	rec := n.carryOut("", &plan, by)
	rec.Created = by.Name != ""
	return n.keep(at, model.SumOf(raw), []model.Record{rec})
}

// closeDoc forgets the in-memory document, whose state the store may not hold.
func (n *note) closeDoc() {
	n.doc, n.text, n.held, n.ledger = nil, nil, nil, nil
	n.endShare()
	if n.behind != nil {
		n.caughtUp()
		n.cur.Store(nil) // to be found from file and store
		n.synced = false
	}
}

// keep appends records to the store and notes the sum of what the file holds.
func (n *note) keep(at place, sum model.ContentSum, records []model.Record) error {
	if len(records) == 0 {
		n.owing = false
		return nil
	}
	seq, err := at.store.Append(n.id, model.Path(at.rel), records...)
	n.owing = err != nil
	if err != nil {
		if n.held == nil {
			n.closeDoc()
		} else {
			n.held = records
		}
		return model.WrapError("write", at.path, err)
	}
	n.held = nil
	n.extendLedger(seq, records)
	n.kept = seq
	at.store.Materialized(n.id, seq, sum)
	return nil
}

// keepOrHold is keep for records of what the file has in any case: if the store
// cannot keep them, they are held with their document until it can.
func (n *note) keepOrHold(at place, sum model.ContentSum, records []model.Record) error {
	if !n.isShared() {
		n.held = records
	}
	return n.keep(at, sum, records)
}

// reconcile takes over raw, which a person's program put in the file, as plain
// text. The write lock is held; the event is to be published after its release.
func (n *note) reconcile(raw string, modTime time.Time) (*model.Event, error) {
	cur := n.cur.Load()
	at := n.where()
	next := model.NewVersion(raw, n.ws.o.View, 0, modTime)
	if next.ReadOnly() || (n.doc == nil && n.id == "" && !n.owing) {
		n.replaced(cur)
		n.closeDoc()
		return n.succeed(cur, raw, modTime), nil
	}
	records, err := n.openDoc(at, cur.Raw())
	if err != nil {
		return nil, err
	}
	n.replaced(cur)
	records = append(slices.Clip(records), n.changeDoc(cur.Raw(), textmerge.SavedEdits(cur.Raw(), raw), sourceOrigin{}))
	if err := n.keepOrHold(at, model.SumOf(raw), records); err != nil {
		// The file is the truth and has been read; the store catches up later.
		n.ws.log.Warn("person's change is not in the store yet", model.LogPath, string(at.path), model.LogErr, err)
	}
	return n.succeed(cur, raw, modTime), nil
}

// catchUp compares the store's history with the file that was just read, and
// makes in the document what the file has and it lacks: a change that a person
// made while nobody followed the vault, or a write that was interrupted between
// file and store. The file is always right, because a write reaches it, durably,
// before the store; but for the changes of shared notes, which resume finds.
// The write lock is held.
func (n *note) catchUp(ctx context.Context, at place) error {
	id, err := at.lookupID()
	if err != nil {
		return err
	}
	cur := n.cur.Load()
	if id == "" {
		return n.catchUpFirst(at, cur)
	}
	n.id = id
	h, err := at.store.Load(id)
	if err != nil {
		return model.WrapError("open", at.path, err)
	}
	if cur.ReadOnly() || len(h.Records) == 0 || h.InStep(model.SumOf(cur.Raw())) {
		return nil
	}
	if resumed, err := n.resume(ctx, at, h); resumed || err != nil {
		return err
	}
	records, err := n.openDoc(at, cur.Raw())
	if err != nil {
		return err
	}
	if len(records) == 0 {
		at.store.Materialized(n.id, n.kept, model.SumOf(cur.Raw()))
	}
	return n.keep(at, model.SumOf(cur.Raw()), records)
}

// catchUpFirst is catchUp for a note that the store does not know: nothing is to be
// done, unless what was interrupted is the note's making, or the first write of it or
// decision on it.
func (n *note) catchUpFirst(at place, cur *model.Version) error {
	if _, _, ours := at.interrupted(cur.Raw(), "", model.History{}); !ours || cur.ReadOnly() {
		return nil
	}
	records, err := n.openDoc(at, cur.Raw())
	if err != nil {
		return err
	}
	return n.keep(at, model.SumOf(cur.Raw()), records)
}
