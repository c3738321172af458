package ytypes

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"

// Check verifies that x lists exactly the list that begins with start. Only tests call it.
func (x *Index) Check(s *structs.Slab, start structs.Ref) error {
	var c structs.Checker
	r := start
	for pos, bi := range x.order {
		bl := &x.blocks[bi]
		c.Assert(int(bl.pos) == pos, "block %d is at %d, want %d", bi, bl.pos, pos)
		inBlock := 0
		for i, l := range bl.leaves[:bl.n] {
			lf := &x.leaves[l]
			inLeaf := 0
			for k, got := range lf.refs[:lf.n] {
				c.Assert(got == r && s.LeafOf[got] == l, "leaf %d has item %d, want %d", l, got, r)
				c.Assert(lf.units[k] == s.Items[got].VisibleUnits(), "leaf %d: item %d has %d units", l, got, lf.units[k])
				inLeaf += int(lf.units[k])
				r = s.Items[r].Right
			}
			c.Assert(lf.block == bi && lf.sum == inLeaf && bl.sums[i] == inLeaf, "leaf %d has sum %d, want %d", l, lf.sum, inLeaf)
			inBlock += inLeaf
		}
		c.Assert(x.sums[pos] == inBlock, "block %d has sum %d, want %d", bi, x.sums[pos], inBlock)
	}
	c.Assert(r == 0, "item %d is in no leaf", r)
	return c.Err
}
