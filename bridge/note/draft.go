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
	onCopy  bool // a copy of it has changed
	id      model.DocID
	seq     uint64
	sum     model.ContentSum
	records []model.Record // what was kept; the last is that of the write
}

// save makes the file, which is as expect says, hold the text.
func (d *draft) save(ctx context.Context, expect model.Stamp, modTime time.Time) error {
	err := d.note.replace(ctx, d.at, d.raw, modTime, model.Replacement{
		Expect: expect, Held: d.held, Sync: d.sync,
		Meanwhile: func(post model.Stamp) error { return d.keep(expect, post) },
		Aborted:   d.takeBack,
		Settled:   func() { d.note.store.Materialized(d.id, d.seq, d.sum) },
	})
	if err != nil {
		d.abort()
		return err
	}
	d.finish()
	return nil
}

// keep makes the change in the document, and has the store keep it. A document that others
// have open changes when the file has: until then a copy does.
func (d *draft) keep(pre, post model.Stamp) error {
	n := d.note
	d.begun = true
	records, err := n.open(d.at, d.cur.Raw())
	if err != nil {
		return err
	}
	doc := n.doc
	if d.onCopy = n.isShared(); d.onCopy {
		if doc, err = replay([]model.Record{{Update: n.doc.EncodeStateAsUpdate(nil)}}); err != nil {
			return err
		}
	} else {
		n.nameRuns(d.cur)
	}
	rec := d.change(doc)
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
		return err
	}
	if !d.onCopy {
		return nil
	}
	// A power cut must not leave a file that is ahead of a document which others have: its
	// text would be taken for a person's, and come a second time.
	if err = n.store.Sync(); err != nil {
		d.takeBack()
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
	if !d.begun || d.onCopy {
		return
	}
	n.closeDoc()
	if len(d.records) < 2 && n.kept == 0 {
		d.cur.SetRuns(nil) // the next document gives its characters other identities
	}
}

func (d *draft) finish() {
	n := d.note
	if d.onCopy {
		n.nameRuns(d.cur)
		if err := n.doc.ApplyUpdate(d.records[len(d.records)-1].Update, nil); err != nil {
			n.set.o.Logger.Error("a change is not in the live document", model.LogPath, string(d.at.Path), model.LogErr, err)
			n.closeDoc()
		}
	}
	n.hasKept(d.seq, d.records)
}
