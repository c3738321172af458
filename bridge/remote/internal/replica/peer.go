package replica

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

// Peer keeps one document in step with the server over one link at a time, in one goroutine.
type Peer struct {
	d      *Document
	other  func(ysync.Frame)
	wake   model.Signal // the outbox has something
	lagged atomic.Bool  // the outbox was dropped
	link   atomic.Pointer[transport.Link]

	In    chan struct{} // closed when the document has what the server had
	Out   chan struct{} // closed when the server has acknowledged what the document had then
	Moved model.Signal  // set when the peer has gone over to another link

	// Only the goroutine of Run uses these.
	next    chan *transport.Link // what another link comes from, nil if none is wanted
	server  []byte               // the server's last state vector, nil before the first
	waiting []claim
	stepped time.Time // when the open step 1 was sent, zero if there is none
	due     bool      // something was sent since the last request for an acknowledgement
	sent    uint64    // number of the last record that was sent
	echoes  uint64    // number of the last echo that was requested
	echoed  bool      // the server has returned one
}

// claim is what a future answer of the server acknowledges.
type claim struct {
	seq   uint64 // records up to this one, if valid
	valid bool
	echo  uint64 // the number of the echo that is the answer, 0 if another frame is
	asked time.Time
}

// DefaultResync is the interval between steps 1, and the time limit of their answers: servers
// silently drop what they cannot deliver. The answer also shows that the server is alive.
const DefaultResync = 20 * time.Second

// ticks is how often in that time a peer looks whether the server is silent. After one of them
// an answer is overdue.
const ticks = 4

// NewPeer returns the one peer of a document. other handles frames about other documents.
func NewPeer(d *Document, other func(ysync.Frame)) *Peer {
	return &Peer{d: d, other: other, wake: model.NewSignal(), In: make(chan struct{}), Out: make(chan struct{}), Moved: model.NewSignal()}
}

// Send sends a frame. Call it after In.
func (p *Peer) Send(frame []byte) { p.link.Load().Send(frame) }

// outboxLimit bounds the updates that wait to be sent one by one. Beyond it the peer sends
// the difference to the server's state instead.
const outboxLimit = 256

// queue appends an update to the outbox of the document, and wakes the peer.
func (p *Peer) queue(outbox []outgoing, out outgoing) []outgoing {
	if len(outbox) == outboxLimit {
		outbox = outbox[:0]
		p.lagged.Store(true)
	}
	p.wake.Set()
	return append(outbox, out)
}

// Run opens a link and serves it until it or ctx ends.
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
	defer p.d.set.questions.ask(p, time.Time{})
	if err := p.greet(l); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer p.discardNext()
	defer cancel()
	err = p.work(ctx)
	if errors.Is(err, transport.ErrExpired) {
		p.d.set.Server.Expired(p.d.Name)
	}
	return err
}

// greet makes l the link, and begins to compare the document with the server's.
func (p *Peer) greet(l *transport.Link) error {
	p.link.Store(l)
	p.server, p.waiting, p.stepped, p.due, p.echoes, p.echoed = nil, nil, time.Time{}, false, 0, false
	if l.ReadOnly() {
		p.d.set.Access.refuse("the token is for reading only")
	} else {
		p.d.set.Access.allow()
	}
	if l.Acks == transport.AckEcho {
		p.requestEcho() // whether the server has echoes is known before the first step 2
	}
	return p.step1()
}

// openNext opens another link to take the place of a doubtful one.
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

// move goes over to another link. What the server of the old one had is here, so that the new
// one gets it; the new one is not doubtful, because the document was loaded when it came.
func (p *Peer) move(l *transport.Link) error {
	p.link.Load().Close()
	l.Doubtful = false
	err := p.greet(l)
	p.Moved.Set()
	return err
}

// discardNext closes the link that came too late.
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
		p.d.set.questions.ask(p, p.asked())
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
				n, err = 1, p.move(l) // it has the whole time for its first answers
			}
		case <-p.wake:
			err = p.flush()
		case <-tick.C:
			if p.unanswered() {
				return transport.ErrSilent
			}
			if n++; n%ticks == 0 {
				err = p.resync()
				if p.link.Load().Doubtful && p.next == nil {
					p.openNext(ctx)
				}
			}
		}
		if err != nil {
			return err
		}
	}
}

// unanswered reports whether the time limit of an answer is over. Either side may have lost a
// frame, or the server is gone: a new link finds out. The answer to a step 1 may be large, so
// its time counts from the last byte of the server; one that was lost comes with the next.
func (p *Peer) unanswered() bool {
	limit := p.d.set.Resync
	if !p.stepped.IsZero() && time.Since(p.silentSince(p.stepped)) > limit {
		return true
	}
	if len(p.waiting) == 0 || p.link.Load().Acks != transport.AckStatus && p.waiting[0].echo == 0 {
		return false // there is no other question than step 1
	}
	return time.Since(p.waiting[0].asked) > limit
}

// asked returns when the oldest open question was sent, zero if there is none.
func (p *Peer) asked() time.Time {
	if len(p.waiting) > 0 && (p.stepped.IsZero() || p.waiting[0].asked.Before(p.stepped)) {
		return p.waiting[0].asked
	}
	return p.stepped
}

// silentSince returns since when nothing has come from the server to which a question was sent.
func (p *Peer) silentSince(asked time.Time) time.Time {
	if heard := p.link.Load().Heard(); heard.After(asked) {
		return heard
	}
	return asked
}

// resync compares the document with the server's.
func (p *Peer) resync() error {
	if p.server == nil {
		return transport.ErrSilent
	}
	p.d.set.presence.renew(p)
	return p.step1()
}

// step1 sends the document's state vector. The answer acknowledges what was sent before,
// except where each update has an answer of its own.
func (p *Peer) step1() error {
	sv, err := p.d.stateVector()
	if err != nil {
		return err
	}
	if p.link.Load().Acks != transport.AckStatus {
		p.expect(claim{seq: p.sent, valid: p.server != nil})
		p.due = false
	}
	if p.stepped.IsZero() {
		p.stepped = time.Now()
	}
	p.link.Load().Send(ysync.AppendStep1(nil, sv))
	return nil
}

func (p *Peer) expect(c claim) {
	c.asked = time.Now()
	p.waiting = append(p.waiting, c)
}

func (p *Peer) handle(f ysync.Frame) error {
	switch f.Type {
	case ysync.Sync, ysync.SyncReply:
		return p.handleSync(f)
	case ysync.SyncStatus:
		if !f.Saved {
			p.d.set.Access.refuse("it did not take a change")
		}
		return p.answered(0, f.Saved)
	case ysync.Echo:
		n, _ := binary.Uvarint(f.Payload)
		p.echoed = p.echoed || n > 0
		return p.answered(n, true)
	case ysync.Auth:
		if f.Auth == ysync.PermissionDenied {
			p.d.set.Access.refuse(f.Text)
		}
	case ysync.QueryAwareness:
		p.d.set.presence.announce(p)
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
		p.stepped = time.Time{}
		if err := p.d.Receive(f.Payload, true); err != nil {
			return err
		}
		p.d.SetCompared()
		closeOnce(p.In)
		if p.link.Load().Acks != transport.AckStatus {
			return p.answered(0, true)
		}
		return nil
	}
	return p.d.Receive(f.Payload, false)
}

// emptyUpdate is the update without changes.
var emptyUpdate = []byte{0, 0}

// answer sends the server what it lacks.
func (p *Peer) answer() error {
	out, err := p.d.difference(p.server)
	if err != nil {
		return fmt.Errorf("%w: %v", transport.ErrProtocol, err)
	}
	if p.d.set.Access.Locked() != nil {
		closeOnce(p.Out) // nothing will be sent
		return nil
	}
	if bytes.Equal(out.update, emptyUpdate) {
		p.d.set.owner.Acknowledged(p.d, out.seq) // a crash may have kept that from the store
		closeOnce(p.Out)
		return nil
	}
	p.write(ysync.AppendStep2(nil, out.update), out.seq)
	return p.request()
}

func (p *Peer) flush() error {
	if p.server == nil || p.d.set.Access.Locked() != nil {
		return nil
	}
	if p.lagged.Swap(false) {
		out, err := p.d.difference(p.server)
		if err != nil {
			return err
		}
		p.write(ysync.AppendUpdate(nil, out.update), out.seq)
		return p.request()
	}
	for _, out := range p.d.outgoing() {
		p.write(ysync.AppendUpdate(nil, out.update), out.seq)
	}
	p.d.set.presence.announce(p)
	return p.request()
}

func (p *Peer) write(frame []byte, seq uint64) {
	p.sent, p.due = max(p.sent, seq), true
	p.link.Load().Send(frame)
	if p.link.Load().Acks == transport.AckStatus {
		p.expect(claim{seq: p.sent, valid: true})
		p.due = false
	}
}

// request asks the server for an acknowledgement, one at a time: the answer also covers
// everything that was sent before.
func (p *Peer) request() error {
	if !p.due || len(p.waiting) > 0 {
		return nil
	}
	if !p.echoed {
		return p.step1()
	}
	p.due = false
	p.expect(claim{seq: p.sent, valid: true, echo: p.requestEcho()})
	return nil
}

// requestEcho requests an echo, and returns its number.
func (p *Peer) requestEcho() uint64 {
	p.echoes++
	p.link.Load().Send(ysync.AppendEcho(nil, binary.AppendUvarint(nil, p.echoes)))
	return p.echoes
}

// answered handles the answer to the oldest request: the echo with that number, or another
// frame for 0.
func (p *Peer) answered(echo uint64, saved bool) error {
	if len(p.waiting) == 0 || p.waiting[0].echo != echo {
		return nil // of no open request
	}
	c := p.waiting[0]
	p.waiting = p.waiting[1:]
	if c.valid && saved {
		p.d.set.owner.Acknowledged(p.d, c.seq)
		closeOnce(p.Out)
	}
	return p.request()
}

// closeOnce closes a channel which only this goroutine closes.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
