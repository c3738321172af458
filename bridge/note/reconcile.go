package note

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
)

// This file keeps a note's document in step with the text of its file.

// prepare makes sure that the note has a document in the state of raw, in memory and in the
// store.
func (n *Locked) prepare(at Place, raw string) error {
	records, err := n.open(at, raw)
	if err != nil {
		return err
	}
	return n.keep(at, model.SumOf(raw), records)
}

// closeDoc forgets the in-memory document, whose state the store may not hold.
func (n *Locked) closeDoc() {
	n.doc, n.text, n.ledger = nil, nil, nil
	(*Note)(n).endShare()
	if n.onDisk != nil {
		n.markClean()
		n.cur.Store(nil) // to be found from file and store
		n.synced = false
	}
}

// keep has the store keep records of what the file holds, whose text has that sum. If it
// cannot, the document is forgotten: the next one is made of what the store has and of the
// file.
func (n *Locked) keep(at Place, sum model.ContentSum, records []model.Record) error {
	if len(records) == 0 {
		return nil
	}
	seq, err := n.store.Append(n.id, model.Path(at.Rel), records...)
	if err != nil {
		n.closeDoc()
		return model.WrapError("write", at.Path, err)
	}
	n.advance(seq, sum, records)
	return nil
}

// reconcile takes over raw, which a person's program put in the file, as plain
// text. The event is to be published after the lock's release.
func (n *Locked) reconcile(raw string, modTime time.Time) (*model.Event, error) {
	cur := n.cur.Load()
	at := n.node.Place()
	next := model.NewVersion(raw, n.set.o.View, 0, modTime)
	if next.ReadOnly() || (n.doc == nil && n.id == "") {
		n.nameRuns(cur)
		n.closeDoc()
		return n.succeed(cur, n.newVersion(raw, modTime)), nil
	}
	records, err := n.open(at, cur.Raw())
	if err != nil {
		return nil, err
	}
	n.nameRuns(cur)
	if err := n.keepSaved(at, cur.Raw(), raw, records); err != nil {
		// The file is the truth and has been read; the store catches up later.
		n.set.o.Logger.Warn("person's change is not in the store yet", model.LogPath, string(at.Path), model.LogErr, err)
	}
	return n.succeed(cur, n.newVersion(raw, modTime)), nil
}

// keepSaved makes the change in the document by which a person's program got from had to raw, and
// has the store keep it. A document that others have open gets it when it is durable.
func (n *Locked) keepSaved(at Place, had, raw string, records []model.Record) (err error) {
	doc, shared := n.doc, n.share.Load() != nil
	if shared {
		if doc, err = replay([]model.Record{{Update: doc.EncodeStateAsUpdate(nil)}}); err != nil {
			return err
		}
	}
	rec := changeDoc(doc, had, textmerge.SavedEdits(had, raw), sourceOrigin{})
	if err := n.keep(at, model.SumOf(raw), append(slices.Clip(records), rec)); err != nil || !shared {
		return err
	}
	if err = n.store.Sync(); err == nil {
		err = n.doc.ApplyUpdate(rec.Update, sourceOrigin{})
	}
	if err != nil {
		n.closeDoc()
	}
	return err
}

// separate takes what people typed inside of agents' marks out of them, in a version
// that the document is at.
func (n *Locked) separate(v *model.Version) {
	if v.ReadOnly() || !attribution.MarksIn(v.Raw()) {
		return
	}
	if n.live == nil && (n.doc == nil || n.text.String() != v.Raw()) {
		return // a program's write that waits, which leaves nothing of that kind
	}
	l, err := n.ledgerNow()
	if err != nil {
		n.set.o.Logger.Warn("whose the marks are is not known", model.LogPath, string(n.node.Place().Path), model.LogErr, err)
		return
	}
	v.Separate(l.Separated(v.Raw(), n.runs(v)), n.set.o.View)
}

// separateStored is separate for a note that was just read, whose document is in the
// store, unless the two have yet to be compared.
func (n *Locked) separateStored(at Place, v *model.Version) error {
	if v.ReadOnly() || !attribution.MarksIn(v.Raw()) {
		return nil
	}
	if n.doc != nil && n.text.String() == v.Raw() {
		n.separate(v)
		return nil
	}
	id, err := n.lookupID(at)
	if err != nil || id == "" {
		return err
	}
	h, err := n.store.Load(id)
	if err != nil || !h.MayHaveTyped() || !h.InStep(model.SumOf(v.Raw())) {
		return model.WrapError("open", at.Path, err)
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil // who needs the document gets the error
	}
	v.Separate(attribution.NewLedger(h.Records).Separated(v.Raw(), runsAs(doc, v.Raw())), n.set.o.View)
	return nil
}
