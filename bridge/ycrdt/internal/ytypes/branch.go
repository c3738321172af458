package ytypes

import (
	"slices"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
)

// TypeUnknown is the type of a root: whatever the application asks for.
const TypeUnknown = 255

// A Branch is the inner form of every shared type: what Yjs calls AbstractType. It has a list of children (text, array, XML)
// and keyed children (map, attributes), and either a name at the root of the document or an item.
type Branch struct {
	Index     int32       // in Store.Branches
	Item      structs.Ref // the item whose content this is, 0 for a root
	Root      string      // name of a root
	TypeRef   uint8
	Start     structs.Ref // first item of the list, deleted or not
	Length    int         // visible units of the list
	Formatted bool        // has or had Format items
	keys      map[string]int32
	KeyOrder  []int32 // entries in the order in which they were made
	Name      []byte  // node name of XML elements and hooks
	Positions *Index
	Dead      bool // garbage collected
	Handle    any  // what the application holds of a nested type, once it asked for it

	Changed   uint64               // epoch of the last transaction that changed it
	Committed atomic.Pointer[View] // nil if changed since it was last read
}

// An Entry is one key of a branch. Its items form a list of their own, the rightmost of which holds the current value.
type Entry struct {
	branch int32
	Key    string
	Head   structs.Ref // the rightmost item, 0 if there is none
}

// NewBranch returns a new branch without children.
func (s *Store) NewBranch(typeRef uint8) *Branch {
	b := &Branch{TypeRef: typeRef}
	if n := len(s.freeBranches); n > 0 {
		b.Index = s.freeBranches[n-1]
		s.freeBranches = s.freeBranches[:n-1]
		s.Branches[b.Index] = b
		return b
	}
	b.Index = int32(len(s.Branches))
	s.Branches = append(s.Branches, b)
	return b
}

// RootBranch returns the root called name, making it if there is none.
func (s *Store) RootBranch(name []byte) *Branch {
	if b := s.Roots[string(name)]; b != nil {
		return b
	}
	b := s.NewBranch(TypeUnknown)
	b.Root = string(name)
	s.Roots[b.Root] = b
	return b
}

// EntryFor returns the index of the entry for key in b, making it if there is none.
func (s *Store) EntryFor(b *Branch, key []byte) int32 {
	if e, ok := b.keys[string(key)]; ok {
		return e
	}
	var e int32
	if n := len(s.freeEntries); n > 0 {
		e = s.freeEntries[n-1]
		s.freeEntries = s.freeEntries[:n-1]
		s.Entries[e] = Entry{branch: b.Index, Key: string(key)}
	} else {
		e = int32(len(s.Entries))
		s.Entries = append(s.Entries, Entry{branch: b.Index, Key: string(key)})
	}
	if b.keys == nil {
		b.keys = make(map[string]int32)
	}
	b.keys[s.Entries[e].Key] = e
	b.KeyOrder = append(b.KeyOrder, e)
	return e
}

// BranchOf returns the branch that it belongs to, nil for a GC struct.
func (s *Store) BranchOf(it *structs.Item) *Branch {
	if it.Parent < 0 {
		return s.Branches[s.Entries[-it.Parent].branch]
	}
	return s.Branches[it.Parent]
}

// DropBranch forgets the children of b, which are GC structs now.
func (s *Store) DropBranch(b *Branch) {
	for _, e := range b.KeyOrder {
		s.Entries[e] = Entry{}
	}
	s.freeEntries = append(s.freeEntries, b.KeyOrder...)
	s.freeBranches = append(s.freeBranches, b.Index)
	s.Branches[b.Index] = nil
	b.Start, b.Length, b.keys, b.KeyOrder, b.Positions = 0, 0, nil, nil, nil
	b.Dead = true
	b.Committed.Store(nil)
}

// HeadOf returns the current item of key, 0 if the key was never set.
func (s *Store) HeadOf(b *Branch, key string) structs.Ref {
	if e, ok := b.keys[key]; ok {
		return s.Entries[e].Head
	}
	return 0
}

// SortedKeys returns the keys that have a value, sorted.
func (s *Store) SortedKeys(b *Branch) []string {
	keys := make([]string, 0, len(b.KeyOrder))
	for _, e := range b.KeyOrder {
		if h := s.Entries[e].Head; h != 0 && !s.Items[h].Deleted() {
			keys = append(keys, s.Entries[e].Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// FirstOf returns the leftmost item of the list that an item with this parent belongs to.
func (s *Store) FirstOf(parent int32) structs.Ref {
	if parent > 0 {
		return s.Branches[parent].Start
	}
	r := s.Entries[-parent].Head
	for r != 0 && s.Items[r].Left != 0 {
		r = s.Items[r].Left
	}
	return r
}
