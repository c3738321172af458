package ytypes

import "slices"

// A Change collects what a transaction changed in an observed branch.
type Change struct {
	List bool
	Keys []int32
}

// NoteChange notes that the list (parent > 0) or a key (parent < 0) has changed.
func (b *Branch) NoteChange(parent int32) {
	if b.Change == nil {
		b.Change = &Change{}
	}
	if parent > 0 {
		b.Change.List = true
	} else if !slices.Contains(b.Change.Keys, -parent) {
		b.Change.Keys = append(b.Change.Keys, -parent)
	}
}

// An Observer computes the event of a transaction for one callback. It runs
// while the document is locked; what it returns is called later, unlocked.
type Observer struct {
	Event func(*Branch) func()
}
