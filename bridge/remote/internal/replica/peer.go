package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

// Peer synchronizes one document with the server over one link at a time, in one goroutine.
type Peer struct {
	d     *Document
	other func(ysync.Frame)
	wake  model.Signal // set when the outbox is not empty
	link  atomic.Pointer[transport.Link]

	Fetched      chan struct{} // closed once the document has everything that the server had
	Acknowledged chan struct{} // closed once the server has all it lacked at first, or refuses changes at first
	LinkReplaced model.Signal  // set when the peer has changed to another link

	// The fields below are used only by the goroutine of Run.
	server      []byte               // last known state vector of the server, nil if unknown
	next        chan *transport.Link // delivers another link; nil if none is being opened
	waiting     []pendingAck
	step1SentAt time.Time // time when the unanswered step 1 was sent; zero if there is none
	needsAck    bool      // data was sent since the last request for an acknowledgement
	sent        uint64    // number of the last record that was sent
}

// pendingAck describes which changes a future answer of the server acknowledges.
type pendingAck struct {
	seq   uint64 // number of the last acknowledged record, if valid is set
	valid bool
	asked time.Time
}

// DefaultResync is the interval between two requests with step 1, and the time limit of their answers. The requests are
// needed because servers silently drop frames that they cannot deliver. The answer also shows that the server is alive.
const DefaultResync = 20 * time.Second

// ticks is the number of checks for an answer in each Resync interval. An answer that has not arrived after one
// interval between checks is overdue.
const ticks = 4

// NewPeer returns the peer of a document, which must not have another peer. other handles the frames that the
// peer does not handle, such as reports about other documents.
func NewPeer(d *Document, other func(ysync.Frame)) *Peer {
	return &Peer{d: d, other: other, wake: model.NewSignal(), Fetched: make(chan struct{}), Acknowledged: make(chan struct{}), LinkReplaced: model.NewSignal()}
}

// Send sends a frame. Call it only once Run has opened a link, for example after Fetched is closed.
func (p *Peer) Send(frame []byte) { p.link.Load().Send(frame) }

// Run opens a link and serves it until the link or ctx ends.
func (p *Peer) Run(ctx context.Context) error {
	if err := p.d.attach(p); err != nil {
		return err
	}
	defer p.d.detach()
	l, err := p.d.set.Server.Open(ctx, p.d.Name)
	if err != nil {
		return err
	}
	defer func() { p.link.Load().Close() }()
	defer p.d.query.Store(nil)
	if err := p.greet(l); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer p.discardNext()
	defer cancel()
	err = p.work(ctx)
	if errors.Is(err, transport.ErrExpired) {
		p.d.set.Server.DiscardToken(p.d.Name)
	}
	return err
}

func (p *Peer) greet(l *transport.Link) error {
	p.link.Store(l)
	p.server, p.waiting, p.step1SentAt, p.needsAck = nil, nil, time.Time{}, false
	if l.ReadOnly() {
		p.d.set.WriteAccess.refuse("the token is read-only")
	} else {
		p.d.set.WriteAccess.locked.Store(nil)
	}
	return p.step1()
}

// openNext starts to open a link that replaces the current link, which may be stale.
func (p *Peer) openNext(ctx context.Context) {
	next := make(chan *transport.Link, 1)
	p.next = next
	go func() {
		defer close(next)
		if l, err := p.d.set.Server.Open(ctx, p.d.Name); err == nil {
			next <- l
		}
	}()
}

func (p *Peer) discardNext() {
	if p.next == nil {
		return
	}
	for l := range p.next {
		l.Close()
	}
}

func (p *Peer) work(ctx context.Context) error {
	tick := time.NewTicker(p.d.set.Resync / ticks)
	defer tick.Stop()
	for n := 1; ; {
		p.d.query.Store(p.openQuery())
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.link.Load().Done():
			return p.link.Load().Err()
		case f := <-p.link.Load().Frames():
			err = p.handle(f)
		case l, ok := <-p.next:
			p.next = nil
			if ok {
				p.link.Load().Close()
				l.MaybeStale = false   // the document was loaded when the link was opened
				n, err = 1, p.greet(l) // restart the time limit for the first answers
				p.LinkReplaced.Set()
			}
		case <-p.wake:
			err = p.flush()
		case <-tick.C:
			if p.unanswered() {
				return transport.ErrSilent
			}
			if n++; n%ticks == 0 {
				err = p.resync()
				if p.link.Load().MaybeStale && p.next == nil {
					p.openNext(ctx)
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// unanswered reports whether an answer is past its time limit. Then either side may have lost a frame, or the server
// may be gone; a new link resolves both cases. The answer to a step 1 may be large, so its time counts from the last
// received byte. If that answer was lost, the answer to the next step 1 replaces it.
func (p *Peer) unanswered() bool {
	limit := p.d.set.Resync
	if !p.step1SentAt.IsZero() && time.Since(p.silentSince(p.step1SentAt)) > limit {
		return true
	}
	return p.link.Load().Statuses && len(p.waiting) > 0 && time.Since(p.waiting[0].asked) > limit
}

// query is the oldest unanswered request of a peer.
type query struct {
	peer *Peer
	sent time.Time
}

func (p *Peer) openQuery() *query {
	sent := p.step1SentAt
	if len(p.waiting) > 0 && (sent.IsZero() || p.waiting[0].asked.Before(sent)) {
		sent = p.waiting[0].asked
	}
	if sent.IsZero() {
		return nil
	}
	return &query{p, sent}
}

// silentSince returns the later of two times: the time of the request, and the time of the last byte from the server.
func (p *Peer) silentSince(asked time.Time) time.Time {
	if heard := p.link.Load().Heard(); heard.After(asked) {
		return heard
	}
	return asked
}

func (p *Peer) resync() error {
	if p.server == nil {
		return transport.ErrSilent
	}
	p.d.set.cursors.announce(p)
	return p.step1()
}

// step1 sends the document's state vector. The answer acknowledges everything sent before, unless the server
// acknowledges each update separately.
func (p *Peer) step1() error {
	sv, err := read(p.d, func(s *docState) []byte { return s.doc.EncodeStateVector() })
	if err != nil {
		return err
	}
	if !p.link.Load().Statuses {
		p.addPendingAck(pendingAck{seq: p.sent, valid: p.server != nil})
		p.needsAck = false
	}
	if p.step1SentAt.IsZero() {
		p.step1SentAt = time.Now()
	}
	p.link.Load().Send(ysync.AppendStep1(nil, sv))
	return nil
}

func (p *Peer) addPendingAck(c pendingAck) {
	c.asked = time.Now()
	p.waiting = append(p.waiting, c)
}

func (p *Peer) handle(f ysync.Frame) error {
	switch f.Type {
	case ysync.Sync, ysync.SyncReply:
		return p.handleSync(f)
	case ysync.SyncStatus:
		if !f.Saved {
			p.d.set.WriteAccess.refuse("it rejected a change")
		}
		return p.acknowledge(f.Saved)
	case ysync.Auth:
		if f.Auth == ysync.PermissionDenied {
			p.d.set.WriteAccess.refuse(transport.Said(f.Text))
		}
	case ysync.QueryAwareness:
		p.d.set.cursors.announce(p)
	default:
		p.other(f)
	}
	return nil
}

func (p *Peer) handleSync(f ysync.Frame) error {
	switch f.Step {
	case ysync.Step1:
		p.server = append(p.server[:0], f.Payload...)
		return p.answer()
	case ysync.Step2:
		p.step1SentAt = time.Time{}
		if err := p.d.Receive(f.Payload, true); err != nil {
			return err
		}
		p.d.SetCompared()
		closeOnce(p.Fetched)
		if !p.link.Load().Statuses {
			return p.acknowledge(true)
		}
		return nil
	}
	return p.d.Receive(f.Payload, false)
}

var emptyUpdate = []byte{0, 0}

func (p *Peer) answer() error {
	out, err := p.d.difference(p.server)
	if err != nil {
		return fmt.Errorf("%w: %v", transport.ErrProtocol, err)
	}
	if p.d.set.WriteAccess.ReadOnlyErr() != nil {
		closeOnce(p.Acknowledged) // the server refuses changes, so none will be sent
		return nil
	}
	if bytes.Equal(out.update, emptyUpdate) {
		p.d.set.callbacks.Acknowledged(p.d, out.seq) // a crash may have prevented the store from recording this
		closeOnce(p.Acknowledged)
		return nil
	}
	p.write(ysync.AppendStep2(nil, out.update), out.seq)
	return p.request()
}

func (p *Peer) flush() error {
	if p.server == nil || p.d.set.WriteAccess.ReadOnlyErr() != nil {
		return nil
	}
	for _, out := range p.d.outgoing() {
		p.write(ysync.AppendUpdate(nil, out.update), out.seq)
	}
	p.d.set.cursors.announce(p)
	return p.request()
}

func (p *Peer) write(frame []byte, seq uint64) {
	p.sent, p.needsAck = max(p.sent, seq), true
	p.link.Load().Send(frame)
	if p.link.Load().Statuses {
		p.addPendingAck(pendingAck{seq: p.sent, valid: true})
		p.needsAck = false
	}
}

// request requests an acknowledgement unless one is pending. One at a time is enough, because the answer also covers
// everything sent before it.
func (p *Peer) request() error {
	if !p.needsAck || len(p.waiting) > 0 {
		return nil
	}
	return p.step1()
}

// acknowledge handles the answer to the oldest request.
func (p *Peer) acknowledge(saved bool) error {
	if len(p.waiting) == 0 {
		return nil // the answer belongs to no pending request
	}
	c := p.waiting[0]
	p.waiting = p.waiting[1:]
	if c.valid && saved {
		p.d.set.callbacks.Acknowledged(p.d, c.seq)
		closeOnce(p.Acknowledged)
	}
	return p.request()
}

// closeOnce closes c, unless it is closed already. Only one goroutine may call it for a channel.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
