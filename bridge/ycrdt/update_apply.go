package ycrdt

import (
	"slices"
	"sort"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// ApplyUpdate integrates an update of format V1: what [Doc.EncodeStateAsUpdate],
// [Doc.OnUpdate], [MergeUpdates] or [DiffUpdate] returned here, or their
// namesakes in Yjs. Applying an update twice, or updates in any order, is fine:
// what refers to updates that are missing is kept until they arrive.
//
// When an error is returned, which wraps [ErrMalformed] or is [ErrUpdateV2],
// [ErrPendingLimit] or [ErrTooLarge], nothing has changed.
//
// The document keeps no reference to update. origin is handed on to observers
// and update listeners.
func (d *Doc) ApplyUpdate(update []byte, origin any) error {
	if done, err := d.applyFirst(update, origin); done {
		return err
	}
	u, err := scanUpdate(update)
	if err != nil {
		return err
	}
	return d.applyScanned(u, origin)
}

func (d *Doc) applyScanned(u *scannedUpdate, origin any) error {
	d.mu.Lock()
	defer d.events.deliver()
	defer d.mu.Unlock()
	if err := d.store.accepts(u); err != nil {
		return err
	}
	d.txn.begin(origin, false)
	d.txn.apply(u)
	d.finish()
	return nil
}

// accepts reports whether there is room for everything in u.
func (s *store) accepts(u *scannedUpdate) error {
	if len(s.arena)+len(u.data) > maxArena {
		return ErrTooLarge
	}
	if s.pending.size()+len(u.data)+rangeSize*len(u.deletes) <= maxPending {
		return nil
	}
	plan := planner{store: s, ahead: make(map[ClientID]uint64)}
	waiting := len(plan.run(u).update)
	for _, r := range u.deletes {
		if r.end() > plan.state(r.client) {
			waiting += rangeSize
		}
	}
	if s.pending.size()+waiting > maxPending {
		return ErrPendingLimit
	}
	return nil
}

// apply integrates u and everything that has waited for it.
func (tx *Txn) apply(u *scannedUpdate) {
	pending := &tx.store.pending
	for u != nil {
		tx.store.reserve(u.structs, u.content)
		tx.deletes = slices.Grow(tx.deletes, len(u.deletes))
		rest := (&planner{store: tx.store, tx: tx}).run(u)
		retry := pending.ready(tx.store)
		pending.addStructs(rest)
		pending.deletes = append(tx.applyDeletes(u.deletes), tx.applyDeletes(pending.deletes)...)
		pending.deletes.normalize()
		u = nil
		if retry {
			u = pending.take()
		}
	}
}

// applyDeletes deletes the units of the normal set ds and returns those that
// are not in the store yet.
func (tx *Txn) applyDeletes(ds deleteSet) (rest deleteSet) {
	s := tx.store
	for _, r := range ds {
		home := s.lookupClient(r.client)
		next := uint64(0)
		if home != 0 {
			next = s.clients[home].next
		}
		if r.end() > next {
			from := max(r.clock, next)
			rest = append(rest, idRange{r.client, from, r.end() - from})
		}
		if r.clock < next {
			tx.deleteRange(home, r.clock, min(r.end(), next))
		}
	}
	return rest
}

// deleteRange deletes the units [clock, end) of a client, all of which exist.
func (tx *Txn) deleteRange(home uint32, clock, end uint64) {
	s := tx.store
	x := &s.clients[home].index
	p := s.find(x, clock)
	for ok := true; ok; p, ok = x.next(p) {
		r := x.at(p)
		from := s.clockOf(&s.items[r])
		if from >= end {
			return
		}
		if s.items[r].deleted() {
			continue
		}
		if from < clock {
			r, p = tx.split(home, p, clock-from)
			from = clock
		}
		if s.endOf(&s.items[r]) > end {
			tx.split(home, p, end-from)
			p = s.find(x, from)
		}
		tx.deleteItem(r)
	}
}

// A planner brings the structs of an update into an order in which each comes
// after those that it refers to, and integrates them. Without tx it only finds
// out which structs could not be integrated: references are to clocks, so the
// order depends on nothing but the clocks of all clients.
//
// The order is that of Yjs (integrateStructs): highest client first; a struct
// that refers to another client's section of the same update waits on a stack
// until that section has come far enough.
type planner struct {
	store   *store
	data    []byte // the update
	tx      *Txn
	ahead   map[ClientID]uint64 // without tx: clocks advanced by the plan
	cursors []cursor
	stack   []int
	missing StateVector
	rest    []*cursor // those that cannot go on
	known   [16]knownClient
}

// A cursor is the progress within one section.
type cursor struct {
	structReader
	head   wireStruct
	loaded bool // head holds the next struct
	home   uint32
	stuck  bool
	waits  bool // on the stack
}

func (c *cursor) done() bool { return c.stuck || (!c.loaded && c.left == 0) }

// peek makes head the next struct.
func (c *cursor) peek() *wireStruct {
	if !c.loaded {
		c.next(&c.head)
		c.loaded = true
	}
	return &c.head
}

// run integrates what it can and returns the rest as an update without deletes.
func (p *planner) run(u *scannedUpdate) pendingStructs {
	p.data = u.data
	p.cursors = make([]cursor, len(u.sections))
	for i, sec := range u.sections {
		c := &p.cursors[i]
		c.Reader = lib0.NewReader(u.data)
		c.Seek(sec.off)
		c.client, c.clock, c.left = sec.client, sec.clock, sec.count
	}
	return p.drain()
}

// drain integrates what it can of all sections and returns the rest.
func (p *planner) drain() pendingStructs {
	for i := range p.cursors {
		for !p.cursors[i].done() {
			p.push(i)
			for len(p.stack) > 0 {
				p.step()
			}
		}
	}
	return p.collectRest()
}

// push makes section i the next to go on with.
func (p *planner) push(i int) {
	p.stack = append(p.stack, i)
	p.cursors[i].waits = true
}

// step deals with the next struct of the section on top of the stack.
func (p *planner) step() {
	c := &p.cursors[p.stack[len(p.stack)-1]]
	w := c.peek()
	if c.check && c.Err() != nil {
		c.stuck, p.stack = true, p.stack[:0]
		return
	}
	if w.kind() != kindSkip && w.length > 0 {
		state := p.stateAt(c)
		if w.id.Clock > state {
			p.wait(w.id.Client, w.id.Clock-1)
			return
		}
		if client, ok := p.dependency(w); ok {
			if i := p.sectionOf(client); i >= 0 && !p.cursors[i].waits {
				p.push(i)
			} else {
				p.wait(client, p.state(client))
			}
			return
		}
		if w.end() > state {
			p.integrate(c, state-w.id.Clock)
		} else if p.tx != nil {
			p.noteCuts(w)
		}
	}
	c.loaded, c.waits = false, false
	p.stack = p.stack[:len(p.stack)-1]
}

// wait gives up on everything on the stack until the clock of client is known.
func (p *planner) wait(client ClientID, clock uint64) {
	if p.missing == nil {
		p.missing = make(StateVector)
	}
	if known, ok := p.missing[client]; !ok || clock < known {
		p.missing[client] = clock
	}
	for _, i := range p.stack {
		c := &p.cursors[i]
		c.stuck = true
		p.rest = append(p.rest, c)
	}
	p.stack = p.stack[:0]
}

// sectionOf returns the section of client that still has structs, -1 if there is none.
func (p *planner) sectionOf(client ClientID) int {
	i := sort.Search(len(p.cursors), func(i int) bool { return p.cursors[i].client <= client })
	if i == len(p.cursors) || p.cursors[i].client != client || p.cursors[i].done() {
		return -1
	}
	return i
}

// dependency returns the client of an ID that w refers to and that is not in
// the store yet. References to its own client need no check.
func (p *planner) dependency(w *wireStruct) (ClientID, bool) {
	if w.info&infoOrigin != 0 && p.lacks(w.origin, w.id.Client) {
		return w.origin.Client, true
	}
	if w.info&infoRight != 0 && p.lacks(w.right, w.id.Client) {
		return w.right.Client, true
	}
	if w.kind() != kindGC && !w.inheritsParent() && !w.inRoot && p.lacks(w.parent, w.id.Client) {
		return w.parent.Client, true
	}
	return 0, false
}

func (p *planner) lacks(id ID, own ClientID) bool {
	return id.Client != own && id.Clock >= p.state(id.Client)
}

func (p *planner) state(client ClientID) uint64 {
	if p.tx == nil {
		if clock, ok := p.ahead[client]; ok {
			return clock
		}
	}
	if home := p.lookup(client); home != 0 {
		return p.store.clients[home].next
	}
	return 0
}

// stateAt returns the state of the client of c.
func (p *planner) stateAt(c *cursor) uint64 {
	if c.home != 0 {
		return p.store.clients[c.home].next
	}
	return p.state(c.client)
}

// A knownClient is an entry of a small cache in front of the client table.
type knownClient struct {
	id   ClientID
	home uint32
}

func (p *planner) lookup(client ClientID) uint32 {
	k := &p.known[client%ClientID(len(p.known))]
	if k.home != 0 && k.id == client {
		return k.home
	}
	home := p.store.lookupClient(client)
	*k = knownClient{client, home}
	return home
}

func (p *planner) integrate(c *cursor, offset uint64) {
	w := &c.head
	if p.tx == nil {
		p.ahead[w.id.Client] = w.end()
		return
	}
	if c.home == 0 {
		c.home = p.store.addClient(w.id.Client)
	}
	p.integrateStruct(w, c.home, offset)
}

// collectRest encodes the structs that have to wait, as they stood in the update.
func (p *planner) collectRest() pendingStructs {
	if len(p.rest) == 0 {
		return pendingStructs{}
	}
	slices.SortFunc(p.rest, func(a, b *cursor) int {
		if a.client > b.client {
			return -1
		}
		return 1
	})
	out := lib0.AppendUint(nil, uint64(len(p.rest)))
	for _, c := range p.rest {
		from, count := c.peek().from, c.left+1
		out = lib0.AppendUint(out, count)
		out = lib0.AppendUint(out, uint64(c.client))
		out = lib0.AppendUint(out, c.head.id.Clock)
		var w wireStruct
		for c.left > 0 && c.Err() == nil {
			c.next(&w)
		}
		if c.Err() != nil {
			return pendingStructs{} // the caller sees the error
		}
		out = append(out, c.Slice(from, c.Offset())...)
	}
	return pendingStructs{update: append(out, 0), missing: p.missing}
}
