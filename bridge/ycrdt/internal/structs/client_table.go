package structs

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A Client is an entry of the client table. Index 0 is not used.
type Client struct {
	ID     wire.ClientID
	Next   uint64 // the next expected clock
	Before uint64 // Next at the start of transaction Epoch
	Epoch  uint64
	Index  ClockIndex
}

type ClientTable struct {
	Clients []Client // entry 0 is not used
	index   map[wire.ClientID]uint32
}

// LookupClient returns the table index of id, or 0.
func (t *ClientTable) LookupClient(id wire.ClientID) uint32 { return t.index[id] }

func (t *ClientTable) AddClient(id wire.ClientID) uint32 {
	if i := t.LookupClient(id); i != 0 {
		return i
	}
	i := uint32(len(t.Clients))
	t.Clients = append(t.Clients, Client{ID: id})
	t.index[id] = i
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
	slices.SortFunc(clients, func(a, b uint32) int { return cmp.Compare(t.Clients[b].ID, t.Clients[a].ID) })
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

func (t *ClientTable) IDOf(it *Item) wire.ID {
	return wire.ID{Client: t.Clients[it.Client].ID, Clock: it.From()}
}
