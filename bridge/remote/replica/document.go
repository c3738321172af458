package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// serverOrigin is the transaction origin of what came from the server, and
// storeOrigin of what came from the store.
type serverOrigin struct{}
type storeOrigin struct{}

// Document is one Yjs document: the folder's, a note's, or the drafts. It is in memory
// while it is used or connected; the store has everything else of it.
type Document struct {
	set  *Set
	id   model.DocID
	name string // at the server; "" for one that never leaves this machine
	note bool   // neither the folder's nor the drafts

	mu      sync.Mutex // protects the following; held while the document changes
	doc     *ycrdt.Doc // nil while it is not in memory
	made    [][]byte   // updates of the change that is under way
	arrived [][]byte   // updates from the server that the store does not hold yet
	modTime time.Time
	version int64  // counts changes while the process lives
	last    uint64 // sequence number of the last record made here
	used    time.Time
	// registered: the document knows whose changes this process makes.
	registered bool
	// outbox is what the peer is to send, while there is one.
	outbox []outgoing
	peer   *Peer
}

// outgoing is one update made here; seq is its record's.
type outgoing struct {
	seq    uint64
	update []byte
}

// ID names the document in the store.
func (d *Document) ID() model.DocID { return d.id }

// Name names the document at the server.
func (d *Document) Name() string { return d.name }

// IsNote says that the document is neither the folder's nor the drafts.
func (d *Document) IsNote() bool { return d.note }

// ModTime is when the document was last changed.
func (d *Document) ModTime() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.modTime
}

// LastUsed is when somebody last read or changed the document; now if that is going on.
func (d *Document) LastUsed() time.Time {
	if !d.mu.TryLock() {
		return time.Now()
	}
	defer d.mu.Unlock()
	return d.used
}

// SetLast says which record was the last that was made here, before the process began.
func (d *Document) SetLast(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = seq
}

// Stamp names the document's state, in which its text has size bytes. Only what View or
// Change call may ask for it.
func (d *Document) Stamp(size int) model.Stamp {
	return model.Stamp{
		Device: uint64(d.set.o.Client), Size: int64(size), ModTime: d.modTime.UnixNano(), ChgTime: d.version,
	}
}

// load brings the document into memory. mu is held.
func (d *Document) load() error {
	d.used = time.Now()
	if d.doc != nil {
		return nil
	}
	h, err := d.set.o.Store.Load(d.id)
	if err != nil {
		return err
	}
	doc := ycrdt.NewDoc(ycrdt.Options{ClientID: d.set.o.Client})
	for _, rec := range h.Records {
		if err := doc.ApplyUpdate(rec.Update, storeOrigin{}); err != nil {
			return err
		}
		d.modTime = latest(d.modTime, rec.Time)
	}
	for _, update := range d.arrived {
		if err := doc.ApplyUpdate(update, storeOrigin{}); err != nil {
			return err
		}
	}
	doc.OnUpdate(func(update []byte, _ any) { d.made = append(d.made, update) })
	d.doc = doc
	d.set.resident.add(d)
	return nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// take returns the updates that the document has made since the last call, as
// one; nil if there were none. mu is held.
func (d *Document) take() ([]byte, error) {
	made := d.made
	d.made = nil
	return merge(made)
}

func merge(updates [][]byte) ([]byte, error) {
	if len(updates) < 2 {
		return append([][]byte{nil}, updates...)[len(updates)], nil
	}
	return ycrdt.MergeUpdates(updates...)
}

// View calls fn with the document, which does not change meanwhile.
func (d *Document) View(_ context.Context, fn func(*ycrdt.Doc, time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return err
	}
	return fn(d.doc, d.modTime)
}

// Change calls fn, and keeps and sends what it did.
func (d *Document) Change(_ context.Context, rec *model.Record, fn func(*ycrdt.Doc) error) error {
	if d.name != "" {
		if err := d.set.access.Locked(); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return err
	}
	rec.Client = uint64(d.set.o.Client)
	rec.Clock = d.doc.StateVector()[d.set.o.Client]
	if err := fn(d.doc); err != nil {
		return err
	}
	rec.Len = d.doc.StateVector()[d.set.o.Client] - rec.Clock
	if len(d.made) == 0 {
		return nil
	}
	d.set.presence.moved(d.id, rec.Clock+rec.Len)
	d.register(rec.Author)
	update, err := d.take()
	if err == nil {
		rec.Update = update
		err = d.keep(*rec)
	}
	if err != nil {
		d.drop() // the store has it as it was
		return err
	}
	return nil
}

// register notes in a note's document whose changes these are, once.
func (d *Document) register(author string) {
	if d.registered || author == "" || d.name == "" {
		return
	}
	d.registered = true
	folderdoc.Register(d.doc, "ai:"+author, d.set.o.Client, nil)
}

// keep appends what has arrived and the record of a change to the store, and
// queues the change for the server. mu is held.
func (d *Document) keep(rec model.Record) error {
	records, err := d.arrivals()
	if err != nil {
		return err
	}
	rec.Unsent = d.name != ""
	rec.Ahead = !rec.Unsent // of the drafts the store has the only copy
	if rec.Time.IsZero() {
		rec.Time = time.Now().UTC()
	}
	seq, err := d.set.append(d, append(records, rec)...)
	if err != nil {
		return err
	}
	d.arrived = nil
	d.modTime = latest(d.modTime, rec.Time)
	d.version++
	if rec.Unsent {
		d.last = seq
		d.set.owner.Unsent(d, seq, d.peer != nil)
		d.queue(outgoing{seq, rec.Update})
	}
	return nil
}

// outboxLimit bounds the updates that wait for the peer one by one. Beyond it
// the difference to what the server has is sent instead.
const outboxLimit = 256

// queue hands an update to the peer, if there is one. mu is held.
func (d *Document) queue(out outgoing) {
	if d.peer == nil {
		return // found by comparing state vectors when there is one
	}
	if len(d.outbox) == outboxLimit {
		d.outbox = d.outbox[:0]
		d.peer.lag()
	}
	d.outbox = append(d.outbox, out)
	d.peer.nudge()
}

// arrivals is the record of what has arrived and is not kept. mu is held.
func (d *Document) arrivals() ([]model.Record, error) {
	if len(d.arrived) == 0 {
		return nil, nil
	}
	update, err := merge(d.arrived)
	if err != nil {
		return nil, err
	}
	return []model.Record{{Update: update, Time: time.Now().UTC()}}, nil
}

// flushDelay is how long what arrives may wait to be kept together. Losing it
// costs fetching it again.
const flushDelay = 200 * time.Millisecond

// Receive takes over an update from the server. wait says that it is to be kept
// before Receive returns, which slows the server down to the disk's pace.
func (d *Document) Receive(update []byte, wait bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return err
	}
	applied := func() {}
	if d == d.set.folder {
		applied = d.set.owner.FolderReceives(d.doc, update)
	}
	if err := d.doc.ApplyUpdate(update, serverOrigin{}); err != nil {
		return err
	}
	applied()
	news, err := d.take()
	if err != nil || news == nil {
		return err
	}
	if len(d.arrived) == 0 && !wait {
		time.AfterFunc(flushDelay, func() { d.set.logged("keep what arrived", d.Flush()) })
	}
	d.arrived = append(d.arrived, news)
	d.version++
	d.modTime = latest(d.modTime, time.Now())
	d.set.owner.Changed(d)
	if wait {
		return d.flushLocked()
	}
	return nil
}

// Flush keeps what has arrived.
func (d *Document) Flush() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.flushLocked()
}

func (d *Document) flushLocked() error {
	records, err := d.arrivals()
	if err != nil || len(records) == 0 {
		return err
	}
	if _, err := d.set.append(d, records...); err != nil {
		return err
	}
	d.arrived = nil
	return nil
}

// drop takes the document out of memory; what the store does not hold of it is
// gone, but for what has arrived. mu is held.
func (d *Document) drop() {
	d.doc, d.made, d.registered = nil, nil, false
}

// evict takes the document out of memory, unless it is connected.
func (d *Document) evict() bool {
	if !d.mu.TryLock() {
		return false
	}
	defer d.mu.Unlock()
	if d.peer != nil || d.flushLocked() != nil {
		return false
	}
	d.drop()
	return true
}

// attach makes p the document's peer, and detach ends that.
func (d *Document) attach(p *Peer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peer != nil {
		return errConnected
	}
	if err := d.load(); err != nil {
		return err
	}
	d.peer, d.outbox = p, nil
	return nil
}

var errConnected = errors.New("document is connected already")

func (d *Document) detach() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peer, d.outbox = nil, nil
}

// stateVector says what the document has, for a step 1.
func (d *Document) stateVector() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return nil, err
	}
	return d.doc.EncodeStateVector(), nil
}

// difference is what a server with the given state vector lacks, with the number
// of the last record in it. The outbox is part of it.
func (d *Document) difference(stateVector []byte) (outgoing, error) {
	if _, err := ycrdt.DecodeStateVector(stateVector); err != nil {
		return outgoing{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return outgoing{}, err
	}
	d.outbox = nil
	return outgoing{d.last, d.doc.EncodeStateAsUpdate(stateVector)}, nil
}

// outgoing takes what is to be sent.
func (d *Document) outgoing() []outgoing {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.outbox
	d.outbox = nil
	return out
}

// IsEmpty says that nobody has put anything into the document yet: it is known
// by name only.
func (d *Document) IsEmpty() (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return false, err
	}
	return len(d.doc.StateVector()) == 0, nil
}

// Text is the document's text.
func (d *Document) Text() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return "", err
	}
	return d.doc.Text(folderdoc.ContentsName).String(), nil
}

// Contains says whether the document has all that a snapshot has.
func (d *Document) Contains(snapshot *ycrdt.Snapshot) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.load(); err != nil {
		return false, err
	}
	return d.doc.Snapshot().Contains(snapshot), nil
}
