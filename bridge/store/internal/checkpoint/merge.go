package checkpoint

import (
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// mergeAt bounds the separate updates of a document. Loading applies them all, some ten microseconds each; merging costs
// about as much as the whole document, which is little if spread over that many writes.
const mergeAt = 128

// applyMark records the content of the source's file, and merges the document's updates if there are many.
func (f *File) applyMark(doc Document, e *wal.Entry) error {
	if doc.Mark().Seq > e.Seq {
		return nil
	}
	if err := doc.putMark(Mark{e.Seq, e.Sum}); err != nil {
		return err
	}
	if base, _ := doc.base(); e.Seq < base+mergeAt {
		return nil
	}
	if err := f.merge(doc, e.ID, e.Seq); err != nil || f.o.History == 0 {
		return err
	}
	return doc.expire(time.Now().Add(-f.o.History))
}

// merge merges the updates up to upTo into one. Each of their records gets a snapshot of its update instead. Those that
// attribution and undo need stay records: by an author, journalled, the first, which took over the text, and the last, which
// has the number before the next. The others become moments. It reads no record that was merged before, except the last: a
// note may have a hundred thousand.
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
		// They stay; a load of the document returns the error with its path.
		f.o.Logger.Warn("document not merged", model.LogDoc, string(id), model.LogErr, err)
		return nil
	}
	last := records[len(records)-1].Seq
	var former *model.Moment // the one before, unless it stays a record
	for _, rec := range records {
		m, err := momentOf(rec, base)
		if err != nil {
			return err
		}
		if rec.Seq == last || rec.Outlives() || doc.before(rec.Seq) == 0 {
			former, err = nil, doc.putMoment(recordKey, m)
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

// demote turns a record into a moment, and joins it with the moment before if they belong together.
func (d Document) demote(former, m *model.Moment) error {
	if err := d.b.Delete(numbered(recordKey, m.Seq)); err != nil || m.Did == nil {
		return err
	}
	if former != nil && join(former, m) {
		if err := d.b.Delete(numbered(momentKey, former.Seq)); err != nil {
			return err
		}
	}
	return d.putMoment(momentKey, *m)
}
