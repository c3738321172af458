package ycrdt

import "slices"

// A client is an entry of the client table. Index 0 is not used.
//
// Items name clients by table index and keep the low 32 bits of a clock. A
// history of more than 2^32 units, which a hostile update can claim in a few
// bytes, gets one further entry for each block of 2^32 clocks that some item
// names. Such an entry only translates: base is the start of its block and home
// the entry that holds the history. Two IDs are equal exactly if table index
// and low bits are.
type client struct {
	id     ClientID
	base   uint64 // added to the 32 bits of an item's clock
	home   uint32
	next   uint64 // the clock expected next
	before uint64 // next at the start of transaction epoch
	epoch  uint64
	index  clockIndex
}

// linearClients is how many clients are looked up by walking the table. Most
// documents have fewer, and then need no map.
const linearClients = 8

type wideKey struct {
	home  uint32
	block uint64
}

// lookupClient returns the table index of id, 0 if it is not in the table.
func (s *store) lookupClient(id ClientID) uint32 {
	if s.clientIndex != nil {
		return s.clientIndex[id]
	}
	for i := 1; i < len(s.clients); i++ {
		if s.clients[i].id == id {
			return uint32(i)
		}
	}
	return 0
}

// addClient returns the table index of id, making an entry if there is none.
func (s *store) addClient(id ClientID) uint32 {
	if i := s.lookupClient(id); i != 0 {
		return i
	}
	i := uint32(len(s.clients))
	s.clients = append(s.clients, client{id: id, home: i})
	if s.clientIndex != nil {
		s.clientIndex[id] = i
	} else if len(s.clients) > linearClients {
		s.clientIndex = make(map[ClientID]uint32, 2*linearClients)
		for j, c := range s.clients[1:] {
			s.clientIndex[c.id] = s.clients[j+1].home
		}
	}
	return i
}

// narrow returns the table index and the low bits by which an item names the
// clock of the client home.
func (s *store) narrow(home uint32, clock uint64) (index, low uint32) {
	if clock>>32 != 0 {
		home = s.wideEntry(home, clock>>32)
	}
	return home, uint32(clock)
}

func (s *store) wideEntry(home uint32, block uint64) uint32 {
	key := wideKey{home, block}
	if i, ok := s.wide[key]; ok {
		return i
	}
	i := uint32(len(s.clients))
	s.clients = append(s.clients, client{id: s.clients[home].id, base: block << 32, home: home})
	if s.wide == nil {
		s.wide = make(map[wideKey]uint32)
	}
	s.wide[key] = i
	return i
}

// state returns the clock that is expected next of client id.
func (s *store) state(id ClientID) uint64 {
	if i := s.lookupClient(id); i != 0 {
		return s.clients[i].next
	}
	return 0
}

// activeClients returns the table indexes of all clients that have a history,
// highest client id first.
func (s *store) activeClients() []uint32 {
	var active []uint32
	for i := 1; i < len(s.clients); i++ {
		if s.clients[i].next > 0 {
			active = append(active, uint32(i))
		}
	}
	s.sortDescending(active)
	return active
}

func (s *store) sortDescending(clients []uint32) {
	slices.SortFunc(clients, func(a, b uint32) int {
		if s.clients[a].id > s.clients[b].id {
			return -1
		}
		return 1
	})
}

func (s *store) stateVector() StateVector {
	sv := make(StateVector, len(s.clients))
	for i := 1; i < len(s.clients); i++ {
		if c := &s.clients[i]; c.next > 0 {
			sv[c.id] = c.next
		}
	}
	return sv
}
