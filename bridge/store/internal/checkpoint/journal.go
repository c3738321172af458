package checkpoint

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// The journal is an index: each entry, numbered in the order of arrival, names a
// record by its number and its document's id, or by its number alone if it is
// about a proposal or a session.

// note adds a record to the journal.
func note(tx *bolt.Tx, id model.DocID, seq uint64) error {
	journal := bucket(tx, journalBucket)
	n, err := journal.NextSequence()
	if err != nil {
		return err
	}
	return journal.Put(seqKey(n), append(seqKey(seq), id...))
}

// noteDecided keeps a record that belongs to no document, and journals it.
func noteDecided(tx *bolt.Tx, rec model.Record) error {
	decided := bucket(tx, decidedBucket)
	seq, err := decided.NextSequence()
	if err != nil {
		return err
	}
	if err := put(decided, seqKey(seq), rec); err != nil {
		return err
	}
	return note(tx, "", seq)
}

// unlist takes a document's records from number seq on out of the journal. It begins with
// the newest entry: what is taken out is mostly new.
func unlist(tx *bolt.Tx, id model.DocID, doc Document, seq uint64) error {
	n := 0
	if err := doc.each(recordKey, seq, func(rec model.Record) (bool, error) {
		if rec.Journalled() {
			n++
		}
		return true, nil
	}); err != nil {
		return err
	}
	journal := bucket(tx, journalBucket)
	var keys [][]byte
	c := journal.Cursor()
	for k, v := c.Last(); k != nil && len(keys) < n; k, v = c.Prev() {
		if len(v) > 8 && string(v[8:]) == string(id) && seqOf(v[:8]) >= seq {
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

// Journal is the newest journalled records, newest first, at most limit.
func (v View) Journal(limit int) (entries []model.JournalEntry, err error) {
	c := bucket(v.tx, journalBucket).Cursor()
	for k, value := c.Last(); k != nil && len(entries) < limit; k, value = c.Prev() {
		e, err := v.journalEntry(value)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// journalEntry reads the record that an entry of the index names.
func (v View) journalEntry(value []byte) (e model.JournalEntry, err error) {
	if len(value) < 8 {
		return e, Damaged("a journal entry is cut off")
	}
	seq, id := seqOf(value[:8]), model.DocID(value[8:])
	if id == "" {
		return e, read(bucket(v.tx, decidedBucket).Get(value), &e.Record)
	}
	doc := v.Document(id)
	if doc.b == nil || doc.b.Get(numbered(recordKey, seq)) == nil {
		return e, Damaged("the journal names a record that is not there")
	}
	e.ID, e.Path = id, doc.Path()
	e.Record, err = readRecord(seq, doc.b.Get(numbered(recordKey, seq)))
	return e, err
}
