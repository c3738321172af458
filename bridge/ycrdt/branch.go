package ycrdt

import (
	"slices"
	"sync/atomic"
)

// The type references of a shared type on the wire.
const (
	typeArray       = 0
	typeMap         = 1
	typeText        = 2
	typeXMLElement  = 3
	typeXMLFragment = 4
	typeXMLHook     = 5
	typeXMLText     = 6

	typeUnknown = 255 // a root, whose type is whatever the application asks for
)

// A branch is the inner form of every shared type: what Yjs calls AbstractType.
// It has a list of children (text, array, XML) and keyed children (map,
// attributes), and either a name at the root of the document or an item.
type branch struct {
	index     int32  // in store.branches
	item      ref    // the item whose content this is, 0 for a root
	root      string // name of a root
	typeRef   uint8
	start     ref  // first item of the list, deleted or not
	length    int  // visible units of the list
	formatted bool // has or had Format items
	keys      map[string]int32
	keyOrder  []int32 // entries in the order in which they were made
	name      []byte  // node name of XML elements and hooks
	positions *positionIndex
	dead      bool       // garbage collected
	handle    sharedType // of a nested type, once somebody asked for it

	changed   uint64 // epoch of the last transaction that changed it
	change    *branchChange
	observers observerList
	committed atomic.Pointer[textView] // nil if changed since it was last read
}

// An entry is one key of a branch. Its items form a list of their own, the
// rightmost of which holds the current value.
type entry struct {
	branch int32
	key    string
	head   ref // the rightmost item, 0 if there is none
}

func (s *store) newBranch(typeRef uint8) *branch {
	b := &branch{typeRef: typeRef}
	if n := len(s.freeBranches); n > 0 {
		b.index = s.freeBranches[n-1]
		s.freeBranches = s.freeBranches[:n-1]
		s.branches[b.index] = b
		return b
	}
	b.index = int32(len(s.branches))
	s.branches = append(s.branches, b)
	return b
}

// rootBranch returns the root called name, making it if there is none.
func (s *store) rootBranch(name []byte) *branch {
	if b := s.roots[string(name)]; b != nil {
		return b
	}
	b := s.newBranch(typeUnknown)
	b.root = string(name)
	s.roots[b.root] = b
	return b
}

// entryFor returns the index of the entry for key in b, making it if there is none.
func (s *store) entryFor(b *branch, key []byte) int32 {
	if e, ok := b.keys[string(key)]; ok {
		return e
	}
	var e int32
	if n := len(s.freeEntries); n > 0 {
		e = s.freeEntries[n-1]
		s.freeEntries = s.freeEntries[:n-1]
		s.entries[e] = entry{branch: b.index, key: string(key)}
	} else {
		e = int32(len(s.entries))
		s.entries = append(s.entries, entry{branch: b.index, key: string(key)})
	}
	if b.keys == nil {
		b.keys = make(map[string]int32)
	}
	b.keys[s.entries[e].key] = e
	b.keyOrder = append(b.keyOrder, e)
	return e
}

// branchOf returns the branch that it belongs to, nil for a GC struct.
func (s *store) branchOf(it *item) *branch {
	if it.parent < 0 {
		return s.branches[s.entries[-it.parent].branch]
	}
	return s.branches[it.parent]
}

// dropBranch forgets the children of b, which are GC structs now.
func (s *store) dropBranch(b *branch) {
	for _, e := range b.keyOrder {
		s.entries[e] = entry{}
	}
	s.freeEntries = append(s.freeEntries, b.keyOrder...)
	s.freeBranches = append(s.freeBranches, b.index)
	s.branches[b.index] = nil
	b.start, b.length, b.keys, b.keyOrder, b.positions = 0, 0, nil, nil, nil
	b.dead = true
	b.committed.Store(nil)
}

// headOf returns the current item of key, 0 if the key was never set.
func (s *store) headOf(b *branch, key string) ref {
	if e, ok := b.keys[key]; ok {
		return s.entries[e].head
	}
	return 0
}

// sortedKeys returns the keys that have a value, sorted.
func (s *store) sortedKeys(b *branch) []string {
	keys := make([]string, 0, len(b.keyOrder))
	for _, e := range b.keyOrder {
		if h := s.entries[e].head; h != 0 && !s.items[h].deleted() {
			keys = append(keys, s.entries[e].key)
		}
	}
	slices.Sort(keys)
	return keys
}
