package facts

import (
	"cmp"
	"hash/fnv"
	"slices"
	"weak"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Facts has the entries read from one document. The zero value is empty.
type Facts struct {
	seen       map[string]bool         // keys, including those of invalid entries
	of         weak.Pointer[ycrdt.Doc] // the document that was read last
	next       int                     // see ycrdt.Map.KeysSince
	outOfOrder []ycrdt.Setter          // setters of entries whose numbers are still too high
	size       int                     // total bytes of the values
	runs       int
	all        []*entry // entries in the order of their numbers
	// ownKeys has the first units of the records in this machine's store. Read does not return their entries, because
	// the records have more data.
	ownKeys map[[2]uint64]bool
	// decided has the sequence numbers of decisions, by batch and suggestion.
	decided map[[2]string]uint64
}

// The limits of what Read accepts: the total bytes of the values, the number of entries, and the number of their runs.
// A pending suggestion uses about 300 bytes and two runs.
const (
	maxSize    = 16 << 20
	maxEntries = 1 << 14
	maxRuns    = 1 << 16
)

// foreign is the smallest sequence number of other machines' records.
const foreign = 1 << 62

// Read reads the entries added to the document since the last call. It returns the records of other machines among
// them. inOrder reports whether all of these follow the earlier entries; if not, the caller must read all records
// again.
func (f *Facts) Read(doc *ycrdt.Doc) (added []model.Record, inOrder bool) {
	if ref := weak.Make(doc); ref != f.of {
		f.of, f.next = ref, 0 // the document was loaded again
	}
	m, limit := doc.Map(Name), units(doc)
	var keys []ycrdt.Setter
	keys, f.next = m.KeysSince(f.next)
	keys, f.outOfOrder = append(f.outOfOrder, keys...), nil
	var fresh []*entry
	for _, set := range keys {
		key := set.Key
		n, client := numbersOf(key)
		if n > limit {
			f.outOfOrder = append(f.outOfOrder, set)
		}
		if n == 0 || n > limit || ycrdt.ClientID(client) != set.Client || f.seen[key] {
			continue
		}
		if f.seen == nil {
			f.seen = make(map[string]bool)
		}
		f.seen[key] = true
		value, _ := m.Get(key)
		text, ok := value.(string)
		if !ok || f.size+len(text) > maxSize {
			continue
		}
		f.size += len(text)
		if e, runs := decode(key, text); e != nil && f.runs+runs <= maxRuns && len(f.all)+len(fresh) < maxEntries {
			f.runs += runs
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 {
		return nil, true
	}
	slices.SortFunc(fresh, compare)
	inOrder = len(f.all) == 0 || f.all[len(f.all)-1].n < fresh[0].n
	f.all = append(f.all, fresh...)
	if !inOrder {
		slices.SortFunc(f.all, compare)
	}
	f.number(fresh, inOrder)
	for _, e := range fresh {
		if !f.isOwnKey(&e.rec) {
			added = append(added, e.rec)
		} else if len(added) > 0 {
			inOrder = false // the new records precede a record that the caller already has
		}
	}
	return added, inOrder
}

// units returns the number of units that the document has had, of all clients.
func units(doc *ycrdt.Doc) (n uint64) {
	for _, clock := range doc.StateVector() {
		n += clock
	}
	return n
}

// number sets UndoesSeq of each undo to the sequence number of the record that it undoes, or to 0 if no earlier entry
// has that record.
func (f *Facts) number(fresh []*entry, inOrder bool) {
	if !inOrder || f.decided == nil {
		f.decided, fresh = make(map[[2]string]uint64), f.all
	}
	for _, e := range fresh {
		d := e.rec.Decision
		if d == nil {
			continue
		}
		for _, item := range d.Items {
			if d.Verdict == model.Undone {
				d.UndoesSeq = f.decided[[2]string{d.Undoes, item.ID}]
			} else {
				f.decided[[2]string{d.Batch, item.ID}] = e.rec.Seq
			}
		}
	}
}

// IsEmpty reports whether the document that was read has no entries.
func (f *Facts) IsEmpty() bool { return len(f.all) == 0 }

// Own records that this machine's store has rec, so its entry is not needed.
func (f *Facts) Own(rec *model.Record) {
	if f.ownKeys == nil {
		f.ownKeys = make(map[[2]uint64]bool)
	}
	f.ownKeys[unitOf(rec)] = true
}

func unitOf(rec *model.Record) [2]uint64 { return [2]uint64{rec.Client, rec.Clock} }

func (f *Facts) isOwnKey(rec *model.Record) bool { return f.ownKeys[unitOf(rec)] }

// With returns records of this machine's store together with the records of other machines, in order.
func (f *Facts) With(records []model.Record) []model.Record {
	for i := range records {
		f.Own(&records[i])
	}
	if len(f.all) == 0 {
		return records
	}
	numbers := make(map[[2]uint64]*entry, len(f.all))
	for _, e := range f.all {
		numbers[unitOf(&e.rec)] = e
	}
	all := make([]model.Record, 0, len(records)+len(f.all))
	next := 0
	others := func(before *entry) {
		for ; next < len(f.all) && (before == nil || compare(f.all[next], before) < 0); next++ {
			if !f.isOwnKey(&f.all[next].rec) {
				all = append(all, f.all[next].rec)
			}
		}
	}
	for _, rec := range records {
		if e := numbers[unitOf(&rec)]; e != nil {
			others(e)
		}
		all = append(all, rec)
	}
	others(nil)
	return all
}

// entry is a record as other mounts read it.
type entry struct {
	n   uint64
	rec model.Record
}

func compare(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.rec.Client, b.rec.Client))
}

// seqOf returns a sequence number for the record of another machine's entry.
func seqOf(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return foreign | h.Sum64()>>2
}
