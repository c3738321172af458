package ytypes

import (
	"slices"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
)

// TypeUnknown is the type of a root until the application requests one.
const TypeUnknown = 255

// A Branch is the internal form of every shared type (AbstractType in Yjs). It has a list of children (text, array,
// XML) and keyed children (map, attributes). It has a name if it is a root of the document, and otherwise an item.
type Branch struct {
	Index     int32       // index in Store.Branches
	Item      structs.Ref // item whose content the branch is; 0 for a root
	Root      string      // name if the branch is a root
	TypeRef   uint8
	Start     structs.Ref // first item of the list, deleted or not
	Length    int         // number of visible units of the list
	keys      map[string]int32
	KeyOrder  []int32 // entries in the order of creation
	Name      []byte  // node name of XML elements and hooks
	Positions *Index
	Dead      bool // whether the branch was garbage collected
	Handle    any  // the application's handle of a nested type; nil until requested

	Changed   uint64               // epoch of the last transaction that changed the branch
	Committed atomic.Pointer[View] // nil if the branch has changed since it was last read
}

// An Entry is one key of a branch. Its items form a list, whose rightmost item has the current value.
type Entry struct {
	branch   int32
	Key      string
	Head     structs.Ref // the rightmost item, or 0 if there is none
	Conflict uint64      // epoch of the last transaction with a conflict; see ycrdt.Setter
}

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

func (s *Store) RootBranch(name []byte) *Branch {
	if b := s.Roots[string(name)]; b != nil {
		return b
	}
	b := s.NewBranch(TypeUnknown)
	b.Root = string(name)
	s.Roots[b.Root] = b
	return b
}

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

func (s *Store) BranchOf(it *structs.Item) *Branch {
	if it.Parent < 0 {
		return s.Branches[s.Entries[-it.Parent].branch]
	}
	return s.Branches[it.Parent]
}

// DropBranch removes b, whose children have become GC structs, from the store.
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

// HeadOf returns the last item of key, which may be deleted, or 0 if the key was never set.
func (s *Store) HeadOf(b *Branch, key string) structs.Ref {
	if e, ok := b.keys[key]; ok {
		return s.Entries[e].Head
	}
	return 0
}

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
