package store

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// fileIndex finds documents by the stamp or the checksum of their file. The first use reads the stamps and checksums of
// all documents. Later frames of the log update the index. Callers must check the returned candidates against the
// document.
type fileIndex struct {
	byFile map[model.Stamp]model.DocID // by Stamp.File
	bySum  map[model.ContentSum][]model.DocID
}

func (x *fileIndex) put(id model.DocID, file model.Stamp) {
	if file.Inode != 0 {
		x.byFile[file.File()] = id
	}
}

func (x *fileIndex) holds(id model.DocID, sum model.ContentSum) {
	if !slices.Contains(x.bySum[sum], id) {
		x.bySum[sum] = append(x.bySum[sum], id)
	}
}

func (x *fileIndex) add(e *wal.Entry) {
	switch e.Kind {
	case wal.Change:
		for _, rec := range e.Records {
			if rec.Save != nil {
				x.put(e.ID, rec.Save.Post)
			}
		}
	case wal.PendingSave:
		x.put(e.ID, e.Save.Post)
	case wal.FileMark:
		x.put(e.ID, e.File)
		x.holds(e.ID, e.Sum)
	}
}

func (s *Store) DocsOf(file model.Stamp, raw string) (list []model.StoredDoc, err error) {
	if err := s.indexFiles(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []model.DocID
	if len(s.files.bySum) > 0 && strings.TrimSpace(raw) != "" {
		ids = slices.Clone(s.files.bySum[model.SumOf(raw)])
	}
	if id, ok := s.files.byFile[file.File()]; ok {
		ids = slices.Insert(slices.DeleteFunc(ids, func(other model.DocID) bool { return other == id }), 0, id)
	}
	for _, id := range ids {
		p, err := s.tail.pathOf(id)
		if err != nil {
			return nil, s.wrapErr("look up document", err)
		}
		list = append(list, model.StoredDoc{ID: id, Path: p})
	}
	return list, nil
}

func (s *Store) indexFiles() error {
	s.mu.Lock()
	x := s.files
	s.mu.Unlock()
	if x != nil {
		return nil
	}
	x = &fileIndex{make(map[model.Stamp]model.DocID), make(map[model.ContentSum][]model.DocID)}
	err := s.Located(func(d model.StoredDoc) {
		x.put(d.ID, d.File)
		x.put(d.ID, d.Saved)
		x.holds(d.ID, d.Sum)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.tail.entries { // some frames are newer than the view
		x.add(e)
	}
	s.files = x
	return nil
}
