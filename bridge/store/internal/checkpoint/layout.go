package checkpoint

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// version is the only layout that this package reads and writes. A change of the layout,
// or of the frames of the log, raises it.
const version = "7"

// Names of buckets and keys; doc.go has the layout.
const (
	metaBucket     = "meta"
	pathsBucket    = "paths"
	docsBucket     = "docs"
	recordsBucket  = "records"
	journalBucket  = "journal"
	proposalBucket = "proposals"
	decidedBucket  = "decided"
	unsentBucket   = "unsent"
	sessionsBucket = "sessions"
	versionKey     = "version"
	appliedKey     = "applied"
	pathKey        = "path"
	stateKey       = "state"
	baseKey        = "base"
	historyBucket  = "history" // is created when records are merged
	beginKey       = "begin"
	movesKey       = "moves"
)

// emptyUpdate is the Yjs update that changes nothing: no structs, no deletions.
func emptyUpdate() []byte { return []byte{0, 0} }

// layOut makes the buckets of a new file.
func layOut(tx *bolt.Tx) error {
	for _, name := range []string{metaBucket, pathsBucket, docsBucket, journalBucket, proposalBucket, decidedBucket, unsentBucket, sessionsBucket} {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	return tx.Bucket([]byte(metaBucket)).Put([]byte(versionKey), []byte(version))
}

// checkVersion refuses a file of another version than this one.
func checkVersion(tx *bolt.Tx) error {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return Damaged("it has no version")
	}
	text := string(meta.Get([]byte(versionKey)))
	switch _, err := strconv.ParseUint(text, 10, 32); {
	case err != nil:
		return Damaged(fmt.Sprintf("its version is %q", text))
	case text != version:
		return fmt.Errorf("%w (its format is %s, and this version has %s): use that version, or move the store's folder away to begin without authors, undo and pending proposals",
			model.ErrUnknownStore, text, version)
	}
	return nil
}

// walk visits every key, and so every page but those of large values: a file
// that was cut off or overwritten shows here, before anything relies on it.
func walk(tx *bolt.Tx) error {
	for _, name := range []string{pathsBucket, docsBucket, journalBucket, proposalBucket, decidedBucket, unsentBucket, sessionsBucket} {
		if tx.Bucket([]byte(name)) == nil {
			return Damaged("it has no " + name)
		}
	}
	return tx.Bucket([]byte(docsBucket)).ForEachBucket(func(id []byte) error {
		records := document(tx, model.DocID(id)).Bucket([]byte(recordsBucket))
		if records == nil {
			return Damaged("a document has no records")
		}
		return records.ForEach(func(k, v []byte) error {
			_, err := decodeRecord(k, v)
			return err
		})
	})
}

func putApplied(tx *bolt.Tx, lsn wal.LSN) error {
	return tx.Bucket([]byte(metaBucket)).Put([]byte(appliedKey), seqKey(uint64(lsn)))
}

// document is the bucket of a document, nil if there is none.
func document(tx *bolt.Tx, id model.DocID) *bolt.Bucket {
	return tx.Bucket([]byte(docsBucket)).Bucket([]byte(id))
}

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// seqOf returns 0 for what seqKey does not make.
func seqOf(key []byte) uint64 {
	if len(key) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

// lastBefore is the number of the newest record before number seq, 0 without any.
func lastBefore(records *bolt.Bucket, seq uint64) uint64 {
	c := records.Cursor()
	if k, _ := c.Seek(seqKey(seq)); k != nil {
		k, _ = c.Prev()
		return seqOf(k)
	}
	k, _ := c.Last()
	return seqOf(k)
}

func decodeRecord(k, v []byte) (model.Record, error) {
	if len(k) != 8 {
		return model.Record{}, Damaged("a record has no number")
	}
	rec, err := frame.DecodeRecord(seqOf(k), v)
	if err != nil {
		err = Damaged(err)
	}
	return rec, err
}

func readRecords(doc *bolt.Bucket) ([]model.Record, error) {
	base, merged := readBase(doc)
	var records []model.Record
	err := doc.Bucket([]byte(recordsBucket)).ForEach(func(k, v []byte) error {
		rec, err := decodeRecord(k, v)
		if err != nil {
			return err
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

// recordsBetween returns the records from first to last, as they are stored.
func recordsBetween(doc *bolt.Bucket, first, last uint64) (records []model.Record, err error) {
	c := doc.Bucket([]byte(recordsBucket)).Cursor()
	for k, v := c.Seek(seqKey(first)); k != nil && seqOf(k) <= last; k, v = c.Next() {
		rec, err := decodeRecord(k, v)
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	return records, nil
}

// Mark is up to which record the source's file holds the text, and the sum of that.
type Mark struct {
	Seq uint64
	Sum model.ContentSum
}

func (m Mark) encode() []byte { return append(seqKey(m.Seq), m.Sum[:]...) }

// readMark returns the zero Mark if there is none.
func readMark(doc *bolt.Bucket) (m Mark) {
	if v := doc.Get([]byte(stateKey)); len(v) == 8+len(m.Sum) {
		m.Seq = binary.BigEndian.Uint64(v)
		copy(m.Sum[:], v[8:])
	}
	return m
}

// readBase returns the merged updates and the number of the last one of them,
// 0 if none were merged. The bytes are valid during the transaction.
func readBase(doc *bolt.Bucket) (seq uint64, update []byte) {
	v := doc.Get([]byte(baseKey))
	if len(v) < 8 {
		return 0, nil
	}
	return binary.BigEndian.Uint64(v), v[8:]
}
