package socket

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
	writePatience = 30 * time.Second // for a small frame
	slowest       = 16 << 10         // bytes a second for a large one
)

// Patience returns how long a client may take to send or to receive size bytes.
func Patience(size int64) time.Duration {
	return writePatience + time.Duration(size/slowest)*time.Second
}

// Closing is the reason of a disconnection: a close code and a sentence.
type Closing struct {
	Code   websocket.StatusCode
	Reason string
}

func (e *Closing) Error() string { return e.Reason }

// Reasons of the server.
var (
	ErrGoingAway = &Closing{websocket.StatusGoingAway, "server is shutting down"}
	ErrTokenOver = &Closing{websocket.StatusPolicyViolation, "Token expired"}
	ErrRevoked   = &Closing{websocket.StatusPolicyViolation, "Token revoked"}
	ErrStranger  = &Closing{websocket.StatusPolicyViolation, "no document was opened"}
	ErrMalformed = &Closing{websocket.StatusInvalidFramePayloadData, "malformed frame"}
	errNotBinary = &Closing{websocket.StatusUnsupportedData, "frames are binary"}
	errTooSlow   = &Closing{websocket.StatusTryAgainLater, "client does not read fast enough: connect again to catch up"}
	errNoAnswer  = &Closing{websocket.StatusGoingAway, "client does not answer"}
	ErrOver      = &Closing{websocket.StatusServiceRestart, "document was closed: connect again"}
	ErrTooLarge  = &Closing{websocket.StatusMessageTooBig, "note would be too large"}
	errInflight  = &Closing{websocket.StatusTryAgainLater, "too much is being sent at a time; connect again"}
	errSlowFrame = &Closing{websocket.StatusPolicyViolation, "frame is sent too slowly"}
	ErrNotKept   = &Closing{websocket.StatusInternalError, "change could not be stored"}
)

// Options limit a Socket.
type Options struct {
	Queue    int           // frames that wait for the client
	Backlog  int           // bytes of these
	Ping     time.Duration // the interval of pings
	Inflight *inflight.Budget
}

// Socket is one websocket of a client: bytes, without their meaning.
type Socket struct {
	o      Options
	ws     *websocket.Conn
	out    *backlog
	server context.Context         // ends with the server
	ctx    context.Context         // ends with the connection; its cause is the reason
	end    context.CancelCauseFunc // ends it
	pings  sync.WaitGroup          // scheduled or running ones; Add with mu

	mu   sync.Mutex // protects the following
	sent bool       // since the last ping
	beat *time.Timer
	hail func() // queues a frame for a client that has received nothing for a while
}

// Accept upgrades a request to a websocket; if that fails, it answers the request and
// returns nil. The websocket ends with ctx. The caller has checked the origin. There is no
// compression, which would let a small frame swell.
func Accept(ctx context.Context, w http.ResponseWriter, r *http.Request, o Options) *Socket {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil
	}
	k := &Socket{o: o, ws: ws, out: newBacklog(o.Queue, o.Backlog), server: ctx}
	k.ctx, k.end = context.WithCancelCause(ctx)
	return k
}

// Context ends with the connection.
func (k *Socket) Context() context.Context { return k.ctx }

// End ends the connection. A *Closing is sent to the client; the first reason counts.
func (k *Socket) End(why error) { k.end(why) }

// SetReadLimit sets the size in bytes of the largest frame of the client.
func (k *Socket) SetReadLimit(n int64) { k.ws.SetReadLimit(n) }

// Serve calls handle with each frame until either side ends the connection.
func (k *Socket) Serve(handle func(frame []byte) error) {
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

// read handles frames until the client leaves or sends text.
func (k *Socket) read(handle func([]byte) error) error {
	for {
		kind, r, err := k.ws.Reader(context.Background()) // shut ends it
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

func (k *Socket) frame(r io.Reader, handle func([]byte) error) error {
	f := frameReader{r: r, k: k, start: time.Now()}
	data, release, err := k.o.Inflight.Read(&f)
	f.stop()
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return &Closing{websocket.StatusMessageTooBig, "frame is too large"}
	case errors.Is(err, inflight.ErrFull):
		return errInflight
	case err != nil:
		return err
	}
	defer release()
	return handle(data)
}

// frameReader reads a frame, and ends the connection if the client sends it too slowly.
type frameReader struct {
	r     io.Reader
	k     *Socket
	start time.Time
	n     int         // bytes so far
	timer *time.Timer // nil while the frame is small
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.n >= inflight.Free {
		left := time.Until(f.start.Add(Patience(int64(f.n))))
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

// Queue queues a frame. A client that does not keep up is disconnected, so that it connects
// again and catches up: frames are never dropped silently.
func (k *Socket) Queue(frame []byte) {
	if !k.out.put(frame) {
		k.end(errTooSlow)
	}
}

// Reply queues an answer, once the client has read enough of the answers before. Only handle
// may call it: nothing is read meanwhile.
func (k *Socket) Reply(frame []byte) {
	for !k.out.offer(frame) {
		select {
		case <-k.out.drained:
		case <-k.ctx.Done():
			return
		}
	}
}

func (k *Socket) write() error {
	for range k.out.filled.Until(k.ctx) {
		for _, frame := range k.out.take() {
			if err := k.send(frame); err != nil {
				return err
			}
			k.out.written(frame)
		}
	}
	return nil
}

// send writes one frame. Neither it nor a read uses the connection's context: the library
// closes the connection when that ends, before the close code is sent.
func (k *Socket) send(frame []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience(int64(len(frame))))
	defer cancel()
	err := k.ws.Write(ctx, websocket.MessageBinary, frame)
	k.mu.Lock()
	k.sent = true
	k.mu.Unlock()
	return err
}

// SetHail sets the function that queues a frame for a quiet client.
func (k *Socket) SetHail(fn func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hail = fn
}

// beatLater schedules the next ping, which shows whether the client is there. A hail
// follows if nothing else was sent: browsers hide pings from programs, and those hang up
// after 30 seconds.
func (k *Socket) beatLater() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ctx.Err() == nil {
		k.pings.Add(1)
		k.beat = time.AfterFunc(k.o.Ping, k.ping)
	}
}

// ping is one beat. No ping can be sent while a frame is written, which has its own timeout.
func (k *Socket) ping() {
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
	patience, cancel := context.WithTimeout(context.Background(), 2*k.o.Ping) // not the connection's: see send
	defer cancel()
	if k.ws.Ping(patience) != nil {
		k.end(errNoAnswer)
	}
}

// shut closes the websocket with the code of the reason.
func (k *Socket) shut() {
	k.mu.Lock()
	if k.beat != nil && k.beat.Stop() {
		k.pings.Done()
	}
	k.mu.Unlock()
	cause := context.Cause(k.ctx)
	if k.server.Err() != nil {
		cause = ErrGoingAway
	}
	why := &Closing{websocket.StatusNormalClosure, ""}
	if !errors.As(cause, &why) {
		_ = k.ws.CloseNow() // the client is gone
		return
	}
	_ = k.ws.Close(why.Code, why.Reason)
}
