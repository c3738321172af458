package store

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/wal"
)

// tail is the part of the log that the checkpoint does not have: its entries, and what
// they say about documents, in memory.
type tail struct {
	mu      sync.Mutex // protects the following
	entries []*entry
	since   time.Time // when the oldest of them was added
	size    int       // bytes of their records
	docs    map[model.DocID]*tailDoc
	paths   map[model.Path]model.DocID
}

// tailDoc is what the tail knows of a document.
type tailDoc struct {
	path    model.Path     // "" without records
	records []model.Record // ascending
	mark    mark
	places  map[uint64]*model.Save // by the number of the record
}

// add takes over an entry. mu is held.
func (t *tail) add(e *entry) {
	if t.docs == nil {
		t.docs, t.paths = make(map[model.DocID]*tailDoc), make(map[model.Path]model.DocID)
	}
	if len(t.entries) == 0 {
		t.since = time.Now()
	}
	t.entries = append(t.entries, e)
	for _, v := range e.values {
		t.size += len(v)
	}
	switch e.kind {
	case kindChange:
		d := t.doc(e.id)
		if t.paths[d.path] == e.id {
			delete(t.paths, d.path)
		}
		d.path = e.path
		t.paths[e.path] = e.id
		d.records = append(d.records, e.records...)
	case kindAbort:
		d := t.doc(e.id)
		d.records = slices.DeleteFunc(d.records, func(r model.Record) bool { return r.Seq >= e.seq })
		if len(d.records) == 0 && t.paths[d.path] == e.id {
			delete(t.paths, d.path)
			d.path = ""
		}
	case kindPlace:
		d := t.doc(e.id)
		if d.places == nil {
			d.places = make(map[uint64]*model.Save)
		}
		d.places[e.seq] = &e.save
	case kindMark:
		if d := t.doc(e.id); e.seq >= d.mark.seq {
			d.mark = mark{e.seq, e.sum}
		}
	}
}

func (t *tail) doc(id model.DocID) *tailDoc {
	d := t.docs[id]
	if d == nil {
		d = new(tailDoc)
		t.docs[id] = d
	}
	return d
}

// forget drops the entries up to lsn, which the checkpoint has. mu is held.
func (t *tail) forget(lsn wal.LSN) {
	n := 0
	for n < len(t.entries) && t.entries[n].lsn <= lsn {
		n++
	}
	rest := slices.Clone(t.entries[n:])
	t.entries, t.docs, t.paths, t.size = nil, nil, nil, 0
	for _, e := range rest {
		t.add(e)
	}
}

// has says whether the tail has an entry of one of the kinds. mu is held.
func (t *tail) has(kinds ...kind) bool {
	return slices.ContainsFunc(t.entries, func(e *entry) bool { return slices.Contains(kinds, e.kind) })
}

// at is the document at p, as far as the tail decides: known is not set if the checkpoint
// does. mu is held.
func (t *tail) at(p model.Path) (id model.DocID, known bool) {
	id, known = t.paths[p]
	return id, known
}

// moved says that the tail has a document elsewhere than at p. mu is held.
func (t *tail) moved(id model.DocID, p model.Path) bool {
	d := t.docs[id]
	return d != nil && d.path != "" && d.path != p
}

// newest is where the document lives, its last record, and up to which its file is known to
// hold it, if the checkpoint has the given ones.
func (d *tailDoc) newest(p model.Path, last, settled uint64) (model.Path, uint64, uint64) {
	if len(d.records) > 0 {
		p, last = d.path, d.records[len(d.records)-1].Seq
	}
	return p, last, max(settled, d.mark.seq)
}

// place gives records the saves that came after them.
func (d *tailDoc) place(records []model.Record) {
	for i := range records {
		if save := d.places[records[i].Seq]; save != nil {
			records[i].Save = save
		}
	}
}

// after are the records of a document after number seq. mu is held.
func (d *tailDoc) after(seq uint64) []model.Record {
	var out []model.Record
	for _, rec := range d.records {
		if rec.Seq > seq {
			rec.Update, rec.Unsent = bytes.Clone(rec.Update), false
			out = append(out, rec)
		}
	}
	return out
}
