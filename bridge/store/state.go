package store

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// tail has the frames after the checkpoint in memory, by document and path. It overlays the checkpoint. So appends and
// loads do not wait for a checkpoint, and results do not depend on when a checkpoint is written. After an append to the
// log, add is called with the new frame. trim drops the frames that the checkpoint has. Each view calls trim, because a
// checkpoint may have been committed before its frames were dropped. Queries that the maps cannot answer use the
// checkpoint, with the frames applied in a transaction that is rolled back.
type tail struct {
	checkpoint *checkpoint.File

	entries []*wal.Entry
	since   time.Time // time when the oldest frame was added
	size    int       // total bytes of the frames

	docs  map[model.DocID]*tailDoc
	paths map[model.Path]model.DocID // "" for a path that no document has any more

	sessions map[string]model.SessionNote // by session; includes the notes in the checkpoint
}

type tailDoc struct {
	path       model.Path // "" if the document has no path
	hasNewPath bool       // path replaces the path in the checkpoint
	deleted    bool       // the document was deleted, so ignore the checkpoint's data
	last       uint64     // number of the last record; 0 if the frames do not show it, or if no records are left
	frames     []*wal.Entry
}

func (s *tail) add(e *wal.Entry) {
	if s.docs == nil {
		s.docs, s.paths = make(map[model.DocID]*tailDoc), make(map[model.Path]model.DocID)
	}
	if len(s.entries) == 0 {
		s.since = time.Now()
	}
	s.entries = append(s.entries, e)
	s.size += e.Size
	switch e.Kind {
	case wal.Change:
		s.setPath(e.ID, e.Path)
		d := s.doc(e.ID)
		d.last, d.frames = e.Last(), append(d.frames, e)
	case wal.Abort:
		if e.Seq == 1 {
			s.clearPath(e.ID)
			s.docs[e.ID] = &tailDoc{hasNewPath: true, deleted: true}
			break
		}
		d := s.doc(e.ID)
		d.last, d.frames = e.Seq-1, append(d.frames, e)
	case wal.PendingSave, wal.FileMark:
		d := s.doc(e.ID)
		d.frames = append(d.frames, e)
	case wal.Move:
		for _, m := range e.Moves {
			s.setPath(m.ID, m.To)
		}
	case wal.Proposals:
		for _, rec := range e.Proposals.Journal {
			if rec.SessionNote != nil {
				s.sessions[rec.Session] = *rec.SessionNote
			}
		}
	}
}

func (s *tail) clone() *tail {
	c := *s
	c.docs, c.paths, c.sessions = make(map[model.DocID]*tailDoc), maps.Clone(s.paths), maps.Clone(s.sessions)
	for id, d := range s.docs {
		one := *d
		c.docs[id] = &one
	}
	return &c
}

func (s *tail) doc(id model.DocID) *tailDoc {
	d := s.docs[id]
	if d == nil {
		d = new(tailDoc)
		s.docs[id] = d
	}
	return d
}

// setPath gives a document a path, and takes the path from the document that had it.
func (s *tail) setPath(id model.DocID, p model.Path) {
	s.clearPath(id)
	if former := s.docs[s.paths[p]]; former != nil {
		former.path = ""
	}
	d := s.doc(id)
	d.path, d.hasNewPath, s.paths[p] = p, true, id
}

func (s *tail) clearPath(id model.DocID) {
	if d := s.doc(id); d.path != "" {
		s.paths[d.path] = ""
		d.path = ""
	}
}

func (s *tail) trim(lsn wal.LSN) {
	n := 0
	for n < len(s.entries) && s.entries[n].LSN <= lsn {
		n++
	}
	if n == 0 {
		return
	}
	rest := s.entries[n:]
	*s = tail{checkpoint: s.checkpoint, sessions: s.sessions}
	for _, e := range rest {
		s.add(e)
	}
}

// view calls fn with the checkpoint, without the frames in memory.
func (s *tail) view(fn func(checkpoint.View) error) error {
	return s.checkpoint.View(func(v checkpoint.View) error {
		s.trim(v.Applied())
		return fn(v)
	})
}

func (s *tail) docAt(p model.Path) (id model.DocID, err error) {
	if id, ok := s.paths[p]; ok {
		return id, nil
	}
	err = s.view(func(v checkpoint.View) error {
		if id = v.DocAt(p); !s.isAt(id, p) {
			id = ""
		}
		return nil
	})
	return id, err
}

func (s *tail) pathOf(id model.DocID) (p model.Path, err error) {
	err = s.view(func(v checkpoint.View) error {
		p = s.pathIn(v, id)
		return nil
	})
	return p, err
}

func (s *tail) pathIn(v checkpoint.View, id model.DocID) model.Path {
	if d := s.docs[id]; d != nil && d.hasNewPath {
		return d.path
	}
	if p := v.Document(id).Path(); s.isAt(id, p) {
		return p
	}
	return ""
}

func (s *tail) isAt(id model.DocID, p model.Path) bool {
	if now, ok := s.paths[p]; ok {
		return now == id
	}
	d := s.docs[id]
	return d == nil || !d.hasNewPath || d.path == p
}

func (s *tail) below(p model.Path) (list []wal.DocMove, err error) {
	err = s.view(func(v checkpoint.View) error {
		v.Below(p, func(at model.Path, id model.DocID) {
			if _, ok := s.paths[at]; !ok && s.isAt(id, at) {
				list = append(list, wal.DocMove{ID: id, To: at})
			}
		})
		return nil
	})
	for at, id := range s.paths {
		if id != "" && (at == p || strings.HasPrefix(string(at), string(p)+"/")) {
			list = append(list, wal.DocMove{ID: id, To: at})
		}
	}
	slices.SortFunc(list, func(a, b wal.DocMove) int { return strings.Compare(string(a.To), string(b.To)) })
	return list, err
}

func (s *tail) last(id model.DocID) (last uint64, err error) {
	if d := s.docs[id]; d != nil && (d.last > 0 || d.deleted) {
		return d.last, nil
	}
	err = s.view(func(v checkpoint.View) error {
		last = v.Document(id).Last()
		return nil
	})
	return last, err
}

// journal implements Store.Journal.
func (s *tail) journal(limit int) (list []model.JournalEntry, err error) {
	err = s.view(func(v checkpoint.View) error {
		aborted := make(map[model.DocID]uint64) // first record of each document that a later frame aborts
		for _, e := range slices.Backward(s.entries) {
			first, ok := aborted[e.ID]
			if e.Kind == wal.Abort && (!ok || e.Seq < first) {
				aborted[e.ID] = e.Seq
			}
			for _, rec := range slices.Backward(slices.Concat(e.Records, e.Proposals.Journal)) {
				if e.Kind == wal.Proposals || rec.Journalled() && (!ok || rec.Seq < first) {
					rec.Update, rec.Save = nil, nil
					list = append(list, model.JournalEntry{ID: e.ID, Record: rec})
				}
			}
			if len(list) >= limit {
				break
			}
		}
		list = list[:min(limit, len(list))]
		older, err := v.Journal(limit-len(list), aborted)
		list = append(list, older...)
		for i := range list {
			list[i].Path = s.pathIn(v, list[i].ID)
		}
		return err
	})
	return list, err
}

func (s *tail) load(id model.DocID) (h model.History, err error) {
	err = s.view(func(v checkpoint.View) error {
		var d tailDoc
		if tail := s.docs[id]; tail != nil { // read it here, because view may have trimmed it
			d = *tail
		}
		if !d.deleted {
			kept := v.Document(id)
			if h.Records, err = kept.Records(); err != nil {
				return err
			}
			mark := kept.FileMark()
			h.FileSeq, h.Sum, h.File = mark.Seq, mark.Sum, mark.File
		}
		for _, e := range d.frames {
			apply(&h, e)
		}
		return nil
	})
	return h, err
}

func apply(h *model.History, e *wal.Entry) {
	switch e.Kind {
	case wal.Change:
		for _, rec := range e.Records {
			rec.Update, rec.Unsent = bytes.Clone(rec.Update), false
			h.Records = append(h.Records, rec)
		}
	case wal.Abort:
		h.Records = slices.DeleteFunc(h.Records, func(r model.Record) bool { return r.Seq >= e.Seq })
	case wal.PendingSave:
		for i := range h.Records {
			if h.Records[i].Seq == e.Seq {
				h.Records[i].Save = &e.Save
			}
		}
	case wal.FileMark:
		if e.Seq >= h.FileSeq {
			h.FileSeq, h.Sum, h.File = e.Seq, e.Sum, e.File
		}
	}
}
