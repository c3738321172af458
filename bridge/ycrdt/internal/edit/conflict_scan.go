package edit

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
)

// A conflictScan records the items that a scan for conflicts has passed. Scans are short unless many clients type at
// one place, so it searches the first few items without a map.
type conflictScan struct {
	first []structs.Ref
	rest  map[structs.Ref]int
}

const maxFirst = 16

func (c *conflictScan) reset() {
	if c.first = c.first[:0]; len(c.rest) > 0 {
		clear(c.rest)
	}
}

func (c *conflictScan) len() int { return len(c.first) + len(c.rest) }

func (c *conflictScan) add(r structs.Ref) {
	if len(c.first) < maxFirst {
		c.first = append(c.first, r)
		return
	}
	if c.rest == nil {
		c.rest = make(map[structs.Ref]int)
	}
	c.rest[r] = c.len()
}

func (c *conflictScan) ordinal(r structs.Ref) (_ int, passed bool) {
	if i := slices.Index(c.first, r); i >= 0 {
		return i, true
	}
	n, passed := c.rest[r]
	return n, passed
}
