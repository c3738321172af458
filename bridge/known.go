package bridge

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// minKnown is how many records are kept before it is worth a look at which of them
// are of no use any more.
const minKnown = 256

// knownRecords are what attribution needs of the records of an open document up to
// one of them, so that a note that is written again and again is not loaded again
// each time. What has been deleted stays deleted in a CRDT: records none of whose
// characters are left are dropped now and then, so that a note that is written for
// weeks takes no more memory, and its suggestions no more time, than it has text.
type knownRecords struct {
	doc     *ycrdt.Doc
	upTo    uint64
	records []Record // the first one ever is the first
	enough  int      // at how many to drop some
}

// of says whether it is all that led to doc, whose last record is upTo.
func (k *knownRecords) of(doc *ycrdt.Doc, upTo uint64) bool {
	return doc != nil && k.doc == doc && k.upTo == upTo && len(k.records) > 0
}

// extend adds records that were appended after upTo, the last of them as seq.
func (k *knownRecords) extend(doc *ycrdt.Doc, upTo, seq uint64, records []Record) {
	if k.of(doc, upTo) {
		k.add(records)
		k.upTo = seq
	}
}

func (k *knownRecords) add(records []Record) {
	for _, r := range records {
		k.records = append(k.records, Record{
			Author: r.Author, Session: r.Session, Time: r.Time, Client: r.Client, Clock: r.Clock, Len: r.Len,
			Proposal: r.Proposal, Ahead: r.Ahead, Decision: r.Decision.verdictOnly(),
		})
	}
	if len(k.records) < max(k.enough, minKnown) {
		return
	}
	k.prune()
	k.enough = 2 * len(k.records)
}

// verdictOnly is a decision without its texts.
func (d *Decision) verdictOnly() *Decision {
	if d == nil {
		return nil
	}
	return &Decision{Verdict: d.Verdict}
}

// prune drops the records that inserted nothing of what the document shows, but for
// the first.
func (k *knownRecords) prune() {
	runs := slices.Clone(k.doc.Text(contentsName).Runs())
	slices.SortFunc(runs, func(a, b ycrdt.Run) int { return compareIDs(a.ID, b.ID) })
	kept := k.records[:1:1]
	for _, r := range k.records[1:] {
		if r.shownIn(runs) {
			kept = append(kept, r)
		}
	}
	k.records = kept
}

// shownIn says whether one of the runs, which are sorted, has a character that the
// record inserted.
func (r *Record) shownIn(runs []ycrdt.Run) bool {
	first := ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock}
	i, found := slices.BinarySearchFunc(runs, first, func(run ycrdt.Run, id ycrdt.ID) int { return compareIDs(run.ID, id) })
	if found {
		return r.Len > 0
	}
	if i > 0 { // the run before may reach into it
		before := runs[i-1]
		if before.ID.Client == first.Client && before.ID.Clock+uint64(before.Len) > r.Clock {
			return r.Len > 0
		}
	}
	return i < len(runs) && runs[i].ID.Client == first.Client && runs[i].ID.Clock < r.Clock+r.Len
}

func compareIDs(a, b ycrdt.ID) int {
	return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Clock, b.Clock))
}
