package checkpoint

import (
	"bytes"
	"cmp"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// View is a consistent state of the file. It is valid only during File.View or File.ViewWith.
type View struct{ tx *bolt.Tx }

func (v View) Applied() wal.LSN {
	return wal.LSN(seqOf(bucket(v.tx, metaBucket).Get([]byte(appliedKey))))
}

func (v View) DocAt(p model.Path) model.DocID {
	return model.DocID(bucket(v.tx, pathsBucket).Get([]byte(p)))
}

func (v View) Below(p model.Path, fn func(model.Path, model.DocID)) {
	if id := v.DocAt(p); id != "" {
		fn(p, id)
	}
	prefix := []byte(p + "/")
	c := bucket(v.tx, pathsBucket).Cursor()
	for k, id := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, id = c.Next() {
		fn(model.Path(k), model.DocID(id))
	}
}

func (v View) Paths() int { return bucket(v.tx, pathsBucket).Inspect().KeyN }

func (v View) Located(fn func(model.StoredDoc)) error {
	saved := make(map[model.DocID]model.Stamp)
	err := bucket(v.tx, unsettledBucket).ForEach(func(id, _ []byte) error {
		doc := v.Document(model.DocID(id))
		last := doc.Last()
		rec, err := readRecord(last, doc.b.Get(numbered(recordKey, last)))
		if rec.Save != nil {
			saved[doc.id] = rec.Save.Post
		}
		return err
	})
	if err != nil {
		return err
	}
	return bucket(v.tx, pathsBucket).ForEach(func(p, key []byte) error {
		id := model.DocID(key)
		mark := fileMark(v.tx, id)
		fn(model.StoredDoc{ID: id, Path: model.Path(p), File: mark.File, Sum: mark.Sum, Saved: saved[id]})
		return nil
	})
}

func (v View) Document(id model.DocID) Document { return document(v.tx, id) }

func (v View) Documents() (ids []model.DocID, err error) {
	err = bucket(v.tx, docsBucket).ForEachBucket(func(id []byte) error {
		ids = append(ids, model.DocID(id))
		return nil
	})
	return ids, err
}

func (v View) Unsettled() (paths []model.Path, err error) {
	err = bucket(v.tx, unsettledBucket).ForEach(func(id, _ []byte) error {
		if p := v.Document(model.DocID(id)).Path(); p != "" {
			paths = append(paths, p)
		}
		return nil
	})
	return paths, err
}

func (v View) Proposals() (list []model.ProposalRecord, err error) {
	err = bucket(v.tx, proposalBucket).ForEach(func(_, value []byte) error {
		var rec model.ProposalRecord
		err := read(value, &rec)
		list = append(list, rec)
		return err
	})
	slices.SortFunc(list, func(a, b model.ProposalRecord) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	})
	return list, err
}

func (v View) Unsent() (map[model.DocID]uint64, error) {
	all := make(map[model.DocID]uint64)
	return all, bucket(v.tx, unsentBucket).ForEach(func(id, seq []byte) error {
		all[model.DocID(id)] = seqOf(seq)
		return nil
	})
}

func (v View) SessionNotes() (map[string]model.SessionNote, error) {
	notes := make(map[string]model.SessionNote)
	return notes, bucket(v.tx, sessionsBucket).ForEach(func(session, value []byte) error {
		var n model.SessionNote
		err := read(value, &n)
		notes[string(session)] = n
		return err
	})
}
