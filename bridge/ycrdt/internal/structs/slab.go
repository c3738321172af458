package structs

type Slab struct {
	Items     []Item // item 0 is not used
	free      Ref    // head of the list of free slots, linked by right
	freeCount int
	LeafOf    []int32 // leaf of each item in the position index of its list; nil until an index is built
}

func (s *Slab) NewItem() Ref {
	if r := s.free; r != 0 {
		s.free = s.Items[r].Right
		s.freeCount--
		s.Items[r] = Item{}
		return r
	}
	s.Items = append(s.Items, Item{})
	if s.LeafOf != nil {
		s.LeafOf = append(s.LeafOf, 0)
	}
	return Ref(len(s.Items) - 1)
}

// FreeItem releases the slot r. There must be no references to it.
func (s *Slab) FreeItem(r Ref) {
	if int(r) == len(s.Items)-1 {
		s.Items = s.Items[:r]
		if s.LeafOf != nil {
			s.LeafOf = s.LeafOf[:r]
		}
		return
	}
	s.Items[r] = Item{Kind: KindFree, Right: s.free}
	s.free = r
	s.freeCount++
}

func (s *Slab) Used() int { return len(s.Items) - s.freeCount }

// reserved returns list with exactly enough capacity for n more elements if these are most of the final list. Otherwise
// it returns list unchanged.
func reserved[T any](list []T, n int) []T {
	need := len(list) + n
	if need <= cap(list) || len(list) >= need/4 {
		return list
	}
	return append(make([]T, 0, need), list...)
}
