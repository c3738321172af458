package bridgetest

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Store is an in-memory model.Store. The zero Store is empty.
type Store struct {
	mu    sync.Mutex // guards the fields below
	docs  map[model.DocID]*model.History
	paths map[model.Path]model.DocID

	journal   []model.JournalEntry // in the order of arrival; Path is not set
	proposals map[string]model.ProposalRecord
	sequence  *model.Sequence // nil before UseSequence
}

func (s *Store) UseSequence(q *model.Sequence) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.journal {
		q.Pass(e.Order)
	}
	for _, rec := range s.proposals {
		q.Pass(rec.Order)
	}
	s.sequence = q
	return nil
}

// addToJournal numbers e and adds it. Call it with s.mu locked.
func (s *Store) addToJournal(e model.JournalEntry) {
	if s.sequence != nil {
		e.Order = s.sequence.Next()
	}
	s.journal = append(s.journal, e)
}

func (s *Store) DocID(p model.Path) (model.DocID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.paths[p]; ok {
		return id, nil
	}
	return "", &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
}

func (s *Store) DocPath(id model.DocID) (model.Path, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, at := range s.paths {
		if at == id {
			return p, nil
		}
	}
	return "", nil
}

func (s *Store) DocsOf(file model.Stamp, sum model.ContentSum) (list []model.StoredDoc, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, id := range s.paths {
		doc := s.docs[id]
		switch {
		case doc == nil:
		case doc.IsOf(file):
			list = slices.Insert(list, 0, model.StoredDoc{ID: id, Path: p})
		case doc.Sum == sum:
			list = append(list, model.StoredDoc{ID: id, Path: p})
		}
	}
	return list, nil
}

func (s *Store) Located() (list []model.StoredDoc, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, id := range s.paths {
		doc, d := s.docs[id], model.StoredDoc{ID: id, Path: p}
		if doc != nil {
			d.File, d.Sum = doc.File, doc.Sum
			if n := len(doc.Records); n > 0 && doc.Records[n-1].Save != nil && lastOf(doc) > doc.FileSeq {
				d.Saved = doc.Records[n-1].Save.Post
			}
		}
		list = append(list, d)
	}
	return list, nil
}

func (s *Store) Relocate(list []model.StoredDoc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range list {
		maps.DeleteFunc(s.paths, func(_ model.Path, at model.DocID) bool { return at == d.ID })
	}
	for _, d := range list {
		s.paths[d.Path] = d.ID
	}
	return nil
}

func (s *Store) Load(id model.DocID) (model.History, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := s.docs[id]
	if doc == nil {
		return model.History{}, nil
	}
	h := *doc
	h.Records = slices.Clone(h.Records)
	for i := range h.Records {
		h.Records[i].Update = bytes.Clone(h.Records[i].Update)
	}
	return h, nil
}

func (s *Store) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	if id == "" || len(recs) == 0 {
		return 0, errors.New("append of nothing, or to a document without an id")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.docs == nil {
		s.docs, s.paths = make(map[model.DocID]*model.History), make(map[model.Path]model.DocID)
	}
	if s.docs[id] == nil {
		s.docs[id] = &model.History{}
	}
	maps.DeleteFunc(s.paths, func(_ model.Path, at model.DocID) bool { return at == id })
	s.paths[p] = id
	doc := s.docs[id]
	for _, rec := range recs {
		rec.Seq = lastOf(doc) + 1
		rec.Update = bytes.Clone(rec.Update)
		doc.Records = append(doc.Records, rec)
		if rec.Journalled() {
			s.addToJournal(model.JournalEntry{ID: id, Record: rec})
		}
	}
	return lastOf(doc), nil
}

func lastOf(doc *model.History) uint64 {
	if len(doc.Records) == 0 {
		return 0
	}
	return doc.Records[len(doc.Records)-1].Seq
}

// Compact merges the updates of each document whose file is current into one update. It keeps the first and the last
// record, and the records that survive a merge. Package store does the same in the background.
func (s *Store) Compact() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range s.docs {
		if doc.FileSeq < lastOf(doc) {
			continue
		}
		var updates [][]byte
		var kept []model.Record
		for i, rec := range doc.Records {
			updates = append(updates, rec.Update)
			if rec.Update, rec.Save = model.EmptyUpdate(), nil; i == 0 || i == len(doc.Records)-1 || rec.SurvivesCompaction() {
				kept = append(kept, rec)
			}
		}
		merged, err := ycrdt.MergeUpdates(updates...)
		if err != nil {
			return err
		}
		kept[0].Update, doc.Records = merged, kept
	}
	return nil
}

func (s *Store) RecordFileSeq(id model.DocID, seq uint64, sum model.ContentSum, file model.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if doc := s.docs[id]; doc != nil && seq >= doc.FileSeq {
		doc.FileSeq, doc.Sum, doc.File = seq, sum, file.File()
	}
}

func (s *Store) Rename(oldPath, newPath model.Path) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	moved := make(map[model.Path]model.DocID)
	for p, id := range s.paths {
		if oldPath.Contains(p) {
			delete(s.paths, p)
			moved[newPath+p[len(oldPath):]] = id
		}
	}
	for p, id := range moved {
		s.paths[p] = id
	}
	return nil
}

func (s *Store) End(p model.Path) error { return s.Rename(p, p.Ended()) }

func (s *Store) Forget(id model.DocID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.docs, id)
	maps.DeleteFunc(s.paths, func(_ model.Path, at model.DocID) bool { return at == id })
	s.journal = slices.DeleteFunc(s.journal, func(e model.JournalEntry) bool { return id != "" && e.ID == id })
	return nil
}

func (s *Store) Documents() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.docs)
}

func (s *Store) Journal(limit int) ([]model.JournalEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := slices.Clone(s.journal[max(0, len(s.journal)-limit):])
	slices.Reverse(entries)
	for i, e := range entries {
		for p, id := range s.paths {
			if id == e.ID && id != "" {
				entries[i].Path = p
			}
		}
	}
	return entries, nil
}

func (s *Store) Proposals() ([]model.ProposalRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.proposals), func(a, b model.ProposalRecord) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	}), nil
}

func (s *Store) SessionNote(session string) model.SessionNote {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.journal) {
		if e.SessionNote != nil && e.Session == session {
			return *e.SessionNote
		}
	}
	return model.SessionNote{}
}

func (s *Store) Propose(c model.ProposalChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proposals == nil {
		s.proposals = make(map[string]model.ProposalRecord)
	}
	for _, rec := range c.Upserted {
		s.proposals[rec.ID] = rec
	}
	for _, id := range c.Removed {
		delete(s.proposals, id)
	}
	for _, rec := range c.Journal {
		s.addToJournal(model.JournalEntry{Record: rec})
	}
	return nil
}

func (s *Store) Abort(id model.DocID, seq uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := s.docs[id]
	if doc == nil {
		return nil
	}
	doc.Records = slices.DeleteFunc(doc.Records, func(r model.Record) bool { return r.Seq >= seq })
	s.journal = slices.DeleteFunc(s.journal, func(e model.JournalEntry) bool { return e.ID == id && e.Seq >= seq })
	if len(doc.Records) == 0 {
		delete(s.docs, id)
		maps.DeleteFunc(s.paths, func(_ model.Path, at model.DocID) bool { return at == id })
	}
	return nil
}

func (s *Store) Unsettled() ([]model.Path, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []model.Path
	for p, id := range s.paths {
		if doc := s.docs[id]; doc != nil && doc.FileSeq < lastOf(doc) {
			list = append(list, p)
		}
	}
	return list, nil
}

func (s *Store) Sync() error { return nil }

func (s *Store) Revisions(model.DocID) (model.RevisionHistory, error) {
	return model.RevisionHistory{Update: model.EmptyUpdate()}, nil
}

func (s *Store) RecordSave(id model.DocID, seq uint64, save model.Save) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if doc := s.docs[id]; doc != nil {
		for i := range doc.Records {
			if doc.Records[i].Seq == seq {
				doc.Records[i].Save = &save
			}
		}
	}
	return nil
}
