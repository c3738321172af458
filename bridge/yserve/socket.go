package yserve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/inflight"
)

const (
	// writePatience is how long a client may take to accept one frame, and
	// slowest is the rate in bytes a second that it needs for a large one.
	writePatience = 30 * time.Second
	slowest       = 16 << 10
	// strangersFrame is the size in bytes of the largest frame of a client that
	// has not shown a token yet.
	strangersFrame = 64 << 10
)

// closing is why a connection ends: a close code and a sentence.
type closing struct {
	code   websocket.StatusCode
	reason string
}

func (e *closing) Error() string { return e.reason }

var (
	errGoingAway = &closing{websocket.StatusGoingAway, "server is shutting down"}
	errTokenOver = &closing{websocket.StatusPolicyViolation, "Token expired"}
	errRevoked   = &closing{websocket.StatusPolicyViolation, "Token revoked"}
	errStranger  = &closing{websocket.StatusPolicyViolation, "no document was opened"}
	errMalformed = &closing{websocket.StatusInvalidFramePayloadData, "malformed frame"}
	errNotBinary = &closing{websocket.StatusUnsupportedData, "frames are binary"}
	errTooSlow   = &closing{websocket.StatusTryAgainLater, "client does not read fast enough: connect again to catch up"}
	errNoAnswer  = &closing{websocket.StatusGoingAway, "client does not answer"}
	errOver      = &closing{websocket.StatusServiceRestart, "document was closed: connect again"}
	errTooLarge  = &closing{websocket.StatusMessageTooBig, "note would be too large"}
	errInflight  = &closing{websocket.StatusTryAgainLater, "too much is being sent at a time: connect again"}
	errSlowFrame = &closing{websocket.StatusPolicyViolation, "frame does not come to its end"}
	errNotKept   = &closing{websocket.StatusInternalError, "change could not be kept"}
)

// socket is one websocket of a client: bytes, without their meaning.
type socket struct {
	s     *Server
	ws    *websocket.Conn
	out   *backlog
	ctx   context.Context         // ends with the connection; its cause is why
	end   context.CancelCauseFunc // ends it
	pings sync.WaitGroup          // that are planned or under way; Add under mu
	mu    sync.Mutex              // protects the following
	sent  bool                    // something was, since the last beat
	beat  *time.Timer
	hail  func() // queues something for a client that has not heard of the server for a while
}

// accept makes a websocket of a request; nil if that fails, and then the client
// has the answer. Origins have been looked at. There is no compression, which
// would let a small frame swell.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) *socket {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil
	}
	k := &socket{s: s, ws: ws, out: newBacklog(s.o.Limits.Queue, s.o.Limits.Backlog)}
	k.ctx, k.end = context.WithCancelCause(s.ctx)
	return k
}

// serve hands each frame to handle until one of the sides ends the connection.
func (k *socket) serve(handle func(frame []byte) error) {
	closed := make(chan struct{})
	context.AfterFunc(k.ctx, func() {
		defer close(closed)
		k.shut()
	})
	written := make(chan struct{})
	go func() {
		defer close(written)
		k.end(k.write())
	}()
	k.beatLater()
	k.end(k.read(handle))
	<-written
	<-closed
	k.pings.Wait()
}

// read handles frames until the client leaves or sends one that is none.
func (k *socket) read(handle func([]byte) error) error {
	for {
		kind, r, err := k.ws.Reader(context.Background()) // until shut closes it
		switch {
		case err != nil:
			return err
		case kind != websocket.MessageBinary:
			return errNotBinary
		}
		if err := k.frame(r, handle); err != nil {
			return err
		}
	}
}

// frame hands one frame to handle.
func (k *socket) frame(r io.Reader, handle func([]byte) error) error {
	f := frameReader{r: r, k: k, start: time.Now()}
	data, release, err := k.s.o.Inflight.Read(&f)
	f.stop()
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return &closing{websocket.StatusMessageTooBig, "frame is too large"}
	case errors.Is(err, inflight.ErrFull):
		return errInflight
	case err != nil:
		return err
	}
	defer release()
	return handle(data)
}

// frameReader reads a frame whose client has to go on sending it, as fast as it has to
// read one.
type frameReader struct {
	r     io.Reader
	k     *socket
	start time.Time
	n     int         // bytes so far
	timer *time.Timer // ends the connection; nil while the frame is small
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.n >= inflight.Free {
		left := time.Until(f.start.Add(writePatience + time.Duration(f.n/slowest)*time.Second))
		if f.timer == nil {
			f.timer = time.AfterFunc(left, func() { f.k.end(errSlowFrame) })
		} else {
			f.timer.Reset(left)
		}
	}
	n, err := f.r.Read(p)
	f.n += n
	return n, err
}

func (f *frameReader) stop() {
	if f.timer != nil {
		f.timer.Stop()
	}
}

// queue hands a frame to the writer. A client that does not keep up is cut off,
// so that it connects again and gets what it missed: frames are never dropped
// silently.
func (k *socket) queue(frame []byte) {
	if !k.out.put(frame) {
		k.end(errTooSlow)
	}
}

// reply queues what the client has asked for, once it has read enough of what it
// asked for before. Only handle may call it: meanwhile nothing is read.
func (k *socket) reply(frame []byte) {
	for !k.out.offer(frame) {
		select {
		case <-k.out.drained:
		case <-k.ctx.Done():
			return
		}
	}
}

// write sends what is queued.
func (k *socket) write() error {
	for {
		select {
		case <-k.ctx.Done():
			return nil
		case <-k.out.filled:
		}
		for _, frame := range k.out.take() {
			if err := k.send(frame); err != nil {
				return err
			}
			k.out.written(frame)
		}
	}
}

// send writes one frame. Its context, and that of reads, is not the connection's:
// the library cuts the line when one ends, before the close code is sent.
func (k *socket) send(frame []byte) error {
	patience := writePatience + time.Duration(len(frame)/slowest)*time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := k.ws.Write(ctx, websocket.MessageBinary, frame)
	k.mu.Lock()
	k.sent = true
	k.mu.Unlock()
	return err
}

// setHail says how a quiet client is told that the server is there.
func (k *socket) setHail(fn func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hail = fn
}

// beatLater keeps the connection alive from now on: with pings, which tell this
// side that the other is there, and, if nothing else was sent, with a hail, since
// browsers do not show pings to programs and those hang up after 30 seconds.
func (k *socket) beatLater() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ctx.Err() == nil {
		k.pings.Add(1)
		k.beat = time.AfterFunc(k.s.o.Limits.Ping, k.ping)
	}
}

// ping is one beat. While a frame is on its way no ping can be, and send has
// its own patience.
func (k *socket) ping() {
	defer k.pings.Done()
	defer k.beatLater()
	k.mu.Lock()
	quiet, hail := !k.sent, k.hail
	k.sent = false
	k.mu.Unlock()
	if k.out.busy() {
		return
	}
	if quiet && hail != nil {
		hail()
	}
	patience, cancel := context.WithTimeout(k.ctx, 2*k.s.o.Limits.Ping)
	defer cancel()
	if k.ws.Ping(patience) != nil {
		k.end(errNoAnswer)
	}
}

// shut closes the websocket with the code that tells why.
func (k *socket) shut() {
	k.mu.Lock()
	if k.beat != nil && k.beat.Stop() {
		k.pings.Done()
	}
	k.mu.Unlock()
	cause := context.Cause(k.ctx)
	if k.s.ctx.Err() != nil {
		cause = errGoingAway
	}
	why := &closing{websocket.StatusNormalClosure, ""}
	if !errors.As(cause, &why) {
		_ = k.ws.CloseNow() // the client has gone
		return
	}
	_ = k.ws.Close(why.code, why.reason)
}
