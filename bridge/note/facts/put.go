package facts

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Name is the name of the root map with the facts of a note's document. Each value is a JSON entry. Its key is
// "UNITS-CLIENT": the number of units that the document has had, and the client ID of the record.
const Name = "relayfs_v0"

// keep is the default time limit of undo. Other machines need the entries of a decision for that time.
const keep = 90 * 24 * time.Hour

// Put adds the entry of a record to the document, which already has the record's change.
func Put(doc *ycrdt.Doc, rec *model.Record) {
	if !rec.SurvivesCompaction() || rec.Direct && len(rec.Marks) == 0 && rec.Decision == nil {
		return // text written directly is no suggestion
	}
	out := withoutLocal(rec)
	text, err := json.Marshal(&out)
	if err != nil || len(text) > maxSize {
		return // no mount reads an entry of that size
	}
	m, number := doc.Map(Name), units(doc)
	doc.Transact(func(tx *ycrdt.Txn) {
		_ = m.Set(tx, keyOf(number, rec.Client), string(text)) // Set cannot fail for a string
	})
}

// Prune removes entries that are past the time limit of undo and whose characters are in no mark and no comment.
func Prune(doc *ycrdt.Doc, now time.Time) {
	var f Facts
	f.Read(doc)
	if !slices.ContainsFunc(f.all, func(e *entry) bool { return isOld(e, now) }) {
		return
	}
	needed := possiblyMarked(doc.Text(model.ContentsName))
	var obsolete []string
	for _, e := range slices.Backward(f.all) {
		waits := !isOld(e, now)
		for _, r := range runsOf(&e.rec) {
			needed.Each(r, func(_ model.IDRange, _, ok bool) { waits = waits || ok })
		}
		if !waits {
			obsolete = append(obsolete, keyOf(e.n, e.rec.Client))
			continue
		}
		for _, r := range remapsOf(&e.rec) {
			needed.Set(r.Old, true)
		}
	}
	m := doc.Map(Name)
	doc.Transact(func(tx *ycrdt.Txn) {
		for _, key := range obsolete {
			m.Delete(tx, key)
		}
	})
}

func isOld(e *entry, now time.Time) bool { return now.Sub(e.rec.Time) > keep }

func runsOf(rec *model.Record) []model.IDRange {
	runs := append([]model.IDRange{{Client: rec.Client, Clock: rec.Clock, Len: rec.Len}}, rec.BrokenDelimiters...)
	for _, m := range rec.Marks {
		runs = append(append(runs, m.Add...), m.Del...)
	}
	for _, r := range remapsOf(rec) {
		runs = append(runs, r.New)
	}
	return runs
}

// remapsOf returns the ID remaps of a record. Facts about the old characters apply to the new ones.
func remapsOf(rec *model.Record) []model.IDRemap {
	if rec.Decision == nil {
		return rec.Remaps
	}
	return slices.Concat(rec.Remaps, rec.Decision.Remaps)
}

// possiblyMarked returns the characters of a text that may be in a mark or a comment.
func possiblyMarked(text *ycrdt.Text) model.Ranges[bool] {
	raw := text.String()
	marks, _, spans := diffwrap.Everything.Layout(raw)
	for _, m := range marks {
		spans = append(spans, m.Span)
	}
	set, units := make(model.Ranges[bool]), attribution.UnitsOf(raw, text.Runs())
	for _, s := range spans {
		for p := range units.In(s) {
			set.Set(p.ID, true)
		}
	}
	return set
}

// MarksFrom returns the marked text from an offset on as one suggestion, if there is any: that of the record that has
// added the text with its marks.
func MarksFrom(text *ycrdt.Text, from int) []model.MarkRecord {
	raw := text.String()
	_, content, _ := diffwrap.Everything.Layout(raw)
	var m model.MarkRecord
	units := attribution.UnitsOf(raw, text.Runs())
	for _, c := range content {
		if c.Start < from || !c.Added && !c.Deleted {
			continue
		}
		for p := range units.In(c.Span) {
			m.AddRange(p.ID, c.Added)
		}
	}
	if len(m.Add)+len(m.Del) == 0 {
		return nil
	}
	return []model.MarkRecord{m}
}
