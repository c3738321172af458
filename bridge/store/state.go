package store

import (
	"bytes"
	"maps"
	"math"
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
	path    model.Path // "" if it lives nowhere
	moved   bool       // path counts, and not that of the checkpoint
	cut     uint64     // the checkpoint's records from this number on were taken back; 0 for the whole document
	records []model.Record
	mark    checkpoint.Mark
	places  map[uint64]*model.Save // of the checkpoint's records
}

// add takes over the next frame of the log.
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
		d := s.doc(e.ID)
		d.records = append(d.records, e.Records...)
		s.place(e.ID, e.Path)
	case frame.Abort:
		d := s.doc(e.ID)
		d.cut = min(d.cut, e.Seq)
		d.records = slices.DeleteFunc(d.records, func(r model.Record) bool { return r.Seq >= e.Seq })
		maps.DeleteFunc(d.places, func(seq uint64, _ *model.Save) bool { return seq >= e.Seq })
	case frame.Place:
		s.doc(e.ID).save(e.Seq, &e.Save)
	case frame.Mark:
		if d := s.doc(e.ID); e.Seq >= d.mark.Seq {
			d.mark = checkpoint.Mark{Seq: e.Seq, Sum: e.Sum}
		}
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
	case frame.Forget:
		s.leave(e.ID)
		s.docs[e.ID] = &tailDoc{moved: true}
	}
}

func (s *state) doc(id model.DocID) *tailDoc {
	d := s.docs[id]
	if d == nil {
		d = &tailDoc{cut: math.MaxUint64}
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

// save gives the record of that number a save.
func (d *tailDoc) save(seq uint64, save *model.Save) {
	for i := range d.records {
		if d.records[i].Seq == seq {
			d.records[i].Save = save
			return
		}
	}
	if d.places == nil {
		d.places = make(map[uint64]*model.Save)
	}
	d.places[seq] = save
}

// trim drops the frames up to lsn, which the checkpoint has.
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

// docAt is the document that lives at p, "" without one.
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

// isAt says whether a document still lives where the checkpoint has it.
func (s *state) isAt(id model.DocID, p model.Path) bool {
	if now, ok := s.paths[p]; ok {
		return now == id
	}
	d := s.docs[id]
	return d == nil || !d.moved || d.path == p
}

// below lists the documents at p and below it, in the order of their paths.
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
func (s *state) last(id model.DocID) (uint64, error) { return s.lastBefore(id, math.MaxUint64) }

// lastBefore is the number of the last record before number seq, 0 without any.
func (s *state) lastBefore(id model.DocID, seq uint64) (last uint64, err error) {
	d := s.tail(id)
	for _, rec := range slices.Backward(d.records) {
		if rec.Seq < seq {
			return rec.Seq, nil
		}
	}
	err = s.view(func(v checkpoint.View) error {
		last = v.Document(id).LastBefore(min(seq, s.tail(id).cut))
		return nil
	})
	return last, err
}

// tail is what the frames say about a document, which may be nothing.
func (s *state) tail(id model.DocID) tailDoc {
	if d := s.docs[id]; d != nil {
		return *d
	}
	return tailDoc{cut: math.MaxUint64}
}

// load returns what is kept of a document.
func (s *state) load(id model.DocID) (h model.History, err error) {
	err = s.view(func(v checkpoint.View) error {
		kept, d := v.Document(id), s.tail(id)
		if d.cut > 0 {
			if h.Records, err = kept.Records(); err != nil {
				return err
			}
			h.Records = slices.DeleteFunc(h.Records, func(r model.Record) bool { return r.Seq >= d.cut })
		}
		for i := range h.Records {
			if save := d.places[h.Records[i].Seq]; save != nil {
				h.Records[i].Save = save
			}
		}
		for _, rec := range d.records {
			rec.Update, rec.Unsent = bytes.Clone(rec.Update), false
			h.Records = append(h.Records, rec)
		}
		mark := d.mark
		if m := kept.Mark(); d.cut > 0 && m.Seq > mark.Seq {
			mark = m
		}
		h.Materialized, h.Sum = mark.Seq, mark.Sum
		return nil
	})
	return h, err
}
