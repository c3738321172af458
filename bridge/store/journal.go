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
