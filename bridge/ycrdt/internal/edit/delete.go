package edit

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// DeleteVisible deletes n visible units from position pos. If an end of the range cuts a surrogate pair, it deletes the
// whole pair.
func DeleteVisible(tx *Txn, b *ytypes.Branch, pos, n int) {
	s := tx.Store
	r, off := tx.Store.Locate(b, pos)
	switch {
	case r == 0:
		r = b.Start
	case off == int(s.Items[r].Length):
		r = s.Items[r].Right
	case s.Arena.InsidePair(&s.Items[r], off):
		DeleteVisible(tx, b, pos-1, n+1)
		return
	default:
		r = tx.SplitItem(r, uint64(off))
	}
	deleteFrom(tx, r, n)
}

func deleteFrom(tx *Txn, r structs.Ref, n int) {
	s := tx.Store
	for n > 0 && r != 0 {
		it := &s.Items[r]
		if it.VisibleUnits() > 0 {
			if n < int(it.Length) {
				if s.Arena.InsidePair(it, n) {
					n++
				}
				if n < int(it.Length) {
					tx.SplitItem(r, uint64(n))
				}
			}
			n -= int(s.Items[r].Length)
			tx.DeleteItem(r)
		}
		r = s.Items[r].Right
	}
}
