package edit

import (
	"math"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
)

// A ConflictScan records the items that a scan for conflicts has passed. Scans are short unless many clients type at
// one place. Then each client's scan walks the text of all clients, so each step must be cheap: the scan numbers the
// items in a table next to the slab. Each scan continues the numbers of the previous one, so that the table does not
// have to be cleared.
type ConflictScan struct {
	n     int                   // number of items passed
	first [ScanList]structs.Ref // the first items passed
	Table []uint32              // base plus the ordinal of the item, by Ref
	Base  uint32                // lower numbers belong to earlier scans
}

// ScanList is the number of items that a ConflictScan searches without the table.
const ScanList = 16

func (c *ConflictScan) reset() {
	if c.n > ScanList {
		c.Base += uint32(c.n)
	}
	c.n = 0
}

func (c *ConflictScan) len() int { return c.n }

func (c *ConflictScan) add(r structs.Ref, slab int) {
	if c.n < ScanList {
		c.first[c.n] = r
		c.n++
		return
	}
	if c.n == ScanList {
		c.makeTable(slab)
	}
	c.Table[r] = c.Base + uint32(c.n)
	c.n++
}

func (c *ConflictScan) makeTable(slab int) {
	if len(c.Table) < slab {
		c.Table = make([]uint32, slab+slab/4)
		c.Base = 1
	}
	if c.Base > math.MaxUint32-uint32(slab) {
		clear(c.Table)
		c.Base = 1
	}
	for i, r := range c.first {
		c.Table[r] = c.Base + uint32(i)
	}
}

func (c *ConflictScan) ordinal(r structs.Ref) (_ int, passed bool) {
	if c.n > ScanList {
		return int(c.Table[r] - c.Base), c.Table[r] >= c.Base
	}
	i := slices.Index(c.first[:c.n], r)
	return i, i >= 0
}
