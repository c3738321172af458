package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/wal"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

const (
	// syncDelay is how long after a change nobody waits for the log is synced.
	syncDelay = time.Second
	// The checkpoint takes what is in the log when that is checkpointAge old or
	// checkpointSize long.
	checkpointAge  = 10 * time.Second
	checkpointSize = 4 << 20
	// compactAt is how many updates a document may have one by one. Loading it applies
	// them all, some ten microseconds each; merging them costs about as much as the whole
	// document, which spread over that many writes is little.
	compactAt = 128
)

// poke has the log synced a moment later, and the checkpoint brought up to date some
// time after that.
func (s *Store) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run syncs the log and writes checkpoints until the store is closed.
func (s *Store) run() {
	defer close(s.done)
	for {
		select {
		case <-s.quit:
			return
		case <-s.wake:
		}
		select {
		case <-s.quit:
			return
		case <-time.After(syncDelay):
		}
		if err := s.flush(); err != nil { // what is in the log stays there
			s.log.Warn("store lags behind its log", model.LogErr, err)
		}
	}
}

// flush syncs the log, and brings the checkpoint up to date if it is time for that.
func (s *Store) flush() error {
	if err := s.wal.Sync(s.wal.LastLSN()); err != nil {
		return s.fail("sync the log", translate(err))
	}
	s.tail.mu.Lock()
	waiting := len(s.tail.entries) > 0
	due := waiting && (time.Since(s.tail.since) >= checkpointAge || s.tail.size >= checkpointSize)
	s.tail.mu.Unlock()
	if !due {
		if waiting {
			s.poke()
		}
		return nil
	}
	return s.fail("write a checkpoint", s.checkpoint())
}

// checkpoint brings the file up to everything that is in the log now, durably. After an
// error everything is still in the log.
func (s *Store) checkpoint() error {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	s.tail.mu.Lock()
	entries := slices.Clone(s.tail.entries)
	s.tail.mu.Unlock()
	if len(entries) == 0 {
		return nil
	}
	last := entries[len(entries)-1].lsn
	marks := make(map[model.DocID]int) // the last one of each document, which alone counts
	for i, e := range entries {
		if e.kind == kindMark {
			marks[e.id] = i
		}
	}
	err := s.update(func(tx *bolt.Tx) error {
		for i, e := range entries {
			if e.kind == kindMark && marks[e.id] != i {
				continue
			}
			if err := s.apply(tx, e); err != nil {
				return err
			}
		}
		return putApplied(tx, last)
	})
	if err != nil {
		return err
	}
	s.tail.mu.Lock()
	s.tail.forget(last)
	s.tail.mu.Unlock()
	return translate(s.wal.Release(last))
}

// checkpointOf brings the file up to date if the log has something of the given kinds.
func (s *Store) checkpointOf(kinds ...kind) error {
	s.tail.mu.Lock()
	has := s.tail.has(kinds...)
	s.tail.mu.Unlock()
	if !has {
		return nil
	}
	return s.checkpoint()
}

// putApplied and applied keep the number of the last frame that is in the checkpoint.
func putApplied(tx *bolt.Tx, lsn wal.LSN) error {
	return tx.Bucket([]byte(metaBucket)).Put([]byte(appliedKey), seqKey(uint64(lsn)))
}

func applied(tx *bolt.Tx) wal.LSN {
	v := tx.Bucket([]byte(metaBucket)).Get([]byte(appliedKey))
	if len(v) != 8 {
		return 0
	}
	return wal.LSN(binary.BigEndian.Uint64(v))
}

// apply makes the change of one frame in the checkpoint.
func (s *Store) apply(tx *bolt.Tx, e *entry) error {
	switch e.kind {
	case kindChange:
		return applyChange(tx, e)
	case kindAbort:
		return applyAbort(tx, e)
	case kindMark:
		return s.applyMark(tx, e)
	case kindPlace:
		return applyPlace(tx, e)
	case kindProposals:
		return applyProposals(tx, e.proposals)
	case kindSent:
		return applySent(tx, e)
	}
	return errBadFrame
}

func applyChange(tx *bolt.Tx, e *entry) error {
	doc, err := ensure(tx, e.id, e.path)
	if err != nil {
		return err
	}
	records := doc.Bucket([]byte(recordsBucket))
	for i, v := range e.values {
		seq, rec := e.seq+uint64(i), &e.records[i]
		if err := records.Put(seqKey(seq), v); err != nil {
			return err
		}
		if rec.Unsent {
			if err := markUnsent(tx, e.id, seq); err != nil {
				return err
			}
		}
		if rec.Journalled() {
			if err := note(tx, e.id, seq); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyAbort takes records back. A document of which nothing remains has never been.
func applyAbort(tx *bolt.Tx, e *entry) error {
	doc := document(tx, e.id)
	if doc == nil {
		return nil
	}
	records := doc.Bucket([]byte(recordsBucket))
	if k, _ := records.Cursor().First(); k == nil || binary.BigEndian.Uint64(k) >= e.seq {
		return forget(tx, e.id)
	}
	c := records.Cursor()
	var gone [][]byte
	for k, _ := c.Seek(seqKey(e.seq)); k != nil; k, _ = c.Next() {
		gone = append(gone, bytes.Clone(k))
	}
	for _, k := range gone {
		if err := unlistRecord(tx, e.id, k); err != nil {
			return err
		}
		if err := records.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// applyPlace gives a record the save that came after it.
func applyPlace(tx *bolt.Tx, e *entry) error {
	doc := document(tx, e.id)
	if doc == nil {
		return nil
	}
	records, key := doc.Bucket([]byte(recordsBucket)), seqKey(e.seq)
	v := records.Get(key)
	if v == nil {
		return nil // it was compacted
	}
	rec, err := decodeRecord(key, v)
	if err != nil {
		return damaged(err)
	}
	rec.Save = &e.save
	if v, err = encodeRecord(rec); err != nil {
		return err
	}
	return records.Put(key, v)
}

// applyMark notes what the source's file holds, and merges the document's updates if
// there are many.
func (s *Store) applyMark(tx *bolt.Tx, e *entry) error {
	doc := document(tx, e.id)
	if doc == nil || readMark(doc).seq > e.seq {
		return nil
	}
	if err := doc.Put([]byte(stateKey), mark{e.seq, e.sum}.encode()); err != nil {
		return err
	}
	base, _ := readBase(doc)
	if e.seq < base+compactAt {
		return nil
	}
	return s.compact(doc, e.id, e.seq)
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
	rec.Update, rec.Save = nil, nil
	v, err := encodeRecord(rec)
	if err != nil {
		return err
	}
	return records.Put(seqKey(rec.Seq), v)
}
