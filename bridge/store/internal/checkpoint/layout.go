package checkpoint

import (
	"encoding/binary"
	"fmt"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// version is the layout that this package reads and writes. Every change of the layout, or of the log's frames, must
// increase it.
const version = "11"

const ( // see the layout in doc.go
	metaBucket      = "meta"
	pathsBucket     = "paths"
	docsBucket      = "docs"
	filesBucket     = "files"
	unsettledBucket = "unsettled"
	unsentBucket    = "unsent"
	journalBucket   = "journal"
	sessionsBucket  = "sessions"
	proposalBucket  = "proposals"
)

const (
	versionKey = "version"
	appliedKey = "applied"
)

func layOut(tx *bolt.Tx) error {
	for _, name := range []string{metaBucket, pathsBucket, docsBucket, filesBucket, unsettledBucket, unsentBucket, journalBucket, sessionsBucket, proposalBucket} {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	return bucket(tx, metaBucket).Put([]byte(versionKey), []byte(version))
}

func checkVersion(tx *bolt.Tx) error {
	meta := bucket(tx, metaBucket)
	if meta == nil {
		return Damaged("it has no version")
	}
	text := string(meta.Get([]byte(versionKey)))
	if _, err := strconv.Atoi(text); err != nil {
		return Damaged("it has no version")
	}
	if text != version {
		return fmt.Errorf("%w (its format is %s, and this version uses %s): use the version that wrote it, or move the store's folder away to begin without authors, undo and pending proposals",
			model.ErrUnknownStore, text, version)
	}
	return nil
}

func bucket(tx *bolt.Tx, name string) *bolt.Bucket { return tx.Bucket([]byte(name)) }

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// seqOf decodes the result of seqKey. It returns 0 for any other key.
func seqOf(key []byte) uint64 {
	if len(key) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

func put(b *bolt.Bucket, key []byte, v any) error {
	data, err := wal.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, data)
}

// read decodes data, which put has stored, into v. It does not change v if data is nil.
func read(data []byte, v any) error {
	if data == nil {
		return nil
	}
	if err := wal.Unmarshal(data, v); err != nil {
		return Damaged(err)
	}
	return nil
}
