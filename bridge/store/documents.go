package store

import (
	"bytes"
	"errors"
	"io/fs"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// DocID returns the document kept under p, or fs.ErrNotExist.
func (s *Store) DocID(p model.Path) (id model.DocID, err error) {
	s.wal.mu.Lock()
	defer s.wal.mu.Unlock()
	if id, known := s.wal.at(p); known {
		return id, nil
	}
	err = s.view(func(tx *bolt.Tx) error {
		id, err = docAt(tx, p)
		return err
	})
	if err == nil && s.wal.moved(id, p) {
		return "", fs.ErrNotExist
	}
	return id, s.fail("look up document", err)
}

// Load returns everything kept for id, oldest first. Where updates were merged,
// the first record's Update holds them all, and the other records that they
// came from, of which those of people are dropped, have one that changes nothing.
func (s *Store) Load(id model.DocID) (h model.History, err error) {
	s.wal.mu.Lock()
	defer s.wal.mu.Unlock()
	err = s.view(func(tx *bolt.Tx) error {
		h = model.History{}
		var written mark
		kept := uint64(0)
		if doc := document(tx, id); doc != nil {
			if h.Records, err = readRecords(doc); err != nil {
				return err
			}
			written, kept = readMark(doc), lastSeq(doc.Bucket([]byte(recordsBucket)))
		}
		m := s.marks.of(id, written)
		h.Materialized, h.Sum = m.seq, m.sum
		h.Records = append(h.Records, s.wal.since(id, kept)...)
		return nil
	})
	return h, s.fail("load document", err)
}

func readRecords(doc *bolt.Bucket) ([]model.Record, error) {
	base, merged := readBase(doc)
	var records []model.Record
	err := doc.Bucket([]byte(recordsBucket)).ForEach(func(k, v []byte) error {
		rec, err := decodeRecord(k, v)
		if err != nil {
			return damaged(err)
		}
		if rec.Seq <= base {
			rec.Update = emptyUpdate()
			if len(records) == 0 {
				rec.Update = bytes.Clone(merged)
			}
		}
		records = append(records, rec)
		return nil
	})
	return records, err
}

// errNoID refuses what no document can be kept under.
var errNoID = errors.New("document has no id")

// Append keeps recs, all or none, for the document id, which lives at p. They
// outlive the process when Append returns, and soon a power cut too; what has no
// copy in the source, records that are journalled, ahead of it or unsent, does so at once.
func (s *Store) Append(id model.DocID, p model.Path, recs ...model.Record) (seq uint64, err error) {
	if id == "" || len(recs) == 0 {
		return 0, s.fail("append", errNoID)
	}
	values := make([][]byte, len(recs))
	only := false // the store has the only copy
	for i, rec := range recs {
		if values[i], err = encodeRecord(rec); err != nil {
			return 0, s.fail("append", err)
		}
		only = only || rec.Journalled() || rec.Ahead || rec.Unsent
	}
	if only {
		seq, err = s.appendNow(id, p, recs, values)
	} else {
		seq, err = s.wal.append(id, p, recs, values, func() (uint64, error) { return s.lastKept(id) })
		s.marks.poke()
	}
	if err == nil {
		s.intents.kept(p)
	}
	return seq, s.fail("append", err)
}

// lastKept is the number of the document's last record in the file.
func (s *Store) lastKept(id model.DocID) (seq uint64, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		seq = 0
		if doc := document(tx, id); doc != nil {
			seq = lastSeq(doc.Bucket([]byte(recordsBucket)))
		}
		return nil
	})
	return seq, err
}

// appendNow is Append without the log.
func (s *Store) appendNow(id model.DocID, p model.Path, recs []model.Record, values [][]byte) (seq uint64, err error) {
	if s.wal.has(id) {
		if err := s.settle(); err != nil {
			return 0, err
		}
	}
	err = s.appends.do(func(tx *bolt.Tx) error {
		doc, err := ensure(tx, id, p)
		if err != nil {
			return err
		}
		records := doc.Bucket([]byte(recordsBucket))
		seq = lastSeq(records)
		for i, v := range values {
			seq++
			if err := records.Put(seqKey(seq), v); err != nil {
				return err
			}
			if recs[i].Unsent {
				if err := markUnsent(tx, id, seq); err != nil {
					return err
				}
			}
			if recs[i].Journalled() {
				if err := note(tx, id, seq); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return seq, err
}

// ensure makes sure that the document id is there and lives at p.
func ensure(tx *bolt.Tx, id model.DocID, p model.Path) (*bolt.Bucket, error) {
	doc := document(tx, id)
	if doc != nil && string(doc.Get([]byte(pathKey))) == string(p) {
		return doc, nil
	}
	if doc == nil {
		var err error
		if doc, err = tx.Bucket([]byte(docsBucket)).CreateBucket([]byte(id)); err != nil {
			return nil, err
		}
		if _, err = doc.CreateBucket([]byte(recordsBucket)); err != nil {
			return nil, err
		}
	}
	return doc, place(tx, id, p)
}

// place gives a document a path. One that lived there has none from now on; its
// history is kept.
func place(tx *bolt.Tx, id model.DocID, p model.Path) error {
	paths, doc := tx.Bucket([]byte(pathsBucket)), document(tx, id)
	if old := doc.Get([]byte(pathKey)); old != nil && string(paths.Get(old)) == string(id) {
		if err := paths.Delete(bytes.Clone(old)); err != nil {
			return err
		}
	}
	if former := document(tx, model.DocID(paths.Get([]byte(p)))); former != nil {
		if err := former.Delete([]byte(pathKey)); err != nil {
			return err
		}
	}
	if err := paths.Put([]byte(p), []byte(id)); err != nil {
		return err
	}
	return doc.Put([]byte(pathKey), []byte(p))
}

// Rename moves every document at or below oldPath, in one transaction.
func (s *Store) Rename(oldPath, newPath model.Path) error {
	if oldPath == newPath {
		return nil
	}
	if err := s.intents.rename(oldPath, newPath); err != nil {
		s.log.Warn("intents keep their old path", model.LogPath, string(newPath), model.LogErr, err)
	}
	if err := s.settle(); err != nil {
		return s.fail("rename", err)
	}
	err := s.update(func(tx *bolt.Tx) error {
		type move struct {
			id model.DocID
			to model.Path
		}
		var moves []move
		forBelow(tx, oldPath, func(p, id []byte) {
			moves = append(moves, move{model.DocID(id), newPath + model.Path(p[len(oldPath):])})
		})
		for _, m := range moves {
			if err := place(tx, m.id, m.to); err != nil {
				return err
			}
		}
		return nil
	})
	return s.fail("rename", err)
}

// Forget takes the document id out for good, and its entries out of the journal.
func (s *Store) Forget(id model.DocID) error {
	if err := s.settle(); err != nil {
		return s.fail("forget", err)
	}
	err := s.update(func(tx *bolt.Tx) error {
		doc := document(tx, id)
		if doc == nil {
			return nil
		}
		if err := unlist(tx, id); err != nil {
			return err
		}
		if unsent := tx.Bucket([]byte(unsentBucket)); unsent != nil {
			if err := unsent.Delete([]byte(id)); err != nil {
				return err
			}
		}
		if p := doc.Get([]byte(pathKey)); p != nil {
			if err := tx.Bucket([]byte(pathsBucket)).Delete(bytes.Clone(p)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte(docsBucket)).DeleteBucket([]byte(id))
	})
	return s.fail("forget", err)
}

// forBelow calls fn for the documents at p and below it.
func forBelow(tx *bolt.Tx, p model.Path, fn func(path, id []byte)) {
	paths := tx.Bucket([]byte(pathsBucket))
	if id := paths.Get([]byte(p)); id != nil {
		fn([]byte(p), id)
	}
	prefix := []byte(p + "/")
	c := paths.Cursor()
	for k, id := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, id = c.Next() {
		fn(k, id)
	}
}
