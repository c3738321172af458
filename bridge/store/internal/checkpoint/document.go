package checkpoint

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// Document is the bucket of a document. b is nil if there is no such document.
type Document struct {
	id model.DocID
	b  *bolt.Bucket
}

func document(tx *bolt.Tx, id model.DocID) Document {
	return Document{id, bucket(tx, docsBucket).Bucket([]byte(id))}
}

// These are the keys in the bucket of a document. The keys of records and revisions end in their numbers.
const (
	pathKey     = 'p'
	baseKey     = 'u'
	recordKey   = 'r'
	revisionKey = 'h'
	beginKey    = 'b'
	movesKey    = 'm'
)

func numbered(kind byte, seq uint64) []byte { return append([]byte{kind}, seqKey(seq)...) }

// numberOf returns 0 for a key of another kind.
func numberOf(kind byte, key []byte) uint64 {
	if len(key) == 0 || key[0] != kind {
		return 0
	}
	return seqOf(key[1:])
}

func (d Document) get(key byte) []byte {
	if d.b == nil {
		return nil
	}
	return d.b.Get([]byte{key})
}

// each calls fn with the records under the numbered keys of a kind, in order. It begins at the given number and stops
// when fn returns false.
func (d Document) each(kind byte, from uint64, fn func(model.Record) (bool, error)) error {
	if d.b == nil {
		return nil
	}
	c := d.b.Cursor()
	for k, v := c.Seek(numbered(kind, from)); numberOf(kind, k) > 0; k, v = c.Next() {
		rec, err := readRecord(numberOf(kind, k), v)
		if err != nil {
			return err
		}
		if more, err := fn(rec); err != nil || !more {
			return err
		}
	}
	return nil
}

// list returns the records and the revisions in order, beginning at the given number. most is the maximum number of
// records of each kind.
func (d Document) list(from uint64, most int) (list []model.Record, err error) {
	for _, kind := range []byte{recordKey, revisionKey} {
		left := most
		err = errors.Join(err, d.each(kind, from, func(rec model.Record) (bool, error) {
			list = append(list, rec)
			left--
			return left > 0, nil
		}))
	}
	slices.SortFunc(list, func(a, b model.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return list, err
}

func (d Document) before(seq uint64) uint64 {
	if d.b == nil {
		return 0
	}
	c := d.b.Cursor()
	k, _ := c.Seek(numbered(recordKey, seq))
	if k == nil {
		k, _ = c.Last()
	} else {
		k, _ = c.Prev()
	}
	return numberOf(recordKey, k)
}

func (d Document) Last() uint64 { return d.before(math.MaxUint64) }

func (d Document) Path() model.Path { return model.Path(d.get(pathKey)) }

// FileMark identifies the text of the source's file: the last record whose text the file holds, and the checksum of
// that text.
type FileMark struct {
	Seq  uint64
	Sum  model.ContentSum
	File model.Stamp // the part that Stamp.File returns
}

// FileMark returns the zero FileMark if the state of the source's file is unknown.
func (d Document) FileMark() FileMark {
	if d.b == nil {
		return FileMark{}
	}
	return fileMark(d.b.Tx(), d.id)
}

// fileMark does not read the document's own bucket.
func fileMark(tx *bolt.Tx, id model.DocID) (m FileMark) {
	if v := bucket(tx, filesBucket).Get([]byte(id)); len(v) == 4*8+len(m.Sum) {
		m.Seq = seqOf(v[:8])
		file := v[8+copy(m.Sum[:], v[8:]):]
		m.File = model.Stamp{Device: seqOf(file[:8]), Inode: seqOf(file[8:16]), Birth: int64(seqOf(file[16:]))}
	}
	return m
}

func (d Document) putFileMark(m FileMark) error {
	v := append(seqKey(m.Seq), m.Sum[:]...)
	return bucket(d.b.Tx(), filesBucket).Put([]byte(d.id), slices.Concat(v, seqKey(m.File.Device), seqKey(m.File.Inode), seqKey(uint64(m.File.Birth))))
}

// base returns the merged updates and the number of the last merged record; seq is 0 if no updates were merged. The
// bytes are valid only during the transaction.
func (d Document) base() (seq uint64, update []byte) {
	if v := d.get(baseKey); len(v) > 8 {
		return seqOf(v[:8]), v[8:]
	}
	return 0, nil
}

func (d Document) putBase(seq uint64, update []byte) error {
	return d.b.Put([]byte{baseKey}, append(seqKey(seq), update...))
}

// Records returns the records of the document, oldest first. If updates were merged, the first record has all of them,
// and the other merged records that remain have an update that changes nothing.
func (d Document) Records() (records []model.Record, err error) {
	base, merged := d.base()
	err = d.each(recordKey, 0, func(rec model.Record) (bool, error) {
		if rec.Seq <= base {
			rec.Update = model.EmptyUpdate()
			if len(records) == 0 {
				rec.Update = bytes.Clone(merged)
			}
		}
		records = append(records, rec)
		return true, nil
	})
	return records, err
}

func (d Document) putRecord(kind byte, rec model.Record) error {
	rec.Unsent = false
	return put(d.b, numbered(kind, rec.Seq), rec)
}

// record returns a record without its update and its save, or a Record with only its number if it does not exist.
func (d Document) record(seq uint64) (rec model.Record, err error) {
	if d.b != nil {
		rec, err = readRecord(seq, d.b.Get(numbered(recordKey, seq)))
	}
	rec.Update, rec.Save = nil, nil
	return rec, err
}

func readRecord(seq uint64, data []byte) (rec model.Record, err error) {
	err = read(data, &rec)
	rec.Seq = seq
	return rec, err
}
