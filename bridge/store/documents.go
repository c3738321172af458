package store

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// DocID returns the document kept under p, or fs.ErrNotExist.
func (s *Store) DocID(p model.Path) (id model.DocID, err error) {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	if id, known := s.tail.at(p); known {
		return id, nil
	}
	err = s.view(func(tx *bolt.Tx) error {
		id, err = docAt(tx, p)
		return err
	})
	if err == nil && s.tail.moved(id, p) {
		return "", fs.ErrNotExist
	}
	return id, s.fail("look up document", err)
}

// Load returns everything kept for id, oldest first. Where updates were merged,
// the first record's Update holds them all, and the other records that they
// came from, of which those of people are dropped, have one that changes nothing.
func (s *Store) Load(id model.DocID) (h model.History, err error) {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
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
		if d := s.tail.docs[id]; d != nil {
			h.Records = append(h.Records, d.after(kept)...)
			d.place(h.Records)
			if d.mark.seq >= written.seq {
				written = d.mark
			}
		}
		h.Materialized, h.Sum = written.seq, written.sum
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
// outlive the process when Append returns, and a power cut soon; what has no copy in the
// source, records that are journalled, ahead of it or unsent, outlives one at once.
func (s *Store) Append(id model.DocID, p model.Path, recs ...model.Record) (seq uint64, err error) {
	if id == "" || len(recs) == 0 {
		return 0, s.fail("append", errNoID)
	}
	e := &entry{kind: kindChange, id: id, path: p, values: make([][]byte, len(recs)), records: slices.Clone(recs)}
	only := false // the store has the only copy
	for i := range e.records {
		rec := &e.records[i]
		if e.values[i], err = encodeRecord(*rec); err != nil {
			return 0, s.fail("append", err)
		}
		v := e.values[i]
		rec.Update, rec.Time = v[len(v)-len(rec.Update):], rec.Time.Round(0) // not the caller's
		only = only || rec.Journalled() || rec.Ahead || rec.Unsent
	}
	err = s.add(e, only, func() error {
		last, err := s.lastSeq(id)
		e.seq = last + 1
		for i := range e.records {
			e.records[i].Seq = e.seq + uint64(i)
		}
		return err
	})
	return e.last(), s.fail("append", err)
}

// Abort takes back the records of a document from number seq on: what they say did not
// happen. It is durable when Abort returns.
func (s *Store) Abort(id model.DocID, seq uint64) error {
	err := s.add(&entry{kind: kindAbort, id: id, seq: seq}, true, nil)
	if err == nil {
		var kept uint64
		if kept, err = s.lastKept(id); err == nil && kept >= seq {
			err = s.checkpoint()
		}
	}
	return s.fail("abort", err)
}

// Unsettled are the paths of documents whose newest text may not be in the source's file.
func (s *Store) Unsettled() (list []model.Path, err error) {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	err = s.view(func(tx *bolt.Tx) error {
		list = nil
		return tx.Bucket([]byte(docsBucket)).ForEachBucket(func(key []byte) error {
			doc, id := document(tx, model.DocID(key)), model.DocID(key)
			p, last, settled := model.Path(doc.Get([]byte(pathKey))), lastSeq(doc.Bucket([]byte(recordsBucket))), readMark(doc).seq
			if d := s.tail.docs[id]; d != nil {
				p, last, settled = d.newest(p, last, settled)
			}
			if p != "" && last > settled {
				list = append(list, p)
			}
			return nil
		})
	})
	if err != nil {
		return nil, s.fail("list unsettled documents", err)
	}
	for p, id := range s.tail.paths {
		if d := s.tail.docs[id]; !slices.Contains(list, p) && d.records[len(d.records)-1].Seq > d.mark.seq {
			list = append(list, p)
		}
	}
	return list, nil
}

// Sync returns when everything that was appended outlives a power cut.
func (s *Store) Sync() error {
	return s.fail("sync", translate(s.wal.Sync(s.wal.LastLSN())))
}

// Place notes that the source's file is about to hold the text as of seq.
func (s *Store) Place(id model.DocID, seq uint64, save model.Save) error {
	return s.fail("place", s.add(&entry{kind: kindPlace, id: id, seq: seq, save: save}, false, nil))
}

// add appends an entry to the log and lets the store know it; synced says that it
// outlives a power cut when add returns. number, unless nil, completes it before.
func (s *Store) add(e *entry, synced bool, number func() error) error {
	err := s.addToLog(e, number)
	if err == nil && synced {
		err = s.wal.Sync(e.lsn)
	}
	s.poke()
	return translate(err)
}

func (s *Store) addToLog(e *entry, number func() error) error {
	s.tail.mu.Lock()
	defer s.tail.mu.Unlock()
	if number != nil {
		if err := number(); err != nil {
			return err
		}
	}
	body, err := e.encode()
	if err != nil {
		return err
	}
	if e.lsn, err = s.wal.Append(body); err != nil {
		return err
	}
	s.tail.add(e)
	return nil
}

// lastSeq is the number of the document's last record. tail.mu is held.
func (s *Store) lastSeq(id model.DocID) (uint64, error) {
	if d := s.tail.docs[id]; d != nil && len(d.records) > 0 {
		return d.records[len(d.records)-1].Seq, nil
	}
	return s.lastKept(id)
}

// lastKept is the number of the document's last record in the checkpoint.
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

// Materialized notes that the source's file holds the text as of seq.
func (s *Store) Materialized(id model.DocID, seq uint64, sum model.ContentSum) {
	if err := s.add(&entry{kind: kindMark, id: id, seq: seq, sum: sum}, false, nil); err != nil {
		// The file is compared with the document again, by who opens it next.
		s.log.Warn("not noted what a file holds", model.LogDoc, string(id), model.LogErr, err)
	}
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

// Rename moves every document at or below oldPath.
func (s *Store) Rename(oldPath, newPath model.Path) error {
	if oldPath == newPath {
		return nil
	}
	return s.now("rename", func(tx *bolt.Tx) error { return rename(tx, oldPath, newPath) })
}

// Forget takes the document id out for good, and its entries out of the journal.
func (s *Store) Forget(id model.DocID) error {
	return s.now("forget", func(tx *bolt.Tx) error { return forget(tx, id) })
}

// now makes a change in the checkpoint, behind everything that is in the log.
func (s *Store) now(op string, fn func(*bolt.Tx) error) error {
	err := s.checkpoint()
	if err == nil {
		err = s.update(fn)
	}
	return s.fail(op, err)
}

func rename(tx *bolt.Tx, oldPath, newPath model.Path) error {
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
}

func forget(tx *bolt.Tx, id model.DocID) error {
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
	paths := tx.Bucket([]byte(pathsBucket))
	if p := bytes.Clone(doc.Get([]byte(pathKey))); p != nil && string(paths.Get(p)) == string(id) {
		if err := paths.Delete(p); err != nil {
			return err
		}
	}
	return tx.Bucket([]byte(docsBucket)).DeleteBucket([]byte(id))
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
