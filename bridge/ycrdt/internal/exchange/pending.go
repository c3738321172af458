package exchange

import (
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// maxPending is the maximum total size, in bytes, of the updates that a document holds back.
const maxPending = 8 << 20

// pendingStructs is an update without deletions whose structs could not be integrated. At least one of the clocks in
// missing must arrive before a retry can succeed.
type pendingStructs struct {
	update  []byte
	missing wire.StateVector
}

// pendingUpdates is the data that waits for missing updates. Each element of updates is more than twice as long as the
// next one. So there are few elements, and each byte is merged only a few times even if many updates arrive.
type pendingUpdates struct {
	updates [][]byte
	bytes   int // total size of updates
	missing wire.StateVector
	deletes wire.DeleteSet // in normal form
}

// rangeSize is the size in bytes that is counted for a pending delete range.
const rangeSize = 24

func (p *pendingUpdates) size() int { return p.bytes + rangeSize*len(p.deletes) }

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

func (p *pendingUpdates) take() *wire.Update {
	data := p.structs()
	p.updates, p.bytes, p.missing = nil, 0, nil
	u, err := wire.Scan(data)
	if err != nil {
		panic("ycrdt: pending update is damaged: " + err.Error())
	}
	return u
}
