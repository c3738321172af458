package store

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// fileIndex finds documents by their files. The first use reads the file data of every document. Later frames of the
// log update the index. Callers must check the returned candidates against the document.
type fileIndex struct {
	byFile map[fileKey]model.DocID
	bySum  map[model.ContentSum][]model.DocID
}

// fileKey has the fields of a stamp that model.Stamp.IsFile compares.
type fileKey struct {
	inode uint64
	birth int64
}

func (x *fileIndex) put(id model.DocID, save *model.Save) {
	if save != nil && save.Post.Inode != 0 {
		x.byFile[fileKey{save.Post.Inode, save.Post.Birth}] = id
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
			x.put(e.ID, rec.Save)
		}
	case wal.PendingSave:
		x.put(e.ID, &e.Save)
	case wal.FileMark:
		x.holds(e.ID, e.Sum)
	}
}

func (s *Store) DocsOf(file model.Stamp, sum model.ContentSum) (list []model.StoredDoc, err error) {
	if err := s.indexFiles(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.Clone(s.files.bySum[sum])
	if id, ok := s.files.byFile[fileKey{file.Inode, file.Birth}]; ok {
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
	x, err := fromAll(s, "index files", func(v checkpoint.View) (*fileIndex, error) {
		x := &fileIndex{make(map[fileKey]model.DocID), make(map[model.ContentSum][]model.DocID)}
		return x, v.Files(func(id model.DocID, save *model.Save, sum model.ContentSum) {
			x.put(id, save)
			x.holds(id, sum)
		})
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
