package checkpoint

import (
	"errors"
	"io"
	"math"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// smallerSuffix names the file that takes the place of the checkpoint when that is shrunk.
const smallerSuffix = ".smaller"

// copyAtOnce is how many bytes are copied in one transaction.
const copyAtOnce = 1 << 20

// Copy writes the file as it is now. size is told before. Nothing is written to the file
// meanwhile; it can be read.
func (f *File) Copy(w io.Writer, size func(int64)) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.View(func(v View) error {
		size(v.tx.Size())
		_, err := v.tx.WriteTo(w)
		return err
	})
}

// Newest is the time of the newest change that the file has, zero if it has none.
func (v View) Newest() (newest time.Time, err error) {
	later := func(t time.Time) {
		if t.After(newest) {
			newest = t
		}
	}
	ids, err := v.Documents()
	if err != nil {
		return newest, err
	}
	for _, id := range ids {
		c := document(v.tx, id).Bucket([]byte(recordsBucket)).Cursor()
		k, value := c.Last()
		if k == nil {
			continue
		}
		rec, err := decodeRecord(k, value)
		if err != nil {
			return newest, err
		}
		later(rec.Time)
	}
	journal, err := v.Journal(1)
	for _, e := range journal {
		later(e.Time)
	}
	if err != nil {
		return newest, err
	}
	proposals, err := v.Proposals()
	for _, p := range proposals {
		later(p.Time)
	}
	return newest, err
}

// SettleAll notes of every document that its source's file held its text once. What the file holds now came later,
// whatever the records say of saves that were under way.
func (f *File) SettleAll() error {
	return f.update(func(tx *bolt.Tx) error {
		ids, err := View{tx}.Documents()
		for _, id := range ids {
			doc := document(tx, id)
			last := lastBefore(doc.Bucket([]byte(recordsBucket)), math.MaxUint64)
			if m := readMark(doc); m.Seq < last {
				err = errors.Join(err, doc.Put([]byte(stateKey), Mark{Seq: last}.encode()))
			}
		}
		return err
	})
}

// Compact merges what can be merged of every document, takes out of the histories what is too old, and then
// gives the file the size that its content needs. done is told of each document.
func (f *File) Compact(done func(n, of int)) error {
	var ids []model.DocID
	err := f.View(func(v View) (err error) {
		ids, err = v.Documents()
		return err
	})
	for i, id := range ids {
		if err == nil {
			err = f.update(func(tx *bolt.Tx) error { return f.compactAll(tx, id) })
		}
		done(i+1, len(ids))
	}
	if err != nil {
		return err
	}
	return f.shrink()
}

func (f *File) compactAll(tx *bolt.Tx, id model.DocID) error {
	doc := document(tx, id)
	if doc == nil {
		return nil // it was forgotten meanwhile
	}
	base, _ := readBase(doc)
	upTo := readMark(doc).Seq
	if last := lastBefore(doc.Bucket([]byte(recordsBucket)), math.MaxUint64); upTo > last {
		upTo = last
	}
	if upTo > base {
		if err := f.compact(doc, id, upTo); err != nil {
			return err
		}
	}
	if f.history == 0 {
		return nil
	}
	return expire(doc, time.Now().Add(-f.history), 0)
}

// shrink copies the file into one that has no room to spare, and gives that its name.
func (f *File) shrink() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	path, name := f.path+smallerSuffix, filepath.Base(f.path)
	smaller, err := openDB(&path, f.o)
	if err != nil {
		return err
	}
	err = guard(func() error { return bolt.Compact(smaller, f.db, copyAtOnce) })
	if err == nil && sizeOf(smaller) >= sizeOf(f.db) {
		return errors.Join(smaller.Close(), f.dir.Remove(name+smallerSuffix))
	}
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		err = f.dir.Rename(name+smallerSuffix, f.dir, name)
	}
	if err != nil {
		return errors.Join(err, smaller.Close(), f.dir.Remove(name+smallerSuffix))
	}
	former := f.db
	path, f.db = f.path, smaller
	return errors.Join(f.dir.Sync(), former.Close())
}

func sizeOf(db *bolt.DB) (n int64) {
	_ = db.View(func(tx *bolt.Tx) error {
		n = tx.Size()
		return nil
	})
	return n
}
