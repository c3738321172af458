package exchange

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// maxPending bounds, in bytes, what a document keeps of updates that it cannot integrate yet.
const maxPending = 8 << 20

// pendingStructs is an update without deletes whose structs could not be integrated, and the clocks of which at least one
// must be known before another attempt makes sense.
type pendingStructs struct {
	update  []byte
	missing wire.StateVector
}

// pendingUpdates is what waits for updates that are missing. Each of updates is more than twice as long as the next, so
// there are few, and a byte is merged only a few times however many updates arrive.
type pendingUpdates struct {
	updates [][]byte
	bytes   int // of updates
	missing wire.StateVector
	deletes wire.DeleteSet // normal
}

// rangeSize is what a pending delete range counts.
const rangeSize = 24

func (p *pendingUpdates) size() int { return p.bytes + rangeSize*len(p.deletes) }

// ready reports whether a clock that was missing is known now.
func (p *pendingUpdates) ready(s *ytypes.Store) bool {
	for client, clock := range p.missing {
		if clock < s.State(client) {
			return true
		}
	}
	return false
}

func (p *pendingUpdates) addStructs(rest pendingStructs) {
	if rest.update == nil {
		return
	}
	p.updates = append(p.updates, rest.update)
	for n := len(p.updates); n > 1 && len(p.updates[n-2]) <= 2*len(p.updates[n-1]); n-- {
		p.mergeFrom(n - 2)
	}
	p.count()
	if p.missing == nil {
		p.missing = make(wire.StateVector)
	}
	for client, clock := range rest.missing {
		if known, ok := p.missing[client]; !ok || clock < known {
			p.missing[client] = clock
		}
	}
}

// structs returns all pending structs as one update, nil if there are none.
func (p *pendingUpdates) structs() []byte {
	if len(p.updates) == 0 {
		return nil
	}
	if len(p.updates) > 1 {
		p.mergeFrom(0)
		p.count()
	}
	return p.updates[0]
}

// mergeFrom merges the updates from index i on into one.
func (p *pendingUpdates) mergeFrom(i int) {
	p.updates[i] = wire.MergeScanned(p.updates[i:])
	clear(p.updates[i+1:])
	p.updates = p.updates[:i+1]
}

func (p *pendingUpdates) count() {
	p.bytes = 0
	for _, u := range p.updates {
		p.bytes += len(u)
	}
}

// take removes and returns all pending structs.
func (p *pendingUpdates) take() *wire.Update {
	data := p.structs()
	p.updates, p.bytes, p.missing = nil, 0, nil
	u, err := wire.Scan(data)
	if err != nil {
		panic("ycrdt: pending update is damaged: " + err.Error())
	}
	return u
}
