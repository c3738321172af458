package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxFrame bounds what a server may send at once: a document a good deal larger
	// than a note may be, with its history.
	maxFrame = 256 << 20
	// queueFrames and queueBytes bound what waits to be sent on one connection.
	queueFrames = 1024
	queueBytes  = 32 << 20
	dialTimeout = 10 * time.Second
	// writeTimeout is how long one frame may take; a connection that is slower is
	// dropped and everything is compared anew.
	writeTimeout = 30 * time.Second
)

// socket is one websocket. One goroutine reads and one writes; frames wait in a
// bounded queue. When the queue overflows the connection ends: what was dropped
// is found by comparing state vectors on the next one.
type socket struct {
	conn *websocket.Conn
	in   chan []byte // closed when the connection has ended
	stop context.CancelCauseFunc
	ctx  context.Context

	mu     sync.Mutex // protects the following
	queue  [][]byte
	queued int
	wake   chan struct{} // holds one token while the queue is not empty
}

// dial opens a websocket.
func dial(ctx context.Context, client *http.Client, url string, header http.Header) (*socket, error) {
	dctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(dctx, url, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, dialError(resp, err)
	}
	conn.SetReadLimit(maxFrame)
	s := &socket{conn: conn, in: make(chan []byte, 16), wake: make(chan struct{}, 1)}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	go s.read()
	go s.write()
	return s, nil
}

// dialError says what a failed handshake means.
func dialError(resp *http.Response, err error) error {
	if resp == nil {
		if c := connectionError(err); c != err {
			return c
		}
		return fmt.Errorf("%w: %v", ErrUnreachable, err)
	}
	return statusError(resp)
}

// statusError says what an HTTP answer other than the wanted one means.
func statusError(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w (%s)", ErrDenied, resp.Status)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return fmt.Errorf("%w (%s)", ErrUnreachable, resp.Status)
	}
	return fmt.Errorf("%w (%s)", ErrProtocol, resp.Status)
}

func (s *socket) read() {
	defer close(s.in)
	for {
		kind, frame, err := s.conn.Read(s.ctx)
		if err != nil {
			s.end(readError(err))
			return
		}
		if kind != websocket.MessageBinary {
			continue // neither protocol has any; some servers greet in text
		}
		select {
		case s.in <- frame:
		case <-s.ctx.Done():
			return
		}
	}
}

func readError(err error) error {
	if c := connectionError(err); c != err {
		return c
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it closed the connection", ErrUnreachable)
	}
	return fmt.Errorf("%w: %v", ErrUnreachable, err)
}

func (s *socket) write() {
	for {
		select {
		case <-s.ctx.Done():
			s.conn.CloseNow()
			return
		case <-s.wake:
		}
		for frame := s.next(); frame != nil; frame = s.next() {
			ctx, cancel := context.WithTimeout(s.ctx, writeTimeout)
			err := s.conn.Write(ctx, websocket.MessageBinary, frame)
			cancel()
			if err != nil {
				s.cannotWrite(err)
				break
			}
		}
	}
}

// reasonPatience is how long the reason why nothing can be written may take.
const reasonPatience = time.Second

// cannotWrite ends the connection, unless it ends by itself: a server that has
// closed it says why to the reader.
func (s *socket) cannotWrite(err error) {
	select {
	case <-s.ctx.Done():
	case <-time.After(reasonPatience):
		s.end(readError(err))
	}
}

// next takes the first frame off the queue, nil if there is none.
func (s *socket) next() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	frame := s.queue[0]
	s.queue = s.queue[1:]
	s.queued -= len(frame)
	return frame
}

// send queues a frame. A full queue ends the connection.
func (s *socket) Send(frame []byte) {
	s.mu.Lock()
	full := len(s.queue) >= queueFrames || s.queued > 0 && s.queued+len(frame) > queueBytes
	if full {
		s.queue, s.queued = nil, 0
	} else {
		s.queue = append(s.queue, frame)
		s.queued += len(frame)
	}
	s.mu.Unlock()
	if full {
		s.end(errOverflow)
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// end ends the connection for a reason; the first one counts.
func (s *socket) end(err error) { s.stop(err) }

// err is why the connection has ended.
func (s *socket) Err() error { return context.Cause(s.ctx) }

// close ends the connection politely, without waiting for the other side.
func (s *socket) Close() {
	s.end(context.Canceled)
}
