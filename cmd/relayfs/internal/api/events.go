package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

const (
	writeTimeout   = time.Minute     // maximum time of a write to a client that does not read; the client can reconnect
	reconnectDelay = 2 * time.Second // delay before a client reconnects, which is sent as the SSE field "retry"
)

// A browser opens at most six connections to a server for all its tabs. Streams get four of them, so that other
// requests of the tabs are answered. A client beyond the limit gets only the first event. Then the server ends its
// stream, so the client gets further changes only when it reconnects.
const (
	maxTabs     = 4
	maxPrograms = 32
)

var errTooMany = errors.New("there are too many streams")

// Follow calls notify with each change of the owner's queue, as reviewqueue.Queue.Follow does. It returns nil if the
// stream ends, for example because the owner ends or has too many clients.
func (c *Client) Follow(ctx context.Context, seen uint64, notify func(reviewqueue.Change) error) error {
	header := http.Header{"Last-Event-ID": {strconv.FormatUint(seen, 10)}}
	return c.owner.Do(ctx, http.MethodGet, eventsPath, nil, header, nil, func(resp *http.Response) error { return readEvents(resp.Body, seen, notify) })
}

func readEvents(stream io.Reader, seen uint64, notify func(reviewqueue.Change) error) error {
	for lines := bufio.NewReader(stream); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the next request will return the reason
		}
		data, isChange := bytes.CutPrefix(line, []byte("data: "))
		c := reviewqueue.Change{Now: seen}
		if isChange {
			if err := json.Unmarshal(data, &c); err != nil {
				return err
			}
		}
		if seen = c.Now; isChange || line[0] == ':' {
			if err := notify(c); err != nil {
				return err
			}
		}
	}
}

// serveEvents responds with Server-Sent Events. Each event is a change; its ID is the number of the state after the
// change. A client that sends this number as Last-Event-ID gets the changes after that state. If the client sends no
// ID, or an ID of another process, the first change covers the whole workspace.
func serveEvents(q *reviewqueue.Queue) http.HandlerFunc {
	tabs, programs := make(chan struct{}, maxTabs), make(chan struct{}, maxPrograms)
	return func(w http.ResponseWriter, r *http.Request) {
		slots := programs
		if r.Header.Get("Sec-Fetch-Site") != "" { // only browsers send this header
			slots = tabs
		}
		var full error
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			full = errTooMany
		}
		seen, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64) // 0 for a new client
		s := eventStream{ctx: r.Context(), w: w, c: http.NewResponseController(w)}
		// A client that does not read must not delay the end of the server.
		stop := context.AfterFunc(s.ctx, func() { s.c.SetWriteDeadline(time.Now()) })
		defer stop()
		err := q.Follow(s.ctx, seen, func(c reviewqueue.Change) error { return cmp.Or(s.send(c), full) })
		if s.ctx.Err() != nil { // AfterFunc may not have run, or send may have set a later deadline
			s.c.SetWriteDeadline(time.Now())
		}
		if !s.started {
			WriteError(w, err)
		}
	}
}

type eventStream struct {
	ctx     context.Context
	w       http.ResponseWriter
	c       *http.ResponseController
	started bool
}

// send writes and flushes a change. If nothing has changed, it writes a comment as a heartbeat.
func (s *eventStream) send(change reviewqueue.Change) error {
	s.c.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err := s.ctx.Err(); err != nil { // if ctx ends during the write, AfterFunc sets the deadline
		return err
	}
	var text bytes.Buffer
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Connection", "close") // another request would inherit the deadline
		fmt.Fprintf(&text, "retry: %d\n", reconnectDelay.Milliseconds())
	}
	if len(change.Paths) == 0 {
		text.WriteString(":\n\n")
	} else {
		fmt.Fprintf(&text, "id: %d\ndata: ", change.Now)
		if err := json.NewEncoder(&text).Encode(change); err != nil {
			return err
		}
		text.WriteString("\n")
	}
	if _, err := text.WriteTo(s.w); err != nil {
		return err
	}
	return s.c.Flush()
}
