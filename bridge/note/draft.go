package note

import (
	"context"
	"slices"
	"time"
	"unsafe"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// draft is a change in progress of a note and its file. The store gets its record before the file gets the text. If
// writing the file fails, the record is aborted.
type draft struct {
	note    *Locked
	at      Location
	current *model.Version
	raw     string // raw text after the change
	sync    bool
	change  func(*ycrdt.Doc) model.Record // makes the change in a document in the state of current

	docModified bool // the document is open and may have changed
	id          model.DocID
	seq         uint64
	sum         model.ContentSum
	file        model.Stamp    // the new file
	records     []model.Record // stored records; the last one is the write's
}

// save replaces the content of the file. It fails if the file no longer has the expected stamp.
func (d *draft) save(ctx context.Context, expect model.Stamp, modTime time.Time) error {
	err := d.note.replace(ctx, d.at, d.raw, modTime, model.Replacement{
		IfMatch: expect, Sync: d.sync,
		BeforeRename: func(post model.Stamp) error { return d.appendRecords(expect, post) },
		OnAbort:      d.abortRecord,
		OnDurable:    func() { d.note.store.RecordFileSeq(d.id, d.seq, d.sum, d.file) },
	})
	if err != nil {
		d.abort()
		return err
	}
	d.note.markStored(d.seq, d.records)
	return nil
}

// appendRecords makes the change in the document and appends the records to the store.
func (d *draft) appendRecords(pre, post model.Stamp) error {
	n := d.note
	d.docModified = true
	records, err := n.open(d.at, d.current.Raw())
	if err != nil {
		return err
	}
	n.nameRuns(d.current)
	rec := d.change(n.doc)
	if n.storedSeq == 0 && len(records) == 0 && (*Note)(n).creator().Name != "" { // the note was created empty
		rec.Created, rec.Made = true, n.creation.folders
	}
	d.sum, d.file = model.SumOf(d.raw), post
	rec.Save = &model.Save{Pre: pre, Post: post, Sum: d.sum[:]}
	d.records = append(slices.Clip(records), rec)
	d.id = n.id
	d.seq, err = n.store.Append(d.id, model.Path(d.at.Rel), d.records...)
	if err != nil {
		d.records = nil
	}
	return err
}

// abortRecord aborts the record of a write that did not reach the file.
func (d *draft) abortRecord() {
	if err := d.note.store.Abort(d.id, d.seq); err != nil {
		d.note.set.o.Logger.Error("a failed write may reappear after a restart", model.LogPath, string(d.at.Path), model.LogErr, err)
	}
}

// abort unloads the document after a write that did not reach the file. The next
// document uses another client ID, because a reader may have seen the aborted units.
func (d *draft) abort() {
	n := d.note
	if !d.docModified {
		return
	}
	n.unloadDoc()
	d.current.SetRuns(nil) // the next document may give these characters other identities
}

// replace replaces the file's content with raw, and records the file's new stamp.
func (n *Locked) replace(ctx context.Context, loc Location, raw string, modTime time.Time, r model.Replacement) error {
	r.Data, r.ModTime = asBytes(raw), r.IfMatch.Next(modTime)
	stamp, err := n.source.Replace(ctx, loc.Rel, r)
	if err != nil {
		return model.WrapError("write", loc.Path, err)
	}
	n.stamp = stamp
	return nil
}

// asBytes converts text without a copy. Callers must not change the result.
func asBytes(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
