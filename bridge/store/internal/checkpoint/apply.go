package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
)

// apply makes the change of one frame.
func (f *File) apply(tx *bolt.Tx, e *frame.Entry) error {
	switch e.Kind {
	case frame.Change:
		return applyChange(tx, e)
	case frame.Abort:
		return applyAbort(tx, e)
	case frame.Mark:
		return f.applyMark(tx, e)
	case frame.Place:
		return applyPlace(tx, e)
	case frame.Proposals:
		return applyProposals(tx, e.Proposals)
	case frame.Sent:
		return applySent(tx, e)
	case frame.Move:
		for _, m := range e.Moves {
			if err := place(tx, m.ID, m.To, e.Time); err != nil {
				return err
			}
		}
		return nil
	case frame.Forget:
		return forget(tx, e.ID)
	}
	return Damaged(fmt.Sprintf("it has a frame of kind %d", e.Kind))
}

func applyChange(tx *bolt.Tx, e *frame.Entry) error {
	doc := document(tx, e.ID)
	if doc == nil {
		var err error
		if doc, err = tx.Bucket([]byte(docsBucket)).CreateBucket([]byte(e.ID)); err != nil {
			return err
		}
		if _, err = doc.CreateBucket([]byte(recordsBucket)); err != nil {
			return err
		}
	}
	if err := place(tx, e.ID, e.Path, e.Records[0].Time); err != nil {
		return err
	}
	records := doc.Bucket([]byte(recordsBucket))
	for i, v := range e.Values {
		seq, rec := e.Seq+uint64(i), &e.Records[i]
		if err := records.Put(seqKey(seq), v); err != nil {
			return err
		}
		if rec.Unsent {
			if err := markUnsent(tx, e.ID, seq); err != nil {
				return err
			}
		}
		if rec.Journalled() {
			if err := note(tx, e.ID, seq); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyAbort takes records back.
func applyAbort(tx *bolt.Tx, e *frame.Entry) error {
	doc := document(tx, e.ID)
	if doc == nil {
		return nil
	}
	records := doc.Bucket([]byte(recordsBucket))
	if err := unlist(tx, e.ID, e.Seq); err != nil {
		return err
	}
	for seq := lastBefore(records, math.MaxUint64); seq >= e.Seq; seq = lastBefore(records, seq) {
		if err := records.Delete(seqKey(seq)); err != nil {
			return err
		}
	}
	return nil
}

// applyPlace gives a record the save that came after it.
func applyPlace(tx *bolt.Tx, e *frame.Entry) error {
	doc := document(tx, e.ID)
	if doc == nil {
		return nil
	}
	records, key := doc.Bucket([]byte(recordsBucket)), seqKey(e.Seq)
	v := records.Get(key)
	if v == nil {
		return nil // it was compacted
	}
	rec, err := decodeRecord(key, v)
	if err != nil {
		return err
	}
	rec.Save = &e.Save
	if v, err = frame.EncodeRecord(rec); err != nil {
		return err
	}
	return records.Put(key, v)
}

func applyProposals(tx *bolt.Tx, c model.ProposalChange) error {
	proposals := tx.Bucket([]byte(proposalBucket))
	for _, rec := range c.Put {
		v, err := json.Marshal(rec)
		if err == nil {
			err = proposals.Put([]byte(rec.ID), v)
		}
		if err != nil {
			return err
		}
	}
	for _, id := range c.Drop {
		if err := proposals.Delete([]byte(id)); err != nil {
			return err
		}
	}
	for _, rec := range c.Journal {
		if err := noteDecided(tx, rec); err != nil {
			return err
		}
		if rec.SessionNote != nil {
			if err := noteSession(tx, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// markUnsent notes that the record seq of a document is to be sent.
func markUnsent(tx *bolt.Tx, id model.DocID, seq uint64) error {
	return tx.Bucket([]byte(unsentBucket)).Put([]byte(id), seqKey(seq))
}

func applySent(tx *bolt.Tx, e *frame.Entry) error {
	unsent := tx.Bucket([]byte(unsentBucket))
	if seqOf(unsent.Get([]byte(e.ID))) > e.Seq {
		return nil
	}
	return unsent.Delete([]byte(e.ID))
}

// place gives a document a path. One that lived there has none from now on; its
// history is kept.
func place(tx *bolt.Tx, id model.DocID, p model.Path, now time.Time) error {
	paths, doc := tx.Bucket([]byte(pathsBucket)), document(tx, id)
	if doc == nil {
		return nil
	}
	old := doc.Get([]byte(pathKey))
	if string(old) == string(p) {
		return nil
	}
	if old != nil && string(paths.Get(old)) == string(id) {
		if err := paths.Delete(bytes.Clone(old)); err != nil {
			return err
		}
	}
	if former := document(tx, View{tx}.DocAt(p)); former != nil {
		if err := former.Delete([]byte(pathKey)); err != nil {
			return err
		}
	}
	if err := paths.Put([]byte(p), []byte(id)); err != nil {
		return err
	}
	if old != nil {
		if err := noteMove(doc, model.Moved{Time: now, From: model.Path(old), To: p}); err != nil {
			return err
		}
	}
	return doc.Put([]byte(pathKey), []byte(p))
}

func forget(tx *bolt.Tx, id model.DocID) error {
	doc := document(tx, id)
	if doc == nil {
		return nil
	}
	if err := unlist(tx, id, 0); err != nil {
		return err
	}
	if err := tx.Bucket([]byte(unsentBucket)).Delete([]byte(id)); err != nil {
		return err
	}
	paths := tx.Bucket([]byte(pathsBucket))
	if p := bytes.Clone(doc.Get([]byte(pathKey))); p != nil && string(paths.Get(p)) == string(id) {
		if err := paths.Delete(p); err != nil {
			return err
		}
	}
	return tx.Bucket([]byte(docsBucket)).DeleteBucket([]byte(id))
}
