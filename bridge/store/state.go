package store

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// state is the overlay: what the log says, which is the checkpoint with the frames after it. The frames are in memory,
// in maps by document and path, so no append and no load waits for a checkpoint that is being written, and when one is
// written changes no answer. add takes a frame over when it is in the log. trim drops the frames that the checkpoint
// has by then; it is called in each view, since a checkpoint may have been committed and its frames not dropped yet.
// What is not in the maps is asked of the checkpoint, with the frames applied to a transaction that is not kept.
type state struct {
	checkpoint *checkpoint.File

	entries []*frame.Entry
	since   time.Time // when the oldest of them was added
	size    int       // bytes of all

	docs  map[model.DocID]*tailDoc
	paths map[model.Path]model.DocID // "" where no document lives any more

	sessions map[string]model.SessionNote // with those of the checkpoint
}

// tailDoc is what the frames say about a document.
type tailDoc struct {
	path   model.Path // "" if it lives nowhere
	moved  bool       // path counts, and not that of the checkpoint
	gone   bool       // so does nothing else that the checkpoint has: it was forgotten
	last   uint64     // the number of the last record; 0 if the frames alone do not tell, or it is gone
	frames []*frame.Entry
}

func (s *state) add(e *frame.Entry) {
	if s.docs == nil {
		s.docs, s.paths = make(map[model.DocID]*tailDoc), make(map[model.Path]model.DocID)
	}
	if len(s.entries) == 0 {
		s.since = time.Now()
	}
	s.entries = append(s.entries, e)
	s.size += e.Size
	switch e.Kind {
	case frame.Change:
		s.place(e.ID, e.Path)
		d := s.doc(e.ID)
		d.last, d.frames = e.Last(), append(d.frames, e)
	case frame.Abort:
		if e.Seq == 1 {
			s.leave(e.ID)
			s.docs[e.ID] = &tailDoc{moved: true, gone: true}
			break
		}
		d := s.doc(e.ID)
		d.last, d.frames = e.Seq-1, append(d.frames, e)
	case frame.Place, frame.Mark:
		d := s.doc(e.ID)
		d.frames = append(d.frames, e)
	case frame.Move:
		for _, m := range e.Moves {
			s.place(m.ID, m.To)
		}
	case frame.Proposals:
		for _, rec := range e.Proposals.Journal {
			if rec.SessionNote != nil {
				s.sessions[rec.Session] = *rec.SessionNote
			}
		}
	}
}

func (s *state) doc(id model.DocID) *tailDoc {
	d := s.docs[id]
	if d == nil {
		d = new(tailDoc)
		s.docs[id] = d
	}
	return d
}

// place gives a document a path. One that lived there has none from now on.
func (s *state) place(id model.DocID, p model.Path) {
	s.leave(id)
	if former := s.docs[s.paths[p]]; former != nil {
		former.path = ""
	}
	d := s.doc(id)
	d.path, d.moved, s.paths[p] = p, true, id
}

// leave takes a document away from the path that a frame gave it.
func (s *state) leave(id model.DocID) {
	if d := s.doc(id); d.path != "" {
		s.paths[d.path] = ""
		d.path = ""
	}
}

func (s *state) trim(lsn wal.LSN) {
	n := 0
	for n < len(s.entries) && s.entries[n].LSN <= lsn {
		n++
	}
	if n == 0 {
		return
	}
	rest := s.entries[n:]
	*s = state{checkpoint: s.checkpoint, sessions: s.sessions}
	for _, e := range rest {
		s.add(e)
	}
}

// view calls fn with the checkpoint that the frames in memory continue.
func (s *state) view(fn func(checkpoint.View) error) error {
	return s.checkpoint.View(func(v checkpoint.View) error {
		s.trim(v.Applied())
		return fn(v)
	})
}

func (s *state) docAt(p model.Path) (id model.DocID, err error) {
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

func (s *state) pathOf(id model.DocID) (p model.Path, err error) {
	if d := s.docs[id]; d != nil && d.moved {
		return d.path, nil
	}
	err = s.view(func(v checkpoint.View) error {
		if at := v.Document(id).Path(); s.isAt(id, at) {
			p = at
		}
		return nil
	})
	return p, err
}

// isAt says whether a document still lives where the checkpoint has it.
func (s *state) isAt(id model.DocID, p model.Path) bool {
	if now, ok := s.paths[p]; ok {
		return now == id
	}
	d := s.docs[id]
	return d == nil || !d.moved || d.path == p
}

func (s *state) below(p model.Path) (list []frame.Moved, err error) {
	err = s.view(func(v checkpoint.View) error {
		v.Below(p, func(at model.Path, id model.DocID) {
			if _, ok := s.paths[at]; !ok && s.isAt(id, at) {
				list = append(list, frame.Moved{ID: id, To: at})
			}
		})
		return nil
	})
	for at, id := range s.paths {
		if id != "" && (at == p || strings.HasPrefix(string(at), string(p)+"/")) {
			list = append(list, frame.Moved{ID: id, To: at})
		}
	}
	slices.SortFunc(list, func(a, b frame.Moved) int { return strings.Compare(string(a.To), string(b.To)) })
	return list, err
}

// last is the number of the document's last record, 0 if there is no such document.
func (s *state) last(id model.DocID) (last uint64, err error) {
	if d := s.docs[id]; d != nil && (d.last > 0 || d.gone) {
		return d.last, nil
	}
	err = s.view(func(v checkpoint.View) error {
		last = v.Document(id).Last()
		return nil
	})
	return last, err
}

func (s *state) load(id model.DocID) (h model.History, err error) {
	err = s.view(func(v checkpoint.View) error {
		var d tailDoc
		if tail := s.docs[id]; tail != nil { // view may have trimmed it
			d = *tail
		}
		if !d.gone {
			kept := v.Document(id)
			if h.Records, err = kept.Records(); err != nil {
				return err
			}
			h.Materialized, h.Sum = kept.Mark().Seq, kept.Mark().Sum
		}
		for _, e := range d.frames {
			apply(&h, e)
		}
		return nil
	})
	return h, err
}

func apply(h *model.History, e *frame.Entry) {
	switch e.Kind {
	case frame.Change:
		for _, rec := range e.Records {
			rec.Update, rec.Unsent = bytes.Clone(rec.Update), false
			h.Records = append(h.Records, rec)
		}
	case frame.Abort:
		h.Records = slices.DeleteFunc(h.Records, func(r model.Record) bool { return r.Seq >= e.Seq })
	case frame.Place:
		for i := range h.Records {
			if h.Records[i].Seq == e.Seq {
				h.Records[i].Save = &e.Save
			}
		}
	case frame.Mark:
		if e.Seq >= h.Materialized {
			h.Materialized, h.Sum = e.Seq, e.Sum
		}
	}
}
