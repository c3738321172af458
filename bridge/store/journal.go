package store

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// The journal is an index: each entry, numbered in the order of arrival, names a
// record by its number and its document's id, or by its number alone if it is
// about a proposal.

// note adds a record to the journal.
func note(tx *bolt.Tx, id model.DocID, seq uint64) error {
	journal := tx.Bucket([]byte(journalBucket))
	n, err := journal.NextSequence()
	if err != nil {
		return err
	}
	return journal.Put(seqKey(n), append(seqKey(seq), id...))
}

// unlist takes a document's records out of the journal, from the newest entry on:
// what is forgotten is mostly new.
func unlist(tx *bolt.Tx, id model.DocID) error {
	n, err := journalled(document(tx, id))
	if err != nil {
		return err
	}
	journal := tx.Bucket([]byte(journalBucket))
	c := journal.Cursor()
	var keys [][]byte
	for k, v := c.Last(); k != nil && len(keys) < n; k, v = c.Prev() {
		if len(v) > 8 && string(v[8:]) == string(id) {
			keys = append(keys, bytes.Clone(k))
		}
	}
	for _, k := range keys {
		if err := journal.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// unlistRecord takes one record of a document out of the journal.
func unlistRecord(tx *bolt.Tx, id model.DocID, key []byte) error {
	journal := tx.Bucket([]byte(journalBucket))
	c := journal.Cursor()
	for k, v := c.Last(); k != nil; k, v = c.Prev() {
		if bytes.Equal(v, append(bytes.Clone(key), id...)) {
			return journal.Delete(bytes.Clone(k))
		}
	}
	return nil
}

// journalled counts a document's records that the journal names.
func journalled(doc *bolt.Bucket) (n int, err error) {
	records, err := readRecords(doc)
	for i := range records {
		if records[i].Journalled() {
			n++
		}
	}
	return n, err
}

// Journal returns the newest journalled records, newest first, at most limit.
func (s *Store) Journal(limit int) (entries []model.JournalEntry, err error) {
	if err := s.checkpoint(); err != nil {
		return nil, s.fail("read journal", err)
	}
	err = s.view(func(tx *bolt.Tx) error {
		entries = nil
		c := tx.Bucket([]byte(journalBucket)).Cursor()
		for k, v := c.Last(); k != nil && len(entries) < limit; k, v = c.Prev() {
			e, err := journalEntry(tx, v)
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
		return nil
	})
	return entries, s.fail("read journal", err)
}

// journalEntry reads the record that the index names by v.
func journalEntry(tx *bolt.Tx, v []byte) (e model.JournalEntry, err error) {
	if len(v) < 8 {
		return e, damaged("a journal entry is cut off")
	}
	if len(v) == 8 {
		e.Record, err = readDecided(tx, v)
		return e, err
	}
	e.ID = model.DocID(v[8:])
	doc := document(tx, e.ID)
	if doc == nil {
		return e, damaged("the journal names a document that is not there")
	}
	e.Path = model.Path(doc.Get([]byte(pathKey)))
	key := seqKey(binary.BigEndian.Uint64(v))
	value := doc.Bucket([]byte(recordsBucket)).Get(key)
	if value == nil {
		return e, damaged("the journal names a record that is not there")
	}
	e.Record, err = decodeRecord(key, value)
	return e, err
}

// What a server has not acknowledged yet is known across restarts: Append notes
// it with the record, Sent crosses it out.

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
	if err := s.checkpointOf(kindChange, kindSent); err != nil {
		return nil, s.fail("list unsent documents", err)
	}
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
	return s.fail("note what was sent", s.add(&entry{kind: kindSent, id: id, seq: seq}, false, nil))
}

func applySent(tx *bolt.Tx, e *entry) error {
	unsent := tx.Bucket([]byte(unsentBucket))
	if unsent == nil {
		return nil
	}
	last := unsent.Get([]byte(e.id))
	if len(last) == 8 && binary.BigEndian.Uint64(last) > e.seq {
		return nil
	}
	return unsent.Delete([]byte(e.id))
}

// Kept lists the documents that have a history.
func (s *Store) Kept() ([]model.DocID, error) {
	var ids []model.DocID
	if err := s.checkpointOf(kindChange, kindAbort); err != nil {
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
