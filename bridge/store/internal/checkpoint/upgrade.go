package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io/fs"
	"math"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
)

// Before version 3 records that were not in the file yet lay in store.db.wal.old and
// store.db.wal, one JSON object per frame, and writes that were about to be made in
// store.db.intents. The upgrade takes the records over. An intent without a record
// belongs to a write that was interrupted: whether the note has its text or not, its author
// is lost.

// oldFiles are what older versions kept beside the file of that name, oldest first.
func oldFiles(name string) []string {
	return []string{name + ".wal.old", name + ".wal", name + ".intents"}
}

// removeOldFiles is for when the file has what was in them.
func removeOldFiles(dir disk.Dir, name string) error {
	for _, old := range oldFiles(name) {
		if err := dir.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// upgrade brings the layout up to that of this version.
func upgrade(tx *bolt.Tx, dir disk.Dir, name string) error {
	for _, bucket := range []string{proposalBucket, decidedBucket} { // since version 2
		if _, err := tx.CreateBucketIfNotExists([]byte(bucket)); err != nil {
			return err
		}
	}
	for _, old := range oldFiles(name)[:2] { // until version 2
		data, _, _, err := dir.ReadFile(old)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := adoptLog(tx, data); err != nil {
			return err
		}
	}
	return nil
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
			return Damaged(err)
		}
		if err := adoptEntry(tx, &e); err != nil {
			return err
		}
		data = data[header+n:]
	}
	return nil
}

func adoptEntry(tx *bolt.Tx, old *oldEntry) error {
	e := &frame.Entry{Kind: frame.Change, ID: old.ID, Path: old.Path, Seq: old.Seq, Values: old.Records}
	if (View{tx}).Document(old.ID).LastBefore(math.MaxUint64) >= e.Last() {
		return nil
	}
	for i, v := range old.Records {
		rec, err := decodeRecord(seqKey(old.Seq+uint64(i)), v)
		if err != nil {
			return err
		}
		e.Records = append(e.Records, rec)
	}
	return applyChange(tx, e)
}
