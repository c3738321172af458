package store

import (
	"cmp"
	"encoding/json"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// Proposals returns the pending proposals in the order in which they were made.
func (s *Store) Proposals() (list []model.ProposalRecord, err error) {
	if err := s.checkpointOf(kindProposals); err != nil {
		return nil, s.fail("read proposals", err)
	}
	err = s.view(func(tx *bolt.Tx) error {
		list = nil
		return tx.Bucket([]byte(proposalBucket)).ForEach(func(_, v []byte) error {
			var rec model.ProposalRecord
			if err := json.Unmarshal(v, &rec); err != nil {
				return damaged(err)
			}
			list = append(list, rec)
			return nil
		})
	})
	slices.SortFunc(list, func(a, b model.ProposalRecord) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	return list, s.fail("read proposals", err)
}

// Propose changes the pending proposals and the journal, all of it or nothing, durably.
func (s *Store) Propose(c model.ProposalChange) error {
	return s.fail("propose", s.add(&entry{kind: kindProposals, proposals: c}, true, nil))
}

func applyProposals(tx *bolt.Tx, c model.ProposalChange) error {
	puts, err := encodeAll(c.Put)
	if err != nil {
		return err
	}
	decided, err := encodeAll(c.Journal)
	if err != nil {
		return err
	}
	proposals := tx.Bucket([]byte(proposalBucket))
	for i, v := range puts {
		if err := proposals.Put([]byte(c.Put[i].ID), v); err != nil {
			return err
		}
	}
	for _, id := range c.Drop {
		if err := proposals.Delete([]byte(id)); err != nil {
			return err
		}
	}
	for _, v := range decided {
		if err := noteDecided(tx, v); err != nil {
			return err
		}
	}
	return nil
}

func encodeAll[T any](list []T) ([][]byte, error) {
	values := make([][]byte, len(list))
	for i := range list {
		v, err := json.Marshal(list[i])
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// noteDecided keeps a record that belongs to no document, and journals it.
func noteDecided(tx *bolt.Tx, v []byte) error {
	decided := tx.Bucket([]byte(decidedBucket))
	seq, err := decided.NextSequence()
	if err != nil {
		return err
	}
	if err := decided.Put(seqKey(seq), v); err != nil {
		return err
	}
	return note(tx, "", seq)
}

// readDecided reads the record that noteDecided kept under key.
func readDecided(tx *bolt.Tx, key []byte) (rec model.Record, err error) {
	v := tx.Bucket([]byte(decidedBucket)).Get(key)
	if v == nil {
		return rec, damaged("the journal names a decision that is not there")
	}
	if err := json.Unmarshal(v, &rec); err != nil {
		return rec, damaged(err)
	}
	return rec, nil
}
