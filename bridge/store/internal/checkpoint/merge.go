package checkpoint

import (
	"cmp"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// mergeAt is the default of Options.MergeAt. Loading applies these updates one by
// one, and each takes some ten microseconds. A merge costs about as much as reading the whole document, which is little
// if it is spread over that many writes.
const mergeAt = 128

// applyMark records which state of the document the source's file holds. It merges the document's updates if there are
// many.
func (f *File) applyMark(doc Document, e *wal.Entry) error {
	if doc.FileMark().Seq > e.Seq {
		return nil
	}
	if err := doc.putFileMark(FileMark{e.Seq, e.Sum, e.File}); err != nil {
		return err
	}
	if base, _ := doc.base(); e.Seq < base+uint64(cmp.Or(f.o.MergeAt, mergeAt)) {
		return nil
	}
	if err := f.merge(doc, e.ID, e.Seq); err != nil || f.o.History == 0 {
		return err
	}
	return doc.expire(time.Now().Add(-f.o.History))
}

// merge merges the updates up to upTo into one and replaces the update of each of their records with its snapshot.
// Records that attribution and undo need stay records: records by an author, journalled records, the first record,
// which took over the text, and the last record, whose number the next record follows. The other records become
// revisions, which have only the added and deleted units. merge does not read records of earlier merges, except the
// last, because a note may have a hundred thousand.
func (f *File) merge(doc Document, id model.DocID, upTo uint64) error {
	base, merged := doc.base()
	if upTo <= base {
		return nil
	}
	var updates [][]byte
	if len(merged) > 0 {
		updates = append(updates, merged)
	}
	var records []model.Record
	err := doc.each(recordKey, base, func(rec model.Record) (bool, error) {
		if rec.Seq > upTo {
			return false, nil
		}
		if records = append(records, rec); rec.Seq > base {
			updates = append(updates, rec.Update)
		}
		return true, nil
	})
	if err != nil || len(records) == 0 {
		return err
	}
	if merged, err = ycrdt.MergeUpdates(updates...); err != nil {
		// The updates stay separate. Loading the document returns the error with the document's path.
		f.o.Logger.Warn("cannot merge the updates of a document", model.LogDoc, string(id), model.LogErr, err)
		return nil
	}
	last := records[len(records)-1].Seq
	var former *model.Revision // the previous record, unless it stays a record
	for _, rec := range records {
		m, err := revisionOf(rec, base)
		if err != nil {
			return err
		}
		if rec.Seq == last || rec.SurvivesCompaction() || doc.before(rec.Seq) == 0 {
			former, err = nil, doc.putRevision(recordKey, m)
		} else {
			err = doc.demote(former, &m)
			former = &m
		}
		if err != nil {
			return err
		}
	}
	return doc.putBase(last, merged)
}

// demote turns a record into a revision, and merges the previous revision into it if possible (mergeInto).
func (d Document) demote(former, m *model.Revision) error {
	if err := d.b.Delete(numbered(recordKey, m.Seq)); err != nil || m.Units == nil {
		return err
	}
	if former != nil && mergeInto(former, m) {
		if err := d.b.Delete(numbered(revisionKey, former.Seq)); err != nil {
			return err
		}
	}
	return d.putRevision(revisionKey, *m)
}
