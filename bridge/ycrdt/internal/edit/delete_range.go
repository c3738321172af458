package edit

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// DeleteRanges deletes the units of the normal set ds. It returns the units that are not in the store yet.
func (tx *Txn) DeleteRanges(ds wire.DeleteSet) (rest wire.DeleteSet) {
	s := tx.Store
	for _, r := range ds {
		home := s.LookupClient(r.Client)
		next := uint64(0)
		if home != 0 {
			next = s.Clients[home].Next
		}
		if r.End() > next {
			from := max(r.Clock, next)
			rest = append(rest, wire.Range{Client: r.Client, Clock: from, Length: r.End() - from})
		}
		if r.Clock < next {
			tx.deleteRange(home, r.Clock, min(r.End(), next))
		}
	}
	return rest
}

func (tx *Txn) deleteRange(home uint32, clock, end uint64) {
	s := tx.Store
	x := &s.Clients[home].Index
	p := s.Find(x, clock)
	for ok := true; ok; p, ok = x.Next(p) {
		r := x.At(p)
		from := s.Items[r].From()
		if from >= end {
			return
		}
		if s.Items[r].Deleted() {
			continue
		}
		if from < clock {
			r, p = tx.split(home, p, clock-from)
			from = clock
		}
		if s.Items[r].End() > end {
			tx.split(home, p, end-from)
			p = s.Find(x, from)
		}
		tx.DeleteItem(r)
	}
}
