package checkpoint

import (
	"errors"
	"io"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	smallerSuffix = ".smaller" // suffix of the compact copy that replaces the checkpoint
	copyAtOnce    = 1 << 20    // bytes copied in one transaction
	minFree       = 4 << 20    // minimum number of free bytes that makes a copy worthwhile
)

// Copy writes the current file to w. It blocks writes, but not reads.
func (f *File) Copy(w io.Writer) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.View(func(v View) error {
		_, err := v.tx.WriteTo(w)
		return err
	})
}

// SettleAll records for every document that the source's file contained the document's newest text, even if records
// describe unfinished saves. So the file's current content counts as newer than the document.
func (f *File) SettleAll() error {
	return f.update(func(tx *bolt.Tx) error {
		var ids []model.DocID
		err := bucket(tx, unsettledBucket).ForEach(func(id, _ []byte) error {
			ids = append(ids, model.DocID(id))
			return nil
		})
		for _, id := range ids {
			doc := document(tx, id)
			err = errors.Join(err, doc.putFileMark(FileMark{Seq: doc.Last()}), markUnsettled(tx, id, doc))
		}
		return err
	})
}

// Shrink replaces the file with a compact copy if at least a quarter of the file, and at least minFree bytes, are free.
// It blocks reads only during the replacement. It does nothing if the disk is known to have less free space than twice
// the size of the file, because saves need space as well.
func (f *File) Shrink() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	stats, size := f.db.Stats(), sizeOf(f.db)
	if free := int64(stats.FreePageN+stats.PendingPageN) * int64(f.db.Info().PageSize); free < minFree || free < size/4 {
		return nil
	}
	if f.o.FreeSpace != nil {
		if room, err := f.o.FreeSpace(filepath.Dir(f.path)); err != nil || room < 2*uint64(size) {
			return err
		}
	}
	path, name := f.path+smallerSuffix, filepath.Base(f.path)
	smaller, err := openDB(&path, f.o)
	if err != nil {
		return err
	}
	smaller.NoSync = true // the copy is synced when it is complete
	err = guard(func() error { return errors.Join(bolt.Compact(smaller, f.db, copyAtOnce), smaller.Sync()) })
	smaller.NoSync = false
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
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
