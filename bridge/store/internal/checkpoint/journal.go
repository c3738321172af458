package checkpoint

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// journalled is an entry of the journal. It has no ID if it is about a proposal or a session, and no update.
type journalled struct {
	ID     model.DocID  `cbor:"id,omitempty"`
	Seq    uint64       `cbor:"seq,omitempty"`
	Record model.Record `cbor:"record"`
}

// note adds a record to the journal. The entries are numbered in the order of arrival.
func note(tx *bolt.Tx, id model.DocID, rec model.Record) error {
	journal := bucket(tx, journalBucket)
	n, err := journal.NextSequence()
	if err != nil {
		return err
	}
	rec.Update, rec.Unsent = nil, false
	return put(journal, seqKey(n), journalled{id, rec.Seq, rec})
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
	var keys [][]byte
	c := bucket(tx, journalBucket).Cursor()
	for k, v := c.Last(); k != nil && len(keys) < n; k, v = c.Prev() {
		var e journalled
		if err := read(v, &e); err != nil {
			return err
		}
		if e.ID == id && e.Seq >= seq {
			keys = append(keys, bytes.Clone(k))
		}
	}
	for _, k := range keys {
		if err := bucket(tx, journalBucket).Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Journal is the newest journalled records, newest first, at most limit.
func (v View) Journal(limit int) (entries []model.JournalEntry, err error) {
	c := bucket(v.tx, journalBucket).Cursor()
	for k, value := c.Last(); k != nil && len(entries) < limit; k, value = c.Prev() {
		var e journalled
		if err := read(value, &e); err != nil {
			return nil, err
		}
		e.Record.Seq = e.Seq
		entries = append(entries, model.JournalEntry{ID: e.ID, Path: v.Document(e.ID).Path(), Record: e.Record})
	}
	return entries, nil
}
