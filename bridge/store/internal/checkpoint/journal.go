package checkpoint

import (
	bolt "go.etcd.io/bbolt"

	"github.com/relayfs/relayfs/bridge/model"
)

// journalEntry is an entry of the journal: the number of a document's record, or a record about a proposal or a
// session. Records that were later aborted or deleted stay listed, but readers skip them.
type journalEntry struct {
	ID     model.DocID   `cbor:"id,omitempty"`
	Seq    uint64        `cbor:"seq,omitempty"`
	Record *model.Record `cbor:"record,omitempty"`
}

// addToJournal adds an entry to the journal. It numbers the entries in the order of their arrival.
func addToJournal(tx *bolt.Tx, e journalEntry) error {
	journal := bucket(tx, journalBucket)
	n, err := journal.NextSequence()
	if err != nil {
		return err
	}
	return put(journal, seqKey(n), e)
}

// Journal returns at most limit of the newest entries, newest first, without their paths. aborted has the number of the
// first record of each document that a later frame aborts.
func (v View) Journal(limit int, aborted map[model.DocID]uint64) (entries []model.JournalEntry, err error) {
	seen := make(map[journalEntry]bool) // another record may have the number of an aborted record
	c := bucket(v.tx, journalBucket).Cursor()
	for k, value := c.Last(); k != nil && len(entries) < limit; k, value = c.Prev() {
		var e journalEntry
		if err := read(value, &e); err != nil {
			return nil, err
		}
		if first, ok := aborted[e.ID]; e.Record == nil && (!ok || e.Seq < first) {
			rec, err := v.Document(e.ID).record(e.Seq)
			if err != nil {
				return nil, err
			}
			if rec.Journalled() && !seen[e] {
				seen[e] = true
				e.Record = &rec
			}
		}
		if e.Record != nil {
			entries = append(entries, model.JournalEntry{ID: e.ID, Record: *e.Record})
		}
	}
	return entries, nil
}
