package bridge

import (
	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// This file keeps a note's ledger in step with its document.

// ledgerNow is what the store tells of the note's document. The write lock is held.
func (n *note) ledgerNow() (*attribution.Ledger, error) {
	if n.id == "" || n.doc != nil && n.kept == 0 {
		return attribution.NewLedger(nil), nil // the store has nothing of it
	}
	if n.ledger != nil && (n.live != nil || n.ledger.UpTo == n.kept) {
		return n.ledger, nil
	}
	h, err := n.where().store.Load(n.id)
	if err != nil {
		return nil, err
	}
	l := attribution.NewLedger(h.Records)
	if n.live != nil || n.doc != nil {
		n.ledger = l
	}
	return l, nil
}

// extendLedger adds records that are kept now, the last of them as seq.
func (n *note) extendLedger(seq uint64, records []model.Record) {
	if n.ledger == nil || n.ledger.UpTo != n.kept {
		n.ledger = nil
		return
	}
	had := n.ledger.Size()
	for i := range records {
		n.ledger.Add(&records[i])
	}
	n.ledger.UpTo = seq
	if n.ledger.GrownFrom(had) {
		n.ledger.Prune(n.text.Runs())
	}
}

// separate takes what people typed inside of agents' marks out of them, in a version
// that the document is at. The write lock is held.
func (n *note) separate(v *model.Version) {
	if v.ReadOnly() || !attribution.MarksIn(v.Raw()) {
		return
	}
	runs := v.Runs()
	if n.live == nil {
		if n.doc == nil || n.text.String() != v.Raw() {
			return // a program's write that waits, which leaves nothing of that kind
		}
		runs = n.text.Runs()
	}
	l, err := n.ledgerNow()
	if err != nil {
		n.ws.log.Warn("whose the marks are is not known", model.LogPath, string(n.where().path), model.LogErr, err)
		return
	}
	v.Separate(l.Separated(v.Raw(), runs), n.ws.o.View)
}

// separateStored is separate for a note that was just read, whose document is in the
// store, unless the two have yet to be compared. The write lock is held.
func (n *note) separateStored(at place, v *model.Version) error {
	if v.ReadOnly() || !attribution.MarksIn(v.Raw()) {
		return nil
	}
	if n.doc != nil && n.text.String() == v.Raw() {
		n.separate(v)
		return nil
	}
	id, err := at.lookupID()
	if err != nil || id == "" {
		return err
	}
	h, err := at.store.Load(id)
	if err != nil || !h.MayHaveTyped() || !h.InStep(model.SumOf(v.Raw())) {
		return model.WrapError("open", at.path, err)
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil // who needs the document gets the error
	}
	v.Separate(attribution.NewLedger(h.Records).Separated(v.Raw(), runsAs(doc, v.Raw())), n.ws.o.View)
	return nil
}

// runsAs are the identities of raw's characters, of which those that doc does not have
// are nobody's.
func runsAs(doc *ycrdt.Doc, raw string) []ycrdt.Run {
	text := doc.Text(contentsName)
	if have := text.String(); have != raw {
		doc.Transact(nil, func(txn *ycrdt.Txn) { textmerge.ApplyEdits(txn, text, have, textmerge.SavedEdits(have, raw)) })
	}
	return text.Runs()
}

// identities are who wrote what of the current version, and the identities of its raw
// text: nothing if the note was never written through relayfs. The write lock is held.
func (n *note) identities(cur *model.Version) (*attribution.Ledger, []ycrdt.Run, error) {
	switch {
	case n.id == "":
		return attribution.NewLedger(nil), nil, nil
	case n.live != nil:
		l, err := n.ledgerNow()
		return l, cur.Runs(), err
	case n.doc != nil:
		l, err := n.ledgerNow()
		return l, n.text.Runs(), err
	}
	h, err := n.where().store.Load(n.id)
	if err != nil || len(h.Records) == 0 {
		return attribution.NewLedger(nil), nil, err
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil, nil, err
	}
	return attribution.NewLedger(h.Records), runsAs(doc, cur.Raw()), nil
}

// layout reads the current version's suggestions. The write lock is held.
func (n *note) layout(cur *model.Version) (*attribution.Layout, *attribution.Ledger, attribution.Units, error) {
	l, runs, err := n.identities(cur)
	if err != nil {
		return nil, nil, attribution.Units{}, err
	}
	u := attribution.UnitsOf(runs).Through(cur.Raw(), cur.Separated())
	return l.LayOut(cur.Marked(), u), l, u, nil
}
