package ytypes

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

type Store struct {
	structs.Set

	Branches     []*Branch // branch 0 is not used
	Roots        map[string]*Branch
	Entries      []Entry // entry 0 is not used
	freeBranches []int32
	freeEntries  []int32

	Epoch uint64 // epoch of the running or last transaction
}

func New() *Store {
	return &Store{
		Set:      structs.NewSet(),
		Branches: make([]*Branch, 1),
		Entries:  make([]Entry, 1),
		Roots:    make(map[string]*Branch),
	}
}

// Memory estimates the memory of the document in bytes, without its content.
func (s *Store) Memory() int {
	return len(s.Items)*wire.StructMemory + len(s.Branches)*wire.TypeMemory + (len(s.Entries)+len(s.Roots))*wire.NameMemory + len(s.Clients)*wire.ClientMemory
}

// Compact releases the space that merging and deleting have left unused, if there is enough of it.
func (s *Store) Compact() {
	s.CompactArena()
	moved := s.CompactItems()
	if moved == nil {
		return
	}
	for _, b := range s.Branches {
		if b != nil {
			b.Start, b.Item, b.Positions = moved[b.Start], moved[b.Item], nil
		}
	}
	for i := range s.Entries {
		s.Entries[i].Head = moved[s.Entries[i].Head]
	}
}
