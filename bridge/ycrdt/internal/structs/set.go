package structs

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// A Set holds the structs of a document and the history of each client: Yjs's StructStore.
type Set struct {
	ClientTable
	Slab
	Arena Arena
}

func NewSet() Set {
	return Set{
		ClientTable: ClientTable{Clients: make([]Client, 1), index: make(map[wire.ClientID]uint32)},
		Slab:        Slab{Items: make([]Item, 1)},
	}
}

// Reserve reserves exactly the memory for the given numbers of structs and content bytes if these are most of the
// document (see reserved). So a loaded document that is not edited needs little more memory than its bytes.
func (s *Set) Reserve(structs, bytes int) {
	s.Items, s.Arena.bytes = reserved(s.Items, structs), reserved(s.Arena.bytes, bytes)
}

// Mergeable reports whether the structs l and r, which are adjacent in the history of one client, must become one
// struct.
func (s *Set) Mergeable(l, r Ref) bool {
	left, right := &s.Items[l], &s.Items[r]
	if left.Kind != right.Kind {
		return false
	}
	if left.Kind == wire.KindGC {
		return true
	}
	return left.Right == r &&
		left.Flags == right.Flags &&
		left.RightOrigin == right.RightOrigin && left.RightClock == right.RightClock &&
		mergeableKind(left.Kind) &&
		right.Origin != 0 && s.FollowsOn(left, right)
}

func (s *Set) FollowsOn(left, right *Item) bool {
	return right.Origin == left.Client && uint64(right.OriginClock) == left.End()-1
}
