package checkpoint

import (
	"bytes"
	"encoding/json"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/frame"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// The updates of a document, merged, still hold every text that was ever in it; what a merge
// loses is which of it was there when. That is what a moment has: of each record that is
// merged its author and time, and instead of the update the snapshot of it, which is some
// bytes. Moments of one author in one minute become one.

// mostMoments is how many moments of a document are kept. When there are that many, the oldest
// tenth goes.
const mostMoments = 10_000

// expireAt is how long the oldest moment may be too old before moments are taken out, which
// writes all that is known of the oldest state again.
const expireAt = 24 * time.Hour

// keepMoments keeps what is known of records that are being merged: those after the base.
func keepMoments(doc *bolt.Bucket, records []model.Record, base uint64) error {
	history := doc.Bucket([]byte(historyBucket))
	if history == nil {
		var err error
		if history, err = doc.CreateBucket([]byte(historyBucket)); err != nil {
			return err
		}
	}
	last, err := lastMoment(history)
	if err != nil {
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
			if err := history.Delete(seqKey(last.Seq)); err != nil {
				return err
			}
		}
		if err := putMoment(history, m); err != nil {
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
func expire(doc *bolt.Bucket, oldest time.Time, slack time.Duration) error {
	history := doc.Bucket([]byte(historyBucket))
	if history == nil {
		return nil
	}
	c := history.Cursor()
	first, err := momentAt(c.First())
	if err != nil || first == nil {
		return err
	}
	many := history.Inspect().KeyN - mostMoments
	if many > 0 {
		many = max(many, mostMoments/10)
	}
	if many <= 0 && !first.Time.Before(oldest.Add(-slack)) {
		return nil
	}
	begin, err := readBegin(doc)
	if err != nil {
		return err
	}
	did := []*ycrdt.Snapshot{begin.Did}
	var gone [][]byte
	for k, v := c.First(); k != nil; k, v = c.Next() {
		m, err := momentAt(k, v)
		if err != nil {
			return err
		}
		if len(gone) >= many && !m.Time.Before(oldest) {
			break
		}
		gone, did = append(gone, bytes.Clone(k)), append(did, m.Did)
		begin.Seq, begin.Time = m.Seq, m.Time
	}
	for _, k := range gone {
		if err := history.Delete(k); err != nil {
			return err
		}
	}
	begin.Did = ycrdt.JoinSnapshots(did...)
	if err := putBegin(doc, begin); err != nil {
		return err
	}
	return dropDeleted(doc, begin.Did)
}

// dropDeleted takes the text that is not in the oldest known state any more out of the merged
// updates. The places of its characters remain.
func dropDeleted(doc *bolt.Bucket, oldest *ycrdt.Snapshot) error {
	seq, merged := readBase(doc)
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
	d := ycrdt.NewDoc(ycrdt.Options{})
	if err := d.ApplyUpdate(past, nil); err != nil {
		return Damaged(err)
	}
	smaller, err := ycrdt.WithDeletesOf(d.EncodeStateAsUpdate(nil), all)
	if err != nil {
		return Damaged(err)
	}
	left, err := ycrdt.SnapshotOf(smaller)
	if err != nil || !left.Equal(all) || len(smaller) >= len(merged) {
		return err // something waits for what never came, and a document leaves that out
	}
	return doc.Put([]byte(baseKey), append(seqKey(seq), smaller...))
}

func putMoment(history *bolt.Bucket, m model.Moment) error {
	v, err := encodeMoment(m)
	if err != nil {
		return err
	}
	return history.Put(seqKey(m.Seq), v)
}

func encodeMoment(m model.Moment) ([]byte, error) {
	m.Update = m.Did.Encode()
	return frame.EncodeRecord(m.Record)
}

// momentAt decodes an entry of a history, nil if there is none.
func momentAt(k, v []byte) (*model.Moment, error) {
	if k == nil {
		return nil, nil
	}
	rec, err := decodeRecord(k, v)
	if err != nil {
		return nil, err
	}
	m := &model.Moment{Record: rec}
	if m.Did, err = ycrdt.DecodeSnapshot(rec.Update); err != nil {
		return nil, Damaged(err)
	}
	m.Update = nil
	return m, nil
}

func lastMoment(history *bolt.Bucket) (*model.Moment, error) {
	return momentAt(history.Cursor().Last())
}

func putBegin(doc *bolt.Bucket, m model.Moment) error {
	v, err := encodeMoment(m)
	if err != nil {
		return err
	}
	return doc.Put([]byte(beginKey), append(seqKey(m.Seq), v...))
}

// readBegin is the oldest state that is known: that of an empty document, if nothing says otherwise.
func readBegin(doc *bolt.Bucket) (model.Moment, error) {
	v := doc.Get([]byte(beginKey))
	if len(v) < 8 {
		return model.Moment{Did: ycrdt.JoinSnapshots()}, nil
	}
	m, err := momentAt(v[:8], v[8:])
	if err != nil {
		return model.Moment{}, err
	}
	return *m, nil
}

// noteMove keeps that a document got another path.
func noteMove(doc *bolt.Bucket, m model.Moved) error {
	moves, err := readMoves(doc)
	if err != nil {
		return err
	}
	m.After = lastBefore(doc.Bucket([]byte(recordsBucket)), math.MaxUint64)
	moves = append(moves, m)
	v, err := json.Marshal(moves[max(0, len(moves)-mostMoves):])
	if err != nil {
		return err
	}
	return doc.Put([]byte(movesKey), v)
}

// mostMoves is how many moves of a document are kept.
const mostMoves = 1000

func readMoves(doc *bolt.Bucket) (moves []model.Moved, err error) {
	if v := doc.Get([]byte(movesKey)); v != nil {
		if err := json.Unmarshal(v, &moves); err != nil {
			return nil, Damaged(err)
		}
	}
	return moves, nil
}

// Past is what is known of the states of the document.
func (d Document) Past() (p model.Past, err error) {
	p.Update, p.Begin.Did = emptyUpdate(), ycrdt.JoinSnapshots()
	if d.bucket == nil {
		return p, nil
	}
	records, err := readRecords(d.bucket)
	if err != nil {
		return p, err
	}
	updates := make([][]byte, len(records))
	for i, rec := range records {
		updates[i] = rec.Update
	}
	if p.Update, err = ycrdt.MergeUpdates(updates...); err != nil {
		return p, Damaged(err)
	}
	if p.Moves, err = readMoves(d.bucket); err != nil {
		return p, err
	}
	if p.Begin, err = readBegin(d.bucket); err != nil {
		return p, err
	}
	return p, d.moments(&p, records)
}

// moments adds those that are kept, those of records that are not merged yet, and, without what they did, the
// records from before the beginning.
func (d Document) moments(p *model.Past, records []model.Record) error {
	base, _ := readBase(d.bucket)
	kept := make(map[uint64]model.Record, len(records))
	for _, rec := range records {
		rec.Update = nil
		kept[rec.Seq] = rec
	}
	for _, rec := range records {
		if rec.Seq <= p.Begin.Seq && rec.Author != "" {
			p.Moments = append(p.Moments, model.Moment{Record: kept[rec.Seq]})
		}
	}
	if err := d.addKept(p, kept); err != nil {
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

// addKept adds the moments of records that were merged, with what is kept of the records themselves.
func (d Document) addKept(p *model.Past, kept map[uint64]model.Record) error {
	history := d.bucket.Bucket([]byte(historyBucket))
	if history == nil {
		return nil
	}
	c := history.Cursor()
	for k, v := c.Seek(seqKey(p.Begin.Seq + 1)); k != nil; k, v = c.Next() {
		m, err := momentAt(k, v)
		if err != nil {
			return err
		}
		if rec, ok := kept[m.Seq]; ok {
			m.Record = rec
		}
		p.Moments = append(p.Moments, *m)
	}
	return nil
}
