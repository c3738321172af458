package checkpoint

import (
	"math"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// The updates of a document, merged, still hold every text that was ever in it; what a merge
// loses is which of it was there when. That is what a moment has: of each record that is
// merged its author and time, and instead of the update the snapshot of it, which is some
// bytes. Moments of one author in one minute become one.

const (
	// mostMoments is how many moments of a document are kept. When there are that many, the oldest
	// tenth goes.
	mostMoments = 10_000
	// mostMoves is how many moves of a document are kept.
	mostMoves = 1000
	// expireAt is how long the oldest moment may be too old before moments are taken out, which
	// writes all that is known of the oldest state again.
	expireAt = 24 * time.Hour
)

// keepMoments keeps what is known of records that are being merged: those after the base.
func (d Document) keepMoments(records []model.Record, base uint64) error {
	var last *model.Moment
	if err := d.eachMoment(d.before(momentKey, math.MaxUint64), func(m *model.Moment) bool {
		last = m
		return true
	}); err != nil {
		return err
	}
	for _, rec := range records {
		if rec.Seq <= base {
			continue
		}
		m, err := momentOf(rec)
		if err != nil {
			return err
		}
		if last != nil && join(last, &m) {
			if err := d.b.Delete(numbered(momentKey, last.Seq)); err != nil {
				return err
			}
		}
		if err := d.putMoment(m); err != nil {
			return err
		}
		last = &m
	}
	return nil
}

// momentOf is what is kept of a record. What it was about stays with the record itself.
func momentOf(rec model.Record) (model.Moment, error) {
	did, err := ycrdt.SnapshotOf(rec.Update)
	if err != nil {
		return model.Moment{}, Damaged(err)
	}
	return model.Moment{Did: did, Record: model.Record{
		Seq: rec.Seq, Author: rec.Author, Session: rec.Session, Time: rec.Time,
		Created: rec.Created, Found: rec.Found, Proposal: rec.Proposal, Batch: rec.Batch,
		// Whether it is journalled counts, and the rest is in the record.
		Decision: presence(rec.Decision), FrontMatter: presence(rec.FrontMatter),
	}}, nil
}

// presence is an empty value if there is one.
func presence[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(T)
}

// join lets next stand for m, too, if both are plain changes of one author in one minute.
func join(m, next *model.Moment) bool {
	plain := func(m *model.Moment) bool {
		first := m.Seq == 1 && m.Author == "" // the text that was there
		return !m.Journalled() && !m.Created && !m.Found && !first
	}
	minute := func(m *model.Moment) time.Time { return m.Time.Truncate(time.Minute) }
	if !plain(m) || !plain(next) || m.Author != next.Author || m.Session != next.Session ||
		m.Proposal != next.Proposal || !minute(m).Equal(minute(next)) {
		return false
	}
	next.Did = ycrdt.JoinSnapshots(m.Did, next.Did)
	return true
}

// expire takes out what is older than a time, and the oldest moments if there are too many.
func (d Document) expire(oldest time.Time) error {
	first, many := time.Time{}, d.count(momentKey)-mostMoments
	if err := d.eachMoment(0, func(m *model.Moment) bool {
		first = m.Time
		return false
	}); err != nil {
		return err
	}
	if many > 0 {
		many = max(many, mostMoments/10)
	} else if first.IsZero() || !first.Before(oldest.Add(-expireAt)) {
		return nil
	}
	begin, err := d.begin()
	if err != nil {
		return err
	}
	did := []*ycrdt.Snapshot{begin.Did}
	var gone [][]byte
	if err := d.eachMoment(0, func(m *model.Moment) bool {
		if len(gone) >= many && !m.Time.Before(oldest) {
			return false
		}
		gone, did = append(gone, numbered(momentKey, m.Seq)), append(did, m.Did)
		begin.Seq, begin.Time = m.Seq, m.Time
		return true
	}); err != nil {
		return err
	}
	for _, k := range gone {
		if err := d.b.Delete(k); err != nil {
			return err
		}
	}
	begin.Did = ycrdt.JoinSnapshots(did...)
	if err := put(d.b, []byte{beginKey}, began{begin.Seq, begin.Time, begin.Did.Encode()}); err != nil {
		return err
	}
	return d.dropDeleted(begin.Did)
}

// dropDeleted takes the text that is not in the oldest known state any more out of the merged
// updates. The places of its characters remain.
func (d Document) dropDeleted(oldest *ycrdt.Snapshot) error {
	seq, merged := d.base()
	if len(merged) == 0 {
		return nil
	}
	all, err := ycrdt.SnapshotOf(merged)
	if err != nil {
		return Damaged(err)
	}
	past, err := ycrdt.WithDeletesOf(merged, oldest)
	if err != nil {
		return Damaged(err)
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	if err := doc.ApplyUpdate(past, nil); err != nil {
		return Damaged(err)
	}
	smaller, err := ycrdt.WithDeletesOf(doc.EncodeStateAsUpdate(nil), all)
	if err != nil {
		return Damaged(err)
	}
	left, err := ycrdt.SnapshotOf(smaller)
	if err != nil || !left.Equal(all) || len(smaller) >= len(merged) {
		return err // something waits for what never came, and a document leaves that out
	}
	return d.putBase(seq, smaller)
}

func (d Document) putMoment(m model.Moment) error {
	m.Update = m.Did.Encode()
	return put(d.b, numbered(momentKey, m.Seq), m.Record)
}

// eachMoment calls fn with the moments from number from on until it returns false.
func (d Document) eachMoment(from uint64, fn func(*model.Moment) bool) error {
	return d.each(momentKey, from, func(rec model.Record) (bool, error) {
		m := &model.Moment{Record: rec}
		var err error
		if m.Did, err = ycrdt.DecodeSnapshot(rec.Update); err != nil {
			return false, Damaged(err)
		}
		m.Update = nil
		return fn(m), nil
	})
}

// began is the oldest state that is known, as it is stored.
type began struct {
	Seq  uint64    `cbor:"seq"`
	Time time.Time `cbor:"time"`
	Did  []byte    `cbor:"did"`
}

// begin is the oldest state that is known: that of an empty document, if nothing says otherwise.
func (d Document) begin() (m model.Moment, err error) {
	b := began{Did: ycrdt.JoinSnapshots().Encode()}
	if err := read(d.get(beginKey), &b); err != nil {
		return m, err
	}
	m.Seq, m.Time = b.Seq, b.Time
	if m.Did, err = ycrdt.DecodeSnapshot(b.Did); err != nil {
		err = Damaged(err)
	}
	return m, err
}

// noteMove keeps that a document got another path.
func (d Document) noteMove(m model.Moved) error {
	moves, err := d.moves()
	if err != nil {
		return err
	}
	m.After = d.last()
	moves = append(moves, m)
	return put(d.b, []byte{movesKey}, moves[max(0, len(moves)-mostMoves):])
}

func (d Document) moves() (moves []model.Moved, err error) {
	return moves, read(d.get(movesKey), &moves)
}

// Past is what is known of the states of the document.
func (d Document) Past() (p model.Past, err error) {
	p.Update, p.Begin.Did = model.EmptyUpdate(), ycrdt.JoinSnapshots()
	records, err := d.Records()
	if err != nil || len(records) == 0 {
		return p, err
	}
	updates := make([][]byte, len(records))
	for i, rec := range records {
		updates[i] = rec.Update
	}
	if p.Update, err = ycrdt.MergeUpdates(updates...); err != nil {
		return p, Damaged(err)
	}
	if p.Moves, err = d.moves(); err != nil {
		return p, err
	}
	if p.Begin, err = d.begin(); err != nil {
		return p, err
	}
	return p, d.moments(&p, records)
}

// moments adds, without what they did, the records from before the beginning, the moments of records that were
// merged, with what is kept of the records themselves, and those of records that are not merged yet.
func (d Document) moments(p *model.Past, records []model.Record) error {
	base, _ := d.base()
	kept := make(map[uint64]model.Record, len(records))
	for _, rec := range records {
		rec.Update = nil
		kept[rec.Seq] = rec
		if rec.Seq <= p.Begin.Seq && rec.Author != "" {
			p.Moments = append(p.Moments, model.Moment{Record: rec})
		}
	}
	if err := d.eachMoment(p.Begin.Seq+1, func(m *model.Moment) bool {
		if rec, ok := kept[m.Seq]; ok {
			m.Record = rec
		}
		p.Moments = append(p.Moments, *m)
		return true
	}); err != nil {
		return err
	}
	for _, rec := range records {
		if rec.Seq <= base {
			continue
		}
		m, err := momentOf(rec)
		if err != nil {
			return err
		}
		if n := len(p.Moments); n > 0 && p.Moments[n-1].Did != nil && join(&p.Moments[n-1], &m) {
			p.Moments = p.Moments[:n-1]
		}
		m.Record = kept[rec.Seq]
		p.Moments = append(p.Moments, m)
	}
	return nil
}
