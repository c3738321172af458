package store

import (
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

const (
	// flushDelay is how long marks wait to be written together. Losing them costs
	// a comparison of the document with its file at the next start.
	flushDelay = time.Second
	// compactAt is how many updates a document may have one by one. Loading it
	// applies them all, some ten microseconds each; merging them costs about as
	// much as the whole document, which spread over that many writes is little.
	compactAt = 128
)

// Materialized notes that the source's file holds the text as of seq. It is
// written a moment later.
func (s *Store) Materialized(id model.DocID, seq uint64, sum model.ContentSum) {
	s.marks.set(id, mark{seq, sum})
}

func (m *marks) set(id model.DocID, new mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending[id].seq > new.seq {
		return
	}
	m.pending[id] = new
	m.poke()
}

// poke has what is pending written a moment later.
func (m *marks) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// of is the newer of what is pending and what is written.
func (m *marks) of(id model.DocID, written mark) mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.pending[id]; ok && p.seq >= written.seq {
		return p
	}
	return written
}

// start runs the goroutine that writes marks and compacts.
func (m *marks) start(s *Store) {
	m.pending = make(map[model.DocID]mark)
	m.wake = make(chan struct{}, 1)
	m.quit = make(chan struct{})
	m.done = make(chan struct{})
	go func() {
		defer close(m.done)
		m.run(s)
	}()
}

// stop ends it, after a last flush.
func (m *marks) stop() {
	close(m.quit)
	<-m.done
}

func (m *marks) run(s *Store) {
	for ending := false; !ending; {
		select {
		case <-m.quit:
			ending = true
		case <-m.wake:
			select {
			case <-m.quit:
				ending = true
			case <-time.After(flushDelay):
			}
		}
		if err := s.flush(); err != nil { // what is logged stays there
			s.log.Warn("store lags behind its log", model.LogErr, err)
		}
	}
}

// flush puts what is logged in the file, and with it the pending marks, and
// compacts the documents that need it.
func (s *Store) flush() error {
	if err := s.settle(); err != nil {
		return s.fail("empty the log", err)
	}
	s.marks.mu.Lock()
	pending := make(map[model.DocID]mark, len(s.marks.pending))
	for id, m := range s.marks.pending {
		pending[id] = m
	}
	s.marks.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	err := s.update(func(tx *bolt.Tx) error {
		for id, m := range pending {
			if err := s.flushDoc(tx, id, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.fail("write state", err)
	}
	s.marks.written(pending)
	return nil
}

// written forgets marks that are in the file, but for those set since.
func (m *marks) written(marks map[model.DocID]mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, done := range marks {
		if m.pending[id] == done {
			delete(m.pending, id)
		}
	}
}

func (s *Store) flushDoc(tx *bolt.Tx, id model.DocID, m mark) error {
	doc := document(tx, id)
	if doc == nil || readMark(doc).seq > m.seq {
		return nil
	}
	if err := doc.Put([]byte(stateKey), m.encode()); err != nil {
		return err
	}
	base, _ := readBase(doc)
	if m.seq < base+compactAt {
		return nil
	}
	return s.compact(doc, id, m.seq)
}

// compact merges the updates up to upTo into one. Of their records it keeps what
// attribution and undo need: those of an author, those that are journalled, the
// first one, which took over the text, and the last one, which carries the number
// the next one follows.
func (s *Store) compact(doc *bolt.Bucket, id model.DocID, upTo uint64) error {
	records, err := readRecords(doc)
	if err != nil {
		return err
	}
	updates := make([][]byte, 0, len(records))
	for _, rec := range records {
		if rec.Seq <= upTo {
			updates = append(updates, rec.Update)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	merged, err := ycrdt.MergeUpdates(updates...)
	if err != nil {
		// They stay as they are; who loads the document gets the error, with its path.
		s.log.Warn("document not compacted", model.LogDoc, string(id), model.LogErr, err)
		return nil
	}
	bucket := doc.Bucket([]byte(recordsBucket))
	for i := range records[:len(updates)] {
		joined := i+1 < len(updates) && joinTyped(records[i], &records[i+1])
		rec := records[i]
		keep := !joined && (rec.Author != "" || rec.Proposal != "" || rec.Journalled() || i == 0 && !rec.Ahead || i == len(updates)-1)
		if err := shrink(bucket, rec, keep); err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
	}
	last := records[len(updates)-1].Seq
	return doc.Put([]byte(baseKey), append(seqKey(last), merged...))
}

// joinTyped lets next stand for rec, too, if both are what one author typed in one
// go: a record for each key would be kept for ever.
func joinTyped(rec model.Record, next *model.Record) bool {
	if !rec.Ahead || !next.Ahead || rec.Journalled() || next.Journalled() || rec.Proposal != "" || next.Proposal != "" ||
		rec.Author != next.Author || rec.Session != next.Session || rec.Client != next.Client || rec.Clock+rec.Len != next.Clock {
		return false
	}
	next.Clock, next.Len = rec.Clock, rec.Len+next.Len
	return true
}

// shrink takes a merged record's update away, or the whole record.
func shrink(records *bolt.Bucket, rec model.Record, keep bool) error {
	if !keep {
		return records.Delete(seqKey(rec.Seq))
	}
	rec.Update = nil
	v, err := encodeRecord(rec)
	if err != nil {
		return err
	}
	return records.Put(seqKey(rec.Seq), v)
}
