package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// version is the layout that this package reads and writes. A change that an
// older relayfs would misread raises it.
const version = 3

// Names of buckets and keys; doc.go has the layout.
const (
	metaBucket     = "meta"
	pathsBucket    = "paths"
	docsBucket     = "docs"
	recordsBucket  = "records"
	journalBucket  = "journal"
	proposalBucket = "proposals"
	decidedBucket  = "decided"
	unsentBucket   = "unsent" // made when it is first needed; older versions leave it alone
	versionKey     = "version"
	appliedKey     = "applied"
	pathKey        = "path"
	stateKey       = "state"
	baseKey        = "base"
)

// emptyUpdate is the Yjs update that changes nothing: no structs, no deletions.
func emptyUpdate() []byte { return []byte{0, 0} }

// layOut makes the buckets of a new file.
func layOut(tx *bolt.Tx) error {
	for _, name := range []string{metaBucket, pathsBucket, docsBucket, journalBucket, proposalBucket, decidedBucket} {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	return putVersion(tx)
}

func putVersion(tx *bolt.Tx) error {
	return tx.Bucket([]byte(metaBucket)).Put([]byte(versionKey), strconv.AppendInt(nil, version, 10))
}

// readVersion is the version of the file's layout.
func readVersion(tx *bolt.Tx) (int, error) {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return 0, damaged("it has no version")
	}
	text := string(meta.Get([]byte(versionKey)))
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 {
		return 0, damaged(fmt.Sprintf("its version is %q", text))
	}
	return v, nil
}

// checkVersion says whether the file is of this version, or an older one.
func checkVersion(tx *bolt.Tx) (older bool, err error) {
	v, err := readVersion(tx)
	if err == nil && v > version {
		err = fmt.Errorf("%w: it has version %d, this relayfs knows %d", model.ErrUnknownStore, v, version)
	}
	return v < version, err
}

// walk visits every key, and so every page but those of large values: a file
// that was cut off or overwritten shows here, before anything relies on it.
func walk(tx *bolt.Tx) error {
	for _, name := range []string{pathsBucket, docsBucket, journalBucket} {
		if tx.Bucket([]byte(name)) == nil {
			return damaged("it has no " + name)
		}
	}
	return tx.Bucket([]byte(docsBucket)).ForEachBucket(func(id []byte) error {
		records := document(tx, model.DocID(id)).Bucket([]byte(recordsBucket))
		if records == nil {
			return damaged("a document has no records")
		}
		return records.ForEach(func(k, v []byte) error {
			if _, err := decodeRecord(k, v); err != nil {
				return damaged(err)
			}
			return nil
		})
	})
}

// document is the bucket of a document, nil if it is unknown.
func document(tx *bolt.Tx, id model.DocID) *bolt.Bucket {
	return tx.Bucket([]byte(docsBucket)).Bucket([]byte(id))
}

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// lastSeq is the sequence number of the newest record, 0 without any.
func lastSeq(records *bolt.Bucket) uint64 {
	k, _ := records.Cursor().Last()
	if len(k) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(k)
}

func encodeRecord(rec model.Record) ([]byte, error) {
	text, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	b := binary.AppendUvarint(nil, uint64(len(text)))
	return append(append(b, text...), rec.Update...), nil
}

// errBadRecord says that a record is not what encodeRecord makes.
var errBadRecord = errors.New("record cannot be decoded")

// decodeRecord returns a record that shares no memory with k and v.
func decodeRecord(k, v []byte) (rec model.Record, err error) {
	n, size := binary.Uvarint(v)
	if len(k) != 8 || size <= 0 || n > uint64(len(v)-size) {
		return rec, errBadRecord
	}
	text := v[size : size+int(n)]
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, fmt.Errorf("%w: %v", errBadRecord, err)
	}
	rec.Seq = binary.BigEndian.Uint64(k)
	rec.Update = append([]byte(nil), v[size+int(n):]...)
	return rec, nil
}

// mark is up to which record the source's file holds the text.
type mark struct {
	seq uint64
	sum model.ContentSum
}

func (m mark) encode() []byte { return append(seqKey(m.seq), m.sum[:]...) }

// readMark returns the zero mark if there is none.
func readMark(doc *bolt.Bucket) (m mark) {
	if v := doc.Get([]byte(stateKey)); len(v) == 8+len(m.sum) {
		m.seq = binary.BigEndian.Uint64(v)
		copy(m.sum[:], v[8:])
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

// docAt is the document that lives at p, or fs.ErrNotExist.
func docAt(tx *bolt.Tx, p model.Path) (model.DocID, error) {
	id := tx.Bucket([]byte(pathsBucket)).Get([]byte(p))
	if id == nil {
		return "", &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return model.DocID(id), nil
}
