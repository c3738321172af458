package bridge

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/diffwrap"
)

// This file lets suggestions that an undo puts back be whose they were. One undo
// may put back those of several authors, and links that a rename rewrote.

// origin is whose a suggestion is, and the rename that it belongs to.
type origin struct{ author, session, proposal string }

func (d *Decided) origin() origin { return origin{d.Author, d.Session, d.Proposal} }

func (o origin) describe(rec *Record) {
	rec.Author, rec.Session, rec.Proposal = o.author, o.session, o.proposal
}

// originOf is the origin of the items, if all have the same.
func originOf(items []Decided) (o origin, same bool) {
	for i := range items {
		if i > 0 && items[i].origin() != o {
			return origin{}, false
		}
		o = items[i].origin()
	}
	return o, true
}

// putBack are the records that tell, beside rec, which of the characters that it
// inserted are whose: none unless it took back a decision on suggestions of several
// origins. edits are what rec made of before.
func putBack(rec Record, before string, edits []diffwrap.Edit) []Record {
	d := rec.Decision
	if d == nil || d.Verdict != Undone {
		return nil
	}
	if _, same := originOf(d.Items); same {
		return nil
	}
	var records []Record
	left := slices.Clone(d.Items)
	put := insertions(edits)
	after := diffwrap.Apply(before, edits)
	for _, s := range append(diffwrap.Suggestions(after), diffwrap.Comments(after)...) {
		i := slices.IndexFunc(left, func(d Decided) bool {
			return d.Kind == s.Kind.String() && d.Old == s.Old && d.New == s.New
		})
		if i < 0 {
			continue
		}
		found := false
		for _, p := range put {
			from, to := max(s.Start, p.off), min(s.End, p.off+p.n)
			if from >= to {
				continue
			}
			piece := Record{
				Update: emptyUpdate(), Time: rec.Time, Client: rec.Client,
				Clock: rec.Clock + p.clock + uint64(utf16Len(after[p.off:from])), Len: uint64(utf16Len(after[from:to])),
			}
			left[i].origin().describe(&piece)
			records = append(records, piece)
			found = true
		}
		if found {
			left = slices.Delete(left, i, i+1)
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Compare(a.Clock, b.Clock) })
	return records
}

// withPutBack adds to the records of a live document, which keeps one for a change,
// what putBack tells.
func withPutBack(records []Record) []Record {
	all := slices.Clip(records)
	for _, rec := range records {
		if d := rec.Decision; d != nil && d.Verdict == Undone {
			all = append(all, putBack(rec, d.Before, diffwrap.Diff(d.Before, d.After))...)
		}
	}
	return all
}

// insertion is text that an edit inserted: n bytes at off in the new text, the
// first character of which is clock units after the first one of all.
type insertion struct {
	off, n int
	clock  uint64
}

func insertions(edits []diffwrap.Edit) (list []insertion) {
	moved, clock := 0, uint64(0)
	for _, e := range edits {
		if e.New != "" {
			list = append(list, insertion{e.Off + moved, len(e.New), clock})
		}
		moved += len(e.New) - e.Len
		clock += uint64(utf16Len(e.New))
	}
	return list
}
