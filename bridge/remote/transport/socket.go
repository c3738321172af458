package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
)

const (
	// maxFrame is the maximum size in bytes of a frame from the server. It is large because a document with its history
	// is much larger than a note.
	maxFrame = 256 << 20
	// queueFrames and queueBytes are the maximum number of frames, and their maximum total size in bytes, in the queue
	// of a connection. An empty queue accepts a frame of any size.
	queueFrames = 1024
	queueBytes  = 32 << 20
	dialTimeout = 10 * time.Second
	// writeTimeout is the maximum time to write one frame. If a write takes longer, the connection is closed; the next
	// connection compares the whole documents.
	writeTimeout = 30 * time.Second
	// reasonTimeout is the time for which a failed write waits for the reader to receive the server's reason for
	// closing.
	reasonTimeout = time.Second
)

// socket is one websocket with a goroutine that writes from a bounded queue. If the queue overflows, the socket ends;
// the comparison of state vectors on the next socket finds the dropped data.
type socket struct {
	conn  *websocket.Conn
	end   context.CancelCauseFunc // only the first cause counts
	ctx   context.Context
	heard atomic.Pointer[time.Time] // time when the last byte arrived

	mu     sync.Mutex // guards the fields below
	queue  [][]byte
	queued int
	wake   model.Signal // set when the queue is not empty
}

// dial opens a websocket. The caller must run read.
func dial(ctx context.Context, client *http.Client, url string, header http.Header) (*socket, error) {
	dctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(dctx, url, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if resp != nil {
			return nil, statusError(resp)
		}
		return nil, ConnectionError(err)
	}
	conn.SetReadLimit(maxFrame)
	s := &socket{conn: conn, wake: model.NewSignal()}
	s.ctx, s.end = context.WithCancelCause(ctx)
	go s.write()
	return s, nil
}

// read calls take with each frame until the connection ends. If take returns an error, read closes the connection.
func (s *socket) read(take func(frame []byte) error) {
	for {
		kind, frame, err := s.frame()
		if err != nil {
			s.end(ConnectionError(err))
			return
		}
		if kind != websocket.MessageBinary {
			continue // no protocol uses text frames, but some servers send a greeting as text
		}
		if err := take(frame); err != nil && !errors.Is(err, ysync.ErrUnknownType) {
			s.end(fmt.Errorf("%w: %v", ErrProtocol, err))
			return
		}
	}
}

func (s *socket) frame() (websocket.MessageType, []byte, error) {
	kind, r, err := s.conn.Reader(s.ctx)
	if err != nil {
		return kind, nil, err
	}
	frame, err := io.ReadAll(activityReader{r, s})
	return kind, frame, err
}

// activityReader records when bytes arrive.
type activityReader struct {
	io.Reader
	s *socket
}

func (h activityReader) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.s.heard.Store(new(time.Now()))
	return n, err
}

func (s *socket) write() {
	defer s.conn.CloseNow()
	for range s.wake.Each(s.ctx) {
		for frame := s.next(); frame != nil; frame = s.next() {
			ctx, cancel := context.WithTimeout(s.ctx, writeTimeout)
			err := s.conn.Write(ctx, websocket.MessageBinary, frame)
			cancel()
			if err != nil {
				// If the server has closed the connection, the reader receives the reason.
				select {
				case <-s.ctx.Done():
				case <-time.After(reasonTimeout):
					s.end(ConnectionError(err))
				}
				break
			}
		}
	}
}

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

// Send queues a frame. A full queue ends the connection.
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
	s.wake.Set()
}

func (s *socket) Err() error { return context.Cause(s.ctx) }

// Close does not wait for the other side.
func (s *socket) Close() { s.end(context.Canceled) }
