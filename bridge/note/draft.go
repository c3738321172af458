package note

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// draft is a change of note and file on its way. The store keeps its record before the
// file gets its text; if the file does not, the record is taken back.
type draft struct {
	note   *Locked
	at     Place
	cur    *model.Version
	held   string // what the file holds
	raw    string // what is to follow cur
	sync   bool
	change func(*ycrdt.Doc) model.Record // makes it, in a document that is in the state of cur

	begun   bool // the document is open, and may have changed
	id      model.DocID
	seq     uint64
	sum     model.ContentSum
	records []model.Record // what was kept; the last is that of the write
}

// save makes the file, which is as expect says, hold the text.
func (d *draft) save(ctx context.Context, expect model.Stamp, modTime time.Time) error {
	err := d.note.replace(ctx, d.at, d.raw, modTime, model.Replacement{
		IfMatch: expect, KnownText: d.held, Sync: d.sync,
		BeforeRename: func(post model.Stamp) error { return d.keep(expect, post) },
		OnAbort:      d.takeBack,
		OnDurable:    func() { d.note.store.Materialized(d.id, d.seq, d.sum) },
	})
	if err != nil {
		d.abort()
		return err
	}
	d.note.hasKept(d.seq, d.records)
	return nil
}

// keep makes the change in the document, and has the store keep it.
func (d *draft) keep(pre, post model.Stamp) error {
	n := d.note
	d.begun = true
	records, err := n.open(d.at, d.cur.Raw())
	if err != nil {
		return err
	}
	n.nameRuns(d.cur)
	rec := d.change(n.doc)
	if n.kept == 0 && len(records) == 0 && (*Note)(n).bornOf().Name != "" { // it was made empty
		rec.Created, rec.Made = true, n.birth.folders
	}
	d.sum = model.SumOf(d.raw)
	rec.Save = &model.Save{Pre: pre, Post: post, Sum: d.sum[:]}
	d.records = append(slices.Clip(records), rec)
	d.id = n.id
	d.seq, err = n.store.Append(d.id, model.Path(d.at.Rel), d.records...)
	if err != nil {
		d.records = nil
	}
	return err
}

// takeBack takes back the record of a write that is not in the file.
func (d *draft) takeBack() {
	if err := d.note.store.Abort(d.id, d.seq); err != nil {
		d.note.set.o.Logger.Error("a write that failed may show after a restart", model.LogPath, string(d.at.Path), model.LogErr, err)
	}
}

// abort forgets the document of a write that is not in the file. The next one has another
// client: what was taken back may have been seen.
func (d *draft) abort() {
	n := d.note
	if !d.begun {
		return
	}
	n.closeDoc()
	if len(d.records) < 2 && n.kept == 0 {
		d.cur.SetRuns(nil) // the next document gives its characters other identities
	}
}

// replace makes the file hold raw, which is the note's current version then.
func (n *Locked) replace(ctx context.Context, at Place, raw string, modTime time.Time, r model.Replacement) error {
	r.Data, r.ModTime = []byte(raw), r.IfMatch.Next(modTime)
	stamp, err := n.source.Replace(ctx, at.Rel, r)
	if err != nil {
		return model.WrapError("write", at.Path, err)
	}
	n.stamp = stamp
	return nil
}
