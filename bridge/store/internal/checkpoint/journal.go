package checkpoint

import (
	"bytes"
	"encoding/json"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// The journal is an index: each entry, numbered in the order of arrival, names a
// record by its number and its document's id, or by its number alone if it is
// about a proposal or a session.

// note adds a record to the journal.
func note(tx *bolt.Tx, id model.DocID, seq uint64) error {
	journal := tx.Bucket([]byte(journalBucket))
	n, err := journal.NextSequence()
	if err != nil {
		return err
	}
	return journal.Put(seqKey(n), append(seqKey(seq), id...))
}

// noteDecided keeps a record that belongs to no document, and journals it.
func noteDecided(tx *bolt.Tx, rec model.Record) error {
	v, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	decided := tx.Bucket([]byte(decidedBucket))
	seq, err := decided.NextSequence()
	if err != nil {
		return err
	}
	if err := decided.Put(seqKey(seq), v); err != nil {
		return err
	}
	return note(tx, "", seq)
}

// noteSession keeps what a record says of its session, where it is found by that.
func noteSession(tx *bolt.Tx, rec model.Record) error {
	v, err := json.Marshal(rec.SessionNote)
	if err != nil {
		return err
	}
	return tx.Bucket([]byte(sessionsBucket)).Put([]byte(rec.Session), v)
}

// SessionNotes are the newest ones of all sessions that have some.
func (v View) SessionNotes() (map[string]model.SessionNote, error) {
	notes := make(map[string]model.SessionNote)
	return notes, v.tx.Bucket([]byte(sessionsBucket)).ForEach(func(session, value []byte) error {
		var n model.SessionNote
		if err := json.Unmarshal(value, &n); err != nil {
			return Damaged(err)
		}
		notes[string(session)] = n
		return nil
	})
}

// unlist takes a document's records from number seq on out of the journal. It begins with
// the newest entry: what is taken out is mostly new.
func unlist(tx *bolt.Tx, id model.DocID, seq uint64) error {
	n := 0
	records := document(tx, id).Bucket([]byte(recordsBucket)).Cursor()
	for k, v := records.Seek(seqKey(seq)); k != nil; k, v = records.Next() {
		rec, err := decodeRecord(k, v)
		if err != nil {
			return err
		}
		if rec.Journalled() {
			n++
		}
	}
	journal := tx.Bucket([]byte(journalBucket))
	c := journal.Cursor()
	var keys [][]byte
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
	c := v.tx.Bucket([]byte(journalBucket)).Cursor()
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
	switch {
	case len(value) < 8:
		return e, Damaged("a journal entry is cut off")
	case len(value) == 8:
		text := v.tx.Bucket([]byte(decidedBucket)).Get(value)
		if err := json.Unmarshal(text, &e.Record); err != nil {
			return e, Damaged(err)
		}
		return e, nil
	}
	e.ID = model.DocID(value[8:])
	doc := document(v.tx, e.ID)
	if doc == nil {
		return e, Damaged("the journal names a document that is not there")
	}
	e.Path = v.Document(e.ID).Path()
	record := doc.Bucket([]byte(recordsBucket)).Get(value[:8])
	if record == nil {
		return e, Damaged("the journal names a record that is not there")
	}
	e.Record, err = decodeRecord(value[:8], record)
	return e, err
}
