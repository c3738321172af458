package wire

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

type Range struct {
	Client ClientID
	Clock  uint64
	Length uint64
}

func (r Range) End() uint64 { return r.Clock + r.Length }

// A DeleteSet is a set of deleted units. It is normal if it is sorted (highest client first, clocks ascending) and no
// two ranges touch.
type DeleteSet []Range

// Add adds a range. If it continues the last range of the set, Add extends that range.
func (ds *DeleteSet) Add(client ClientID, clock, length uint64) {
	if n := len(*ds); n > 0 {
		if last := &(*ds)[n-1]; last.Client == client && last.End() == clock {
			last.Length += length
			return
		}
	}
	*ds = append(*ds, Range{client, clock, length})
}

func compareRanges(a, b Range) int {
	if a.Client != b.Client {
		return cmp.Compare(b.Client, a.Client)
	}
	return cmp.Compare(a.Clock, b.Clock)
}

// Normalize sorts the set and joins ranges that overlap or touch.
func (ds *DeleteSet) Normalize() {
	set := *ds
	if len(set) < 2 {
		return
	}
	if !slices.IsSortedFunc(set, compareRanges) {
		slices.SortFunc(set, compareRanges)
	}
	n := 0
	for _, r := range set[1:] {
		last := &set[n]
		if last.Client == r.Client && last.End() >= r.Clock {
			last.Length = max(last.End(), r.End()) - last.Clock
			continue
		}
		n++
		set[n] = r
	}
	*ds = set[:n+1]
}

func (ds DeleteSet) AppendTo(dst []byte) []byte {
	clients := 0
	for i := range ds {
		if i == 0 || ds[i].Client != ds[i-1].Client {
			clients++
		}
	}
	dst = lib0.AppendUint(dst, uint64(clients))
	for len(ds) > 0 {
		n := 1
		for n < len(ds) && ds[n].Client == ds[0].Client {
			n++
		}
		dst = lib0.AppendUint(dst, uint64(ds[0].Client))
		dst = lib0.AppendUint(dst, uint64(n))
		for _, r := range ds[:n] {
			dst = lib0.AppendUint(dst, r.Clock)
			dst = lib0.AppendUint(dst, r.Length)
		}
		ds = ds[n:]
	}
	return dst
}

// ReadDeleteSet reads a delete set in wire order. It omits ranges of length 0.
func ReadDeleteSet(r *lib0.Reader) DeleteSet {
	var ds DeleteSet
	for clients := r.Uint(); clients > 0 && r.Err() == nil; clients-- {
		client := ClientID(r.Uint())
		n := r.Count(2, maxRanges-uint64(len(ds)))
		ds = slices.Grow(ds, int(n))
		for ; n > 0 && r.Err() == nil; n-- {
			clock, length := r.Uint(), r.Uint()
			if clock+length > MaxInt {
				r.Fail(lib0.ErrRange)
				return nil
			}
			if length > 0 {
				ds = append(ds, Range{client, clock, length})
			}
		}
	}
	if r.Err() != nil {
		return nil
	}
	return ds
}
