package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// Before version 3 records that were not in the file yet lay in store.db.wal.old and
// store.db.wal, one JSON object per frame, and writes that were about to be made in
// store.db.intents. The upgrade takes the records over. An intent that had no record yet
// was that of a write which was interrupted: its text is in the note or it is not, and
// whose it was is not known any more.

// oldFiles are what older versions kept beside the file, oldest first.
func (s *Store) oldFiles() []string {
	return []string{s.path + ".wal.old", s.path + ".wal", s.path + ".intents"}
}

// removeOldFiles is for when the file has what was in them.
func (s *Store) removeOldFiles() error {
	for _, name := range s.oldFiles() {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// upgrade brings a file of an older version up to this one.
func (s *Store) upgrade(tx *bolt.Tx) error {
	for _, name := range []string{proposalBucket, decidedBucket} { // version 2
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	for _, name := range s.oldFiles()[:2] { // version 3
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := adoptLog(tx, data); err != nil {
			return err
		}
	}
	return putVersion(tx)
}

// oldEntry is the records from number Seq on of a document.
type oldEntry struct {
	ID      model.DocID `json:"id"`
	Path    model.Path  `json:"path"`
	Seq     uint64      `json:"seq"`
	Records [][]byte    `json:"records"`
}

// adoptLog puts the records of a log of version 2 in the file, those that are not there
// yet. The log ends where a crash fell into its last frame: length and CRC-32C of the
// JSON, 4 bytes each, little endian, before it.
func adoptLog(tx *bolt.Tx, data []byte) error {
	const header = 8
	for len(data) >= header {
		n := int(binary.LittleEndian.Uint32(data))
		if n > len(data)-header {
			return nil
		}
		body := data[header : header+n]
		if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(data[4:]) {
			return nil
		}
		var e oldEntry
		if err := json.Unmarshal(body, &e); err != nil {
			return damaged(err)
		}
		if err := adoptEntry(tx, &e); err != nil {
			return err
		}
		data = data[header+n:]
	}
	return nil
}

func adoptEntry(tx *bolt.Tx, old *oldEntry) error {
	if doc := document(tx, old.ID); doc != nil {
		have := lastSeq(doc.Bucket([]byte(recordsBucket)))
		if have >= old.Seq+uint64(len(old.Records))-1 {
			return nil
		}
	}
	e := &entry{kind: kindChange, id: old.ID, path: old.Path, seq: old.Seq, values: old.Records}
	for i, v := range old.Records {
		rec, err := decodeRecord(seqKey(old.Seq+uint64(i)), v)
		if err != nil {
			return damaged(err)
		}
		e.records = append(e.records, rec)
	}
	return applyChange(tx, e)
}
