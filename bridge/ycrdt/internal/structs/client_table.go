package structs

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A Client is an entry of the client table. Index 0 is not used.
//
// An item stores the table index of its client and the low 32 bits of its clock. A history may have more than 2^32
// units, which a hostile update can claim in a few bytes. Such a history has one more entry for each block of 2^32
// clocks to which an item refers. That entry only translates: Base is the start of its block, and Home the entry that
// has the history. Two IDs are equal exactly if their table indexes and low bits are equal.
type Client struct {
	ID     wire.ClientID
	Base   uint64 // added to the 32 bits of an item's clock
	Home   uint32
	Next   uint64 // the next expected clock
	Before uint64 // Next at the start of transaction Epoch
	Epoch  uint64
	Index  ClockIndex
}

// linearClients is the maximum number of clients for which a lookup walks the table. Most documents have fewer clients
// and need no map.
const linearClients = 8

type ClientTable struct {
	Clients []Client // entry 0 is not used
	index   map[wire.ClientID]uint32
	wide    map[wideKey]uint32
}

type wideKey struct {
	home  uint32
	block uint64
}

// LookupClient returns the table index of id, or 0.
func (t *ClientTable) LookupClient(id wire.ClientID) uint32 {
	if t.index != nil {
		return t.index[id]
	}
	for i := 1; i < len(t.Clients); i++ {
		if t.Clients[i].ID == id {
			return uint32(i)
		}
	}
	return 0
}

func (t *ClientTable) AddClient(id wire.ClientID) uint32 {
	if i := t.LookupClient(id); i != 0 {
		return i
	}
	i := uint32(len(t.Clients))
	t.Clients = append(t.Clients, Client{ID: id, Home: i})
	if t.index != nil {
		t.index[id] = i
	} else if len(t.Clients) > linearClients {
		t.index = make(map[wire.ClientID]uint32, 2*linearClients)
		for j, c := range t.Clients[1:] {
			t.index[c.ID] = t.Clients[j+1].Home
		}
	}
	return i
}

// Narrow returns the form in which an item stores a clock of the client with the table index home: a table index for
// the clock's block, and the low 32 bits of the clock.
func (t *ClientTable) Narrow(home uint32, clock uint64) (index, low uint32) {
	if clock>>32 != 0 {
		home = t.wideEntry(home, clock>>32)
	}
	return home, uint32(clock)
}

func (t *ClientTable) wideEntry(home uint32, block uint64) uint32 {
	key := wideKey{home, block}
	if i, ok := t.wide[key]; ok {
		return i
	}
	i := uint32(len(t.Clients))
	t.Clients = append(t.Clients, Client{ID: t.Clients[home].ID, Base: block << 32, Home: home})
	if t.wide == nil {
		t.wide = make(map[wideKey]uint32)
	}
	t.wide[key] = i
	return i
}

func (t *ClientTable) State(id wire.ClientID) uint64 {
	if i := t.LookupClient(id); i != 0 {
		return t.Clients[i].Next
	}
	return 0
}

// ActiveClients returns the table indexes of all clients with a history, beginning with the highest client ID.
func (t *ClientTable) ActiveClients() []uint32 {
	var active []uint32
	for i := 1; i < len(t.Clients); i++ {
		if t.Clients[i].Next > 0 {
			active = append(active, uint32(i))
		}
	}
	t.SortDescending(active)
	return active
}

func (t *ClientTable) SortDescending(clients []uint32) {
	slices.SortFunc(clients, func(a, b uint32) int {
		if t.Clients[a].ID > t.Clients[b].ID {
			return -1
		}
		return 1
	})
}

func (t *ClientTable) StateVector() wire.StateVector {
	sv := make(wire.StateVector, len(t.Clients))
	for i := 1; i < len(t.Clients); i++ {
		if c := &t.Clients[i]; c.Next > 0 {
			sv[c.ID] = c.Next
		}
	}
	return sv
}

func (t *ClientTable) ClockOf(it *Item) uint64 {
	return t.Clients[it.Client].Base | uint64(it.Clock)
}

func (t *ClientTable) EndOf(it *Item) uint64 { return t.ClockOf(it) + it.Units() }

func (t *ClientTable) HomeOf(it *Item) uint32 { return t.Clients[it.Client].Home }

func (t *ClientTable) IDOf(it *Item) wire.ID {
	c := &t.Clients[it.Client]
	return wire.ID{Client: c.ID, Clock: c.Base | uint64(it.Clock)}
}

func (t *ClientTable) SetClock(it *Item, home uint32, clock uint64) {
	it.Client, it.Clock = t.Narrow(home, clock)
}
