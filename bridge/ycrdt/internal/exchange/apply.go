package exchange

import (
	"cmp"
	"slices"
	"sort"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/edit"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/structs"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/ytypes"
)

// Updates integrates updates into a store, encodes them, and holds back updates that depend on missing updates.
type Updates struct {
	store   *ytypes.Store
	tx      *edit.Txn
	pending pendingUpdates
}

func New(store *ytypes.Store, tx *edit.Txn) Updates { return Updates{store: store, tx: tx} }

// Waiting estimates the number of bytes that wait for missing updates.
func (a *Updates) Waiting() int { return a.pending.size() }

// Apply checks and integrates an update. After an error the store is unchanged.
func (a *Updates) Apply(update []byte) error {
	u, err := wire.Scan(update)
	if err == nil {
		err = a.accepts(u)
	}
	if err == nil {
		a.apply(u)
	}
	return err
}

// maxMemory is the maximum estimated memory of a document in bytes, without its content. It allows sixteen million
// structs, or a million clients. Yjs merges text that was typed without moving the cursor into one struct, so a note of
// 16 MiB has far fewer.
const maxMemory = 1 << 30

// accepts returns an error if there is not enough room for u.
func (a *Updates) accepts(u *wire.Update) error {
	s := a.store
	if s.Arena.Len()+len(u.Data) > structs.MaxArena || s.Memory()+u.Memory > maxMemory {
		return ErrTooLarge
	}
	if a.pending.size()+len(u.Data)+rangeSize*len(u.Deletes) <= maxPending {
		return nil
	}
	plan := newPlanner(s, nil)
	waiting := len(plan.run(u).update)
	for _, r := range u.Deletes {
		if r.End() > plan.state(r.Client) {
			waiting += rangeSize
		}
	}
	if a.pending.size()+waiting > maxPending {
		return ErrPendingLimit
	}
	return nil
}

func (a *Updates) apply(u *wire.Update) {
	tx, pending := a.tx, &a.pending
	for u != nil {
		tx.Store.Reserve(u.Structs, u.Content)
		tx.Deletes = slices.Grow(tx.Deletes, len(u.Deletes))
		plan := newPlanner(tx.Store, tx)
		rest := plan.run(u)
		retry := pending.ready(tx.Store)
		pending.addStructs(rest)
		pending.deletes = append(tx.DeleteRanges(u.Deletes), tx.DeleteRanges(pending.deletes)...)
		pending.deletes.Normalize()
		u = nil
		if retry {
			u = pending.take()
		}
	}
}

// A planner orders the structs of an update so that each comes after the structs to which it refers, and integrates
// them. Without tx it only finds the structs that cannot be integrated. This is possible without a document because
// references are clocks, so the order depends only on the clocks of all clients.
//
// The order is that of Yjs (integrateStructs), which begins with the highest client. A struct that refers to another
// client's section of the same update waits on a stack until that section has advanced far enough.
type planner struct {
	store   *ytypes.Store
	data    []byte // the update
	tx      *edit.Txn
	ahead   map[wire.ClientID]uint64 // only without tx: the clocks that the plan has advanced
	cursors []cursor
	stack   []int
	missing wire.StateVector
	rest    []*cursor // sections that cannot continue
}

func newPlanner(s *ytypes.Store, tx *edit.Txn) planner {
	p := planner{store: s, tx: tx}
	if tx == nil {
		p.ahead = make(map[wire.ClientID]uint64)
	}
	return p
}

// A cursor is the progress within one section.
type cursor struct {
	wire.StructReader
	head   wire.Struct
	loaded bool   // whether head has the next struct
	home   uint32 // table index of the client; 0 until it is known
	stuck  bool   // whether the section cannot continue
	waits  bool   // whether the section is on the stack
}

func (c *cursor) done() bool { return c.stuck || (!c.loaded && c.Left == 0) }

func (c *cursor) peek() *wire.Struct {
	if !c.loaded {
		c.Next(&c.head)
		c.loaded = true
	}
	return &c.head
}

// run integrates as many structs as possible and returns the rest as an update without deletes.
func (p *planner) run(u *wire.Update) pendingStructs {
	p.data = u.Data
	p.cursors = make([]cursor, len(u.Sections))
	for i, sec := range u.Sections {
		c := &p.cursors[i]
		c.Reader = lib0.NewReader(u.Data)
		c.Seek(sec.Off)
		c.Client, c.Clock, c.Left = sec.Client, sec.Clock, sec.Count
	}
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

func (p *planner) push(i int) {
	p.stack = append(p.stack, i)
	p.cursors[i].waits = true
}

func (p *planner) step() {
	c := &p.cursors[p.stack[len(p.stack)-1]]
	w := c.peek()
	if w.Kind() != wire.KindSkip && w.Length > 0 {
		state := p.stateAt(c)
		if w.ID.Clock > state {
			p.wait(w.ID.Client, w.ID.Clock-1)
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
		if w.End() > state {
			p.integrate(c, state-w.ID.Clock)
		} else if p.tx != nil {
			p.splitOrigins(w)
		}
	}
	c.loaded, c.waits = false, false
	p.stack = p.stack[:len(p.stack)-1]
}

// wait sets aside all sections on the stack until the document has the unit (client, clock).
func (p *planner) wait(client wire.ClientID, clock uint64) {
	if p.missing == nil {
		p.missing = make(wire.StateVector)
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

func (p *planner) sectionOf(client wire.ClientID) int {
	i := sort.Search(len(p.cursors), func(i int) bool { return p.cursors[i].Client <= client })
	if i == len(p.cursors) || p.cursors[i].Client != client || p.cursors[i].done() {
		return -1
	}
	return i
}

// dependency returns the client of an ID that w refers to and the store does not have yet. References to w's own
// client need no check.
func (p *planner) dependency(w *wire.Struct) (wire.ClientID, bool) {
	if w.Info&wire.InfoOrigin != 0 && p.lacks(w.Origin, w.ID.Client) {
		return w.Origin.Client, true
	}
	if w.Info&wire.InfoRight != 0 && p.lacks(w.Right, w.ID.Client) {
		return w.Right.Client, true
	}
	if w.Kind() != wire.KindGC && !w.InheritsParent() && !w.InRoot && p.lacks(w.Parent, w.ID.Client) {
		return w.Parent.Client, true
	}
	return 0, false
}

func (p *planner) lacks(id wire.ID, own wire.ClientID) bool {
	return id.Client != own && id.Clock >= p.state(id.Client)
}

func (p *planner) state(client wire.ClientID) uint64 {
	if p.tx == nil {
		if clock, ok := p.ahead[client]; ok {
			return clock
		}
	}
	return p.store.State(client)
}

func (p *planner) stateAt(c *cursor) uint64 {
	if c.home != 0 {
		return p.store.Clients[c.home].Next
	}
	return p.state(c.Client)
}

func (p *planner) integrate(c *cursor, offset uint64) {
	w := &c.head
	if p.tx == nil {
		p.ahead[w.ID.Client] = w.End()
		return
	}
	if c.home == 0 {
		c.home = p.store.AddClient(w.ID.Client)
	}
	p.integrateStruct(w, c.home, offset)
}

// collectRest encodes the structs that must wait, with the same bytes as in the update.
func (p *planner) collectRest() pendingStructs {
	if len(p.rest) == 0 {
		return pendingStructs{}
	}
	slices.SortFunc(p.rest, func(a, b *cursor) int { return cmp.Compare(b.Client, a.Client) })
	out := lib0.AppendUint(nil, uint64(len(p.rest)))
	for _, c := range p.rest {
		from, count := c.peek().From, c.Left+1
		out = lib0.AppendUint(out, count)
		out = lib0.AppendUint(out, uint64(c.Client))
		out = lib0.AppendUint(out, c.head.ID.Clock)
		var w wire.Struct
		for c.Left > 0 {
			c.Next(&w)
		}
		out = append(out, c.Slice(from, c.Offset())...)
	}
	return pendingStructs{update: append(out, 0), missing: p.missing}
}
