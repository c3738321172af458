package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// View is the file at one moment. It is valid during File.View.
type View struct{ tx *bolt.Tx }

// Applied is the LSN of the last frame that is in the file.
func (v View) Applied() wal.LSN {
	return wal.LSN(seqOf(v.tx.Bucket([]byte(metaBucket)).Get([]byte(appliedKey))))
}

// DocAt is the document that lives at p, "" without one.
func (v View) DocAt(p model.Path) model.DocID {
	return model.DocID(v.tx.Bucket([]byte(pathsBucket)).Get([]byte(p)))
}

// Below calls fn with the documents at p and below it.
func (v View) Below(p model.Path, fn func(model.Path, model.DocID)) {
	if id := v.DocAt(p); id != "" {
		fn(p, id)
	}
	prefix := []byte(p + "/")
	c := v.tx.Bucket([]byte(pathsBucket)).Cursor()
	for k, id := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, id = c.Next() {
		fn(model.Path(k), model.DocID(id))
	}
}

// Document is what the file has of the document id, the zero Document if it has nothing.
func (v View) Document(id model.DocID) Document { return Document{document(v.tx, id)} }

// Documents lists the documents.
func (v View) Documents() (ids []model.DocID, err error) {
	err = v.tx.Bucket([]byte(docsBucket)).ForEachBucket(func(id []byte) error {
		ids = append(ids, model.DocID(id))
		return nil
	})
	return ids, err
}

// Unsettled are the paths of documents with records after their marks.
func (v View) Unsettled() (paths []model.Path, err error) {
	ids, err := v.Documents()
	for _, id := range ids {
		if d := v.Document(id); d.Path() != "" && d.LastBefore(math.MaxUint64) > d.Mark().Seq {
			paths = append(paths, d.Path())
		}
	}
	return paths, err
}

// Proposals are the pending proposals in the order in which they were made.
func (v View) Proposals() (list []model.ProposalRecord, err error) {
	err = v.tx.Bucket([]byte(proposalBucket)).ForEach(func(_, value []byte) error {
		var rec model.ProposalRecord
		if err := json.Unmarshal(value, &rec); err != nil {
			return Damaged(err)
		}
		list = append(list, rec)
		return nil
	})
	slices.SortFunc(list, func(a, b model.ProposalRecord) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	return list, err
}

// Unsent are the documents with records that a server has not acknowledged, each with the
// number of the last such record.
func (v View) Unsent() (map[model.DocID]uint64, error) {
	all := make(map[model.DocID]uint64)
	return all, v.tx.Bucket([]byte(unsentBucket)).ForEach(func(id, seq []byte) error {
		if len(seq) == 8 {
			all[model.DocID(id)] = seqOf(seq)
		}
		return nil
	})
}

// Document is a document in a View.
type Document struct{ bucket *bolt.Bucket }

// Path is where the document lives, "" if it lives nowhere.
func (d Document) Path() model.Path {
	if d.bucket == nil {
		return ""
	}
	return model.Path(d.bucket.Get([]byte(pathKey)))
}

// Records are the records of the document, oldest first. Where updates were merged, the
// first record has them all, and the others of those that remain have one that changes
// nothing.
func (d Document) Records() ([]model.Record, error) {
	if d.bucket == nil {
		return nil, nil
	}
	return readRecords(d.bucket)
}

// LastBefore is the number of the newest record before number seq, 0 without any.
func (d Document) LastBefore(seq uint64) uint64 {
	if d.bucket == nil {
		return 0
	}
	return lastBefore(d.bucket.Bucket([]byte(recordsBucket)), seq)
}

// Mark is the zero Mark if nothing is known of the source's file.
func (d Document) Mark() Mark {
	if d.bucket == nil {
		return Mark{}
	}
	return readMark(d.bucket)
}
