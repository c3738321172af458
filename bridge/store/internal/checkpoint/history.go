package checkpoint

import (
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// The merged updates of a document still hold every text that it ever contained, until the text expires (dropDeleted).
// A merge only loses the information about which text existed at which time. So a merged record keeps the snapshot of
// its update, which needs a few bytes.

const (
	// maxMoves is the maximum number of stored moves of a document.
	maxMoves = 1000
	// expireAt is the age beyond the history limit at which the oldest revision triggers a removal. It is large, because
	// each removal rewrites all data about the oldest state.
	expireAt = 24 * time.Hour
)

// revisionOf returns a record with its added and deleted units, if they are stored. Records up to the base have a
// snapshot instead of an update, or nothing once they have expired.
func revisionOf(rec model.Record, base uint64) (m model.Revision, err error) {
	switch m.Record = rec; {
	case rec.Seq > base:
		m.Units, err = ycrdt.SnapshotOf(rec.Update)
	case len(rec.Update) > 0:
		m.Units, err = ycrdt.DecodeSnapshot(rec.Update)
	}
	if err != nil {
		err = Damaged(err)
	}
	m.Update, m.Save = nil, nil
	return m, err
}

func (d Document) putRevision(kind byte, m model.Revision) error {
	if m.Units != nil {
		m.Update = m.Units.Encode()
	}
	return d.putRecord(kind, m.Record)
}

// mergeInto merges m into next if both are plain changes by one author within one minute. It reports whether it merged
// them.
func mergeInto(m, next *model.Revision) bool {
	plain := func(m *model.Revision) bool {
		first := m.Seq == 1 && m.Author == "" // m is the text at the start of the history
		return m.Units != nil && !m.Journalled() && !m.Created && !m.DetectedLate && !first
	}
	minute := func(m *model.Revision) time.Time { return m.Time.Truncate(time.Minute) }
	if !plain(m) || !plain(next) || m.Author != next.Author || m.Session != next.Session ||
		m.Proposal != next.Proposal || !minute(m).Equal(minute(next)) {
		return false
	}
	next.Units = ycrdt.JoinSnapshots(m.Units, next.Units)
	return true
}

func (d Document) isDue(oldest time.Time) (bool, error) {
	begin, err := d.begin()
	if err != nil {
		return false, err
	}
	first, err := d.list(begin.Seq+1, 1)
	return len(first) > 0 && first[0].Seq <= d.FileMark().Seq && first[0].Time.Before(oldest.Add(-expireAt)), err
}

// expire moves the added and deleted units of the records before a time into the oldest known state.
func (d Document) expire(oldest time.Time) error {
	if due, err := d.isDue(oldest); !due {
		return err
	}
	base, _ := d.base()
	begin, err := d.begin()
	if err != nil {
		return err
	}
	list, err := d.list(begin.Seq+1, math.MaxInt)
	if err != nil {
		return err
	}
	did := []*ycrdt.Snapshot{begin.Units}
	for _, rec := range list {
		if rec.Seq > base || !rec.Time.Before(oldest) {
			break
		}
		m, err := revisionOf(rec, base)
		if err != nil {
			return err
		}
		did = append(did, m.Units)
		begin.Seq, begin.Time, m.Units = rec.Seq, rec.Time, nil
		if d.b.Get(numbered(revisionKey, rec.Seq)) != nil {
			err = d.b.Delete(numbered(revisionKey, rec.Seq))
		} else {
			err = d.putRevision(recordKey, m)
		}
		if err != nil {
			return err
		}
	}
	if len(did) == 1 {
		return nil // the expired data has not been merged yet
	}
	begin.Units = ycrdt.JoinSnapshots(did...)
	if err := put(d.b, []byte{beginKey}, firstState{begin.Seq, begin.Time, begin.Units.Encode()}); err != nil {
		return err
	}
	return d.dropDeleted(begin.Units)
}

// expireAtOnce is the number of documents that Expire checks in one transaction.
const expireAtOnce = 1000

// Expire removes expired history of documents that do not change any more; merges do so for the other documents. One
// call handles up to expireAtOnce documents with IDs greater than the given ID, and returns the last of these IDs. It
// returns "" at the end.
func (f *File) Expire(after model.DocID) (last model.DocID, err error) {
	if f.o.History == 0 {
		return "", nil
	}
	oldest := time.Now().Add(-f.o.History)
	var due []model.DocID
	err = f.View(func(v View) error {
		c := bucket(v.tx, docsBucket).Cursor()
		k, _ := c.Seek(append([]byte(after), 0))
		for n := 0; k != nil && n < expireAtOnce; n++ {
			last = model.DocID(k)
			isDue, err := v.Document(last).isDue(oldest)
			if err != nil {
				return err
			}
			if isDue {
				due = append(due, last)
			}
			k, _ = c.Next()
		}
		if k == nil {
			last = ""
		}
		return nil
	})
	if err != nil || len(due) == 0 {
		return last, err
	}
	return last, f.update(func(tx *bolt.Tx) (err error) {
		for _, id := range due {
			doc := document(tx, id)
			if err == nil {
				err = f.merge(doc, id, doc.FileMark().Seq)
			}
			if err == nil {
				err = doc.expire(oldest)
			}
		}
		return err
	})
}

// dropDeleted removes from the merged updates the text that the oldest known state no longer has. The places of the
// removed characters remain.
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
	if err := doc.ApplyUpdate(past); err != nil {
		return Damaged(err)
	}
	smaller, err := ycrdt.WithDeletesOf(doc.EncodeStateAsUpdate(nil), all)
	if err != nil {
		return Damaged(err)
	}
	left, err := ycrdt.SnapshotOf(smaller)
	if err != nil || !left.Equal(all) {
		return err // an update depends on one that never arrived; a loaded document also omits such an update
	}
	return d.putBase(seq, smaller)
}

type firstState struct {
	Seq   uint64    `cbor:"seq"`
	Time  time.Time `cbor:"time"`
	Units []byte    `cbor:"did"`
}

// begin returns the oldest known state. If no state is stored, begin returns the state of an empty document.
func (d Document) begin() (m model.Revision, err error) {
	b := firstState{Units: ycrdt.JoinSnapshots().Encode()}
	if err := read(d.get(beginKey), &b); err != nil {
		return m, err
	}
	m.Seq, m.Time = b.Seq, b.Time
	if m.Units, err = ycrdt.DecodeSnapshot(b.Units); err != nil {
		err = Damaged(err)
	}
	return m, err
}

func (d Document) addMove(m model.Moved) error {
	moves, err := d.moves()
	if err != nil {
		return err
	}
	m.After = d.Last()
	moves = append(moves, m)
	return put(d.b, []byte{movesKey}, moves[max(0, len(moves)-maxMoves):])
}

func (d Document) moves() (moves []model.Moved, err error) {
	return moves, read(d.get(movesKey), &moves)
}

// Revisions returns the known states of the document. For the time before the oldest known state it has only the
// authors' changes, without their text.
func (d Document) Revisions() (p model.RevisionHistory, err error) {
	p.Update, p.Begin.Units = model.EmptyUpdate(), ycrdt.JoinSnapshots()
	list, err := d.list(0, math.MaxInt)
	if err != nil || len(list) == 0 {
		return p, err
	}
	if p.Moves, err = d.moves(); err != nil {
		return p, err
	}
	if p.Begin, err = d.begin(); err != nil {
		return p, err
	}
	base, merged := d.base()
	p.Records = list
	var updates [][]byte
	if base > 0 {
		updates = append(updates, merged)
	}
	for _, rec := range list {
		if rec.Seq > base {
			updates = append(updates, rec.Update)
		}
		m, err := revisionOf(rec, base)
		if err != nil {
			return p, err
		}
		if m.Units == nil && m.Author == "" {
			continue
		}
		if n := len(p.Revisions); n > 0 && mergeInto(&p.Revisions[n-1], &m) {
			p.Revisions = p.Revisions[:n-1]
		}
		p.Revisions = append(p.Revisions, m)
	}
	if p.Update, err = ycrdt.MergeUpdates(updates...); err != nil {
		err = Damaged(err)
	}
	return p, err
}
