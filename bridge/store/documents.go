package store

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

func (s *Store) DocID(p model.Path) (model.DocID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := s.tail.docAt(p)
	if err == nil && id == "" {
		err = &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return id, s.wrapErr("look up document", err)
}

func (s *Store) DocPath(id model.DocID) (model.Path, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.tail.pathOf(id)
	return p, s.wrapErr("look up document", err)
}

func (s *Store) Load(id model.DocID) (model.History, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.tail.load(id)
	return h, s.wrapErr("load document", err)
}

func (s *Store) Append(id model.DocID, p model.Path, recs ...model.Record) (seq uint64, err error) {
	if id == "" || len(recs) == 0 {
		return 0, s.wrapErr("append", errors.New("no records, or a document without an ID"))
	}
	e := &wal.Entry{Kind: wal.Change, ID: id, Path: p, Records: slices.Clone(recs)}
	only := false // the store has the only copy of a record
	for i := range e.Records {
		rec := &e.Records[i]
		rec.Update, rec.Time = bytes.Clone(rec.Update), rec.Time.Round(0) // do not keep the caller's memory
		only = only || rec.Journalled() || rec.Unsent
	}
	err = s.add(e, only, func(st *tail) error {
		last, err := st.last(id)
		e.Seq = last + 1
		e.Number()
		for i := range e.Records {
			if e.Records[i].Journalled() {
				s.number(&e.Records[i])
			}
		}
		return err
	})
	return e.Last(), s.wrapErr("append", err)
}

func (s *Store) Abort(id model.DocID, seq uint64) error {
	e := &wal.Entry{Kind: wal.Abort, ID: id, Seq: max(seq, 1)}
	return s.wrapErr("abort", s.add(e, true, func(st *tail) error {
		last, err := st.last(id)
		if err == nil && last < e.Seq {
			return errNothing
		}
		return err
	}))
}

func (s *Store) Rename(oldPath, newPath model.Path) error {
	if oldPath == newPath {
		return nil
	}
	return s.wrapErr("rename", s.move(oldPath, newPath, true))
}

func (s *Store) End(p model.Path) error { return s.wrapErr("end", s.move(p, p.Ended(), false)) }

func (s *Store) move(oldPath, newPath model.Path, synced bool) error {
	e := &wal.Entry{Kind: wal.Move, Time: time.Now().UTC().Truncate(time.Millisecond)}
	return s.add(e, synced, func(st *tail) (err error) {
		if e.Moves, err = st.below(oldPath); err == nil && len(e.Moves) == 0 {
			return errNothing
		}
		for i := range e.Moves {
			to := &e.Moves[i].To
			*to = newPath + (*to)[len(oldPath):]
		}
		return err
	})
}

func (s *Store) Relocate(list []model.StoredDoc) error {
	e := &wal.Entry{Kind: wal.Move, Time: time.Now().UTC().Truncate(time.Millisecond)}
	for _, d := range list {
		e.Moves = append(e.Moves, wal.DocMove{ID: d.ID, To: d.Path})
	}
	return s.wrapErr("rename", s.add(e, true, nil))
}

func (s *Store) RecordSave(id model.DocID, seq uint64, save model.Save) error {
	return s.wrapErr("place", s.add(&wal.Entry{Kind: wal.PendingSave, ID: id, Seq: seq, Save: save}, false, mustExist(id)))
}

func (s *Store) RecordFileSeq(id model.DocID, seq uint64, sum model.ContentSum, file model.Stamp) {
	if err := s.add(&wal.Entry{Kind: wal.FileMark, ID: id, Seq: seq, Sum: sum, File: file.File()}, false, mustExist(id)); err != nil {
		// The next open will compare the file with the document again.
		s.log.Debug("cannot record which text the file holds", model.LogDoc, string(id), model.LogErr, err)
	}
}

// mustExist returns a function that makes add return errNothing if the document does not exist.
func mustExist(id model.DocID) func(*tail) error {
	return func(st *tail) error {
		last, err := st.last(id)
		if err == nil && last == 0 {
			return errNothing
		}
		return err
	}
}
