package ycrdt

// maxPending bounds, in bytes, what a document keeps of updates that it cannot
// integrate yet.
const maxPending = 8 << 20

// pendingStructs is an update without deletes whose structs could not be
// integrated, and the clocks of which at least one must be known before
// another attempt makes sense.
type pendingStructs struct {
	update  []byte
	missing StateVector
}

// pendingUpdates is what waits for updates that are missing. The structs are
// merged into one update only when somebody needs that.
type pendingUpdates struct {
	updates [][]byte
	bytes   int
	missing StateVector
	deletes deleteSet // normal
}

func (p *pendingUpdates) size() int { return p.bytes + 24*len(p.deletes) }

// ready reports whether a clock that was missing is known now.
func (p *pendingUpdates) ready(s *store) bool {
	for client, clock := range p.missing {
		if clock < s.state(client) {
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
	p.bytes += len(rest.update)
	if p.missing == nil {
		p.missing = make(StateVector)
	}
	for client, clock := range rest.missing {
		if known, ok := p.missing[client]; !ok || clock < known {
			p.missing[client] = clock
		}
	}
}

// structs returns all pending structs as one update, nil if there are none.
func (p *pendingUpdates) structs() []byte {
	if len(p.updates) > 1 {
		merged := mergeScanned(p.updates)
		p.updates = append(p.updates[:0], merged)
		p.bytes = len(merged)
	}
	if len(p.updates) == 0 {
		return nil
	}
	return p.updates[0]
}

// take removes and returns all pending structs.
func (p *pendingUpdates) take() *scannedUpdate {
	data := p.structs()
	p.updates, p.bytes, p.missing = nil, 0, nil
	u, err := scanUpdate(data)
	if err != nil {
		panic("ycrdt: pending update is damaged: " + err.Error())
	}
	return u
}
