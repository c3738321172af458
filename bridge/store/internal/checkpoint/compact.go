package checkpoint

import (
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// compactAt is how many updates a document may have one by one. Loading it applies
// them all, some ten microseconds each; merging them costs about as much as the whole
// document, which spread over that many writes is little.
const compactAt = 128

// applyMark notes what the source's file holds, and merges the document's updates if
// there are many.
func (f *File) applyMark(tx *bolt.Tx, e *frame.Entry) error {
	doc := document(tx, e.ID)
	if doc == nil || readMark(doc).Seq > e.Seq {
		return nil
	}
	if err := doc.Put([]byte(stateKey), Mark{e.Seq, e.Sum}.encode()); err != nil {
		return err
	}
	base, _ := readBase(doc)
	if e.Seq < base+compactAt {
		return nil
	}
	if err := f.compact(doc, e.ID, e.Seq); err != nil || f.history == 0 {
		return err
	}
	return expire(doc, time.Now().Add(-f.history), expireAt)
}

// compact merges the updates up to upTo into one. Of their records it keeps what
// attribution and undo need: those of an author, those that are journalled, the
// first one, which took over the text, and the last one, which carries the number
// the next one follows. Of all of them it keeps the moments. It reads no record that was
// merged before, other than the last one: a note may have a hundred thousand.
func (f *File) compact(doc *bolt.Bucket, id model.DocID, upTo uint64) error {
	base, former := readBase(doc)
	records, err := recordsBetween(doc, base, upTo)
	if err != nil || len(records) == 0 {
		return err
	}
	var updates [][]byte
	if len(former) > 0 {
		updates = append(updates, former)
	}
	for _, rec := range records {
		if rec.Seq > base {
			updates = append(updates, rec.Update)
		}
	}
	merged, err := ycrdt.MergeUpdates(updates...)
	if err != nil {
		// They stay as they are; who loads the document gets the error, with its path.
		f.log.Warn("document not compacted", model.LogDoc, string(id), model.LogErr, err)
		return nil
	}
	if err := keepMoments(doc, records, base); err != nil {
		return err
	}
	bucket := doc.Bucket([]byte(recordsBucket))
	k, _ := bucket.Cursor().First()
	first := seqOf(k)
	for i, rec := range records {
		last := i == len(records)-1
		keep := rec.Author != "" || rec.Proposal != "" || rec.Journalled() || len(rec.Returned) > 0 || rec.Seq == first || last
		if err := shrink(bucket, rec, keep); err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
	}
	return doc.Put([]byte(baseKey), append(seqKey(records[len(records)-1].Seq), merged...))
}

// shrink takes a merged record's update away, or the whole record.
func shrink(records *bolt.Bucket, rec model.Record, keep bool) error {
	if !keep {
		return records.Delete(seqKey(rec.Seq))
	}
	rec.Update, rec.Save = nil, nil
	v, err := frame.EncodeRecord(rec)
	if err != nil {
		return err
	}
	return records.Put(seqKey(rec.Seq), v)
}
