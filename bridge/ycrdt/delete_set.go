package ycrdt

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// An idRange is a run of deleted units of one client.
type idRange struct {
	client ClientID
	clock  uint64
	length uint64
}

func (r idRange) end() uint64 { return r.clock + r.length }

// A deleteSet is a set of deleted units. It is normal if it is sorted, highest
// client first and clocks ascending, and no two ranges touch.
type deleteSet []idRange

// add adds a range; ranges that continue the last one are joined at once.
func (ds *deleteSet) add(client ClientID, clock, length uint64) {
	if n := len(*ds); n > 0 {
		if last := &(*ds)[n-1]; last.client == client && last.end() == clock {
			last.length += length
			return
		}
	}
	*ds = append(*ds, idRange{client, clock, length})
}

func compareRanges(a, b idRange) int {
	if a.client != b.client {
		return cmp.Compare(b.client, a.client)
	}
	return cmp.Compare(a.clock, b.clock)
}

// normalize sorts the set and joins ranges that overlap or touch.
func (ds *deleteSet) normalize() {
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
		if last.client == r.client && last.end() >= r.clock {
			last.length = max(last.end(), r.end()) - last.clock
			continue
		}
		n++
		set[n] = r
	}
	*ds = set[:n+1]
}

// contains reports whether the unit is in the set, which must be normal.
func (ds deleteSet) contains(client ClientID, clock uint64) bool {
	i, _ := slices.BinarySearchFunc(ds, idRange{client: client, clock: clock}, compareRanges)
	if i < len(ds) && ds[i].client == client && ds[i].clock == clock {
		return true
	}
	return i > 0 && ds[i-1].client == client && clock < ds[i-1].end()
}

// appendTo appends the wire form of a normal set.
func (ds deleteSet) appendTo(dst []byte) []byte {
	clients := 0
	for i := range ds {
		if i == 0 || ds[i].client != ds[i-1].client {
			clients++
		}
	}
	dst = lib0.AppendUint(dst, uint64(clients))
	for len(ds) > 0 {
		n := 1
		for n < len(ds) && ds[n].client == ds[0].client {
			n++
		}
		dst = lib0.AppendUint(dst, uint64(ds[0].client))
		dst = lib0.AppendUint(dst, uint64(n))
		for _, r := range ds[:n] {
			dst = lib0.AppendUint(dst, r.clock)
			dst = lib0.AppendUint(dst, r.length)
		}
		ds = ds[n:]
	}
	return dst
}

// readDeleteSet reads a delete set in wire order; ranges of length 0 are left out.
func readDeleteSet(r *lib0.Reader) deleteSet {
	var ds deleteSet
	for clients := r.Uint(); clients > 0 && r.Err() == nil; clients-- {
		client := ClientID(r.Uint())
		n := r.Uint()
		if n > uint64(r.Len()/2) {
			r.Fail(lib0.ErrTruncated)
			return nil
		}
		ds = slices.Grow(ds, int(n))
		for ; n > 0 && r.Err() == nil; n-- {
			clock, length := r.Uint(), r.Uint()
			if clock+length > maxInt {
				r.Fail(lib0.ErrRange)
				return nil
			}
			if length > 0 {
				ds = append(ds, idRange{client, clock, length})
			}
		}
	}
	if r.Err() != nil {
		return nil
	}
	return ds
}
