package checkpoint

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

func (f *File) apply(tx *bolt.Tx, e *wal.Entry) error {
	doc := document(tx, e.ID)
	switch e.Kind {
	case wal.Padding:
		return nil
	case wal.Change:
		return applyChange(tx, e)
	case wal.Proposals:
		return applyProposals(tx, e.Proposals)
	case wal.Move:
		from := make([]model.Path, len(e.Moves)) // documents may exchange their paths
		for i, m := range e.Moves {
			from[i] = document(tx, m.ID).Path()
		}
		for i, m := range e.Moves {
			if err := place(tx, m.ID, from[i], m.To, e.Time); err != nil {
				return err
			}
		}
		return nil
	}
	if doc.b == nil {
		return nil
	}
	switch e.Kind {
	case wal.Abort:
		return applyAbort(tx, e.ID, doc, e.Seq)
	case wal.FileMark:
		return errors.Join(f.applyMark(doc, e), markUnsettled(tx, e.ID, doc))
	case wal.PendingSave:
		return applyPlace(doc, e)
	case wal.Sent:
		if unsent := bucket(tx, unsentBucket); seqOf(unsent.Get([]byte(e.ID))) <= e.Seq {
			return unsent.Delete([]byte(e.ID))
		}
		return nil
	}
	return Damaged(fmt.Sprintf("it has a frame of kind %d", e.Kind))
}

func applyChange(tx *bolt.Tx, e *wal.Entry) error {
	b, err := bucket(tx, docsBucket).CreateBucketIfNotExists([]byte(e.ID))
	if err != nil {
		return err
	}
	doc := Document{e.ID, b}
	if err := place(tx, e.ID, doc.Path(), e.Path, e.Records[0].Time); err != nil {
		return err
	}
	for _, rec := range e.Records {
		if err := doc.putRecord(recordKey, rec); err != nil {
			return err
		}
		if rec.Unsent {
			if err := bucket(tx, unsentBucket).Put([]byte(e.ID), seqKey(rec.Seq)); err != nil {
				return err
			}
		}
		if rec.Journalled() {
			if err := addToJournal(tx, journalEntry{ID: e.ID, Seq: rec.Seq}); err != nil {
				return err
			}
		}
	}
	return markUnsettled(tx, e.ID, doc)
}

func markUnsettled(tx *bolt.Tx, id model.DocID, doc Document) error {
	if doc.Last() > doc.FileMark().Seq {
		return bucket(tx, unsettledBucket).Put([]byte(id), nil)
	}
	return bucket(tx, unsettledBucket).Delete([]byte(id))
}

func applyAbort(tx *bolt.Tx, id model.DocID, doc Document, from uint64) error {
	if from <= 1 {
		return forget(tx, id, doc)
	}
	for seq := doc.Last(); seq >= from; seq = doc.before(seq) {
		if err := doc.b.Delete(numbered(recordKey, seq)); err != nil {
			return err
		}
	}
	return markUnsettled(tx, id, doc)
}

func applyPlace(doc Document, e *wal.Entry) error {
	v := doc.b.Get(numbered(recordKey, e.Seq))
	if v == nil {
		return nil // the record was merged
	}
	rec, err := readRecord(e.Seq, v)
	if err != nil {
		return err
	}
	rec.Save = &e.Save
	return doc.putRecord(recordKey, rec)
}

func applyProposals(tx *bolt.Tx, c model.ProposalChange) error {
	proposals := bucket(tx, proposalBucket)
	for _, rec := range c.Upserted {
		if err := put(proposals, []byte(rec.ID), rec); err != nil {
			return err
		}
	}
	for _, id := range c.Removed {
		if err := proposals.Delete([]byte(id)); err != nil {
			return err
		}
	}
	for _, rec := range c.Journal {
		if err := addToJournal(tx, journalEntry{Record: &rec}); err != nil {
			return err
		}
		if rec.SessionNote != nil {
			if err := put(bucket(tx, sessionsBucket), []byte(rec.Session), rec.SessionNote); err != nil {
				return err
			}
		}
	}
	return nil
}

// place gives a document the path p instead of old, and takes p from the document that had it. That document keeps its
// history.
func place(tx *bolt.Tx, id model.DocID, old, p model.Path, now time.Time) error {
	paths, doc := bucket(tx, pathsBucket), document(tx, id)
	if doc.b == nil || doc.Path() == p {
		return nil
	}
	if err := clearPath(tx, id, old); err != nil {
		return err
	}
	if former := document(tx, View{tx}.DocAt(p)); former.b != nil {
		if err := former.b.Delete([]byte{pathKey}); err != nil {
			return err
		}
	}
	if err := paths.Put([]byte(p), []byte(id)); err != nil {
		return err
	}
	if old != "" {
		if err := doc.addMove(model.Moved{Time: now, From: old, To: p}); err != nil {
			return err
		}
	}
	return doc.b.Put([]byte{pathKey}, []byte(p))
}

// clearPath frees a document's path, unless another document has it.
func clearPath(tx *bolt.Tx, id model.DocID, p model.Path) error {
	if (View{tx}).DocAt(p) != id {
		return nil
	}
	return bucket(tx, pathsBucket).Delete([]byte(p))
}

func forget(tx *bolt.Tx, id model.DocID, doc Document) error {
	return errors.Join(
		clearPath(tx, id, doc.Path()),
		bucket(tx, unsentBucket).Delete([]byte(id)),
		bucket(tx, unsettledBucket).Delete([]byte(id)),
		bucket(tx, filesBucket).Delete([]byte(id)),
		bucket(tx, docsBucket).DeleteBucket([]byte(id)))
}
