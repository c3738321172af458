package store

import (
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// What a server has not acknowledged yet is known across restarts: Append notes
// it in the transaction of the record, Sent crosses it out.

// markUnsent notes that the record seq of a document is to be sent.
func markUnsent(tx *bolt.Tx, id model.DocID, seq uint64) error {
	unsent, err := tx.CreateBucketIfNotExists([]byte(unsentBucket))
	if err != nil {
		return err
	}
	return unsent.Put([]byte(id), seqKey(seq))
}

// Unsent returns the documents with records that a server has not acknowledged,
// and the sequence number of the last such record of each.
func (s *Store) Unsent() (map[model.DocID]uint64, error) {
	all := make(map[model.DocID]uint64)
	err := s.view(func(tx *bolt.Tx) error {
		unsent := tx.Bucket([]byte(unsentBucket))
		if unsent == nil {
			return nil
		}
		return unsent.ForEach(func(id, seq []byte) error {
			if len(seq) == 8 {
				all[model.DocID(id)] = binary.BigEndian.Uint64(seq)
			}
			return nil
		})
	})
	return all, s.fail("list unsent documents", err)
}

// Sent notes that a server has acknowledged everything of the document id up to
// the record seq.
func (s *Store) Sent(id model.DocID, seq uint64) error {
	err := s.appends.do(func(tx *bolt.Tx) error {
		unsent := tx.Bucket([]byte(unsentBucket))
		if unsent == nil {
			return nil
		}
		last := unsent.Get([]byte(id))
		if len(last) == 8 && binary.BigEndian.Uint64(last) > seq {
			return nil
		}
		return unsent.Delete([]byte(id))
	})
	return s.fail("note what was sent", err)
}

// Kept lists the documents that have a history.
func (s *Store) Kept() ([]model.DocID, error) {
	var ids []model.DocID
	if err := s.settle(); err != nil {
		return nil, s.fail("list documents", err)
	}
	err := s.view(func(tx *bolt.Tx) error {
		ids = nil
		return tx.Bucket([]byte(docsBucket)).ForEachBucket(func(id []byte) error {
			ids = append(ids, model.DocID(id))
			return nil
		})
	})
	return ids, s.fail("list documents", err)
}
