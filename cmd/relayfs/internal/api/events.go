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
	// writeTimeout is how long a client may take to read what it is sent. It can come back for the rest.
	writeTimeout = time.Minute
	// reconnectDelay is when a client whose stream has ended is to come back.
	reconnectDelay = 2 * time.Second
)

// A browser has six connections to a server for all its tabs. Streams take four of them at most, so that what tabs
// ask is answered. A client that is one too many is told what it has missed, and comes back for more: it is only later.
const (
	maxTabs     = 4
	maxPrograms = 32
)

var errTooMany = errors.New("there are too many streams")

// Follow ends without an error when the owner ends, or has too many clients.
func (c *Client) Follow(ctx context.Context, seen uint64, tell func(reviewqueue.Change) error) error {
	header := http.Header{"Last-Event-ID": {strconv.FormatUint(seen, 10)}}
	return c.owner.Do(ctx, http.MethodGet, eventsPath, nil, header, nil, func(resp *http.Response) error { return readEvents(resp.Body, seen, tell) })
}

// readEvents tells what serveEvents has written.
func readEvents(stream io.Reader, seen uint64, tell func(reviewqueue.Change) error) error {
	for lines := bufio.NewReader(stream); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // who asks again is told why
		}
		data, isChange := bytes.CutPrefix(line, []byte("data: "))
		c := reviewqueue.Change{Now: seen}
		if isChange {
			if err := json.Unmarshal(data, &c); err != nil {
				return err
			}
		}
		if seen = c.Now; isChange || line[0] == ':' {
			if err := tell(c); err != nil {
				return err
			}
		}
	}
}

// serveEvents answers with a stream of Server-Sent Events: changes whose ids are their states. A client that names the
// last one that it has goes on from there; one that names none, or one of another process, is told to read everything.
func serveEvents(q *reviewqueue.Queue) http.HandlerFunc {
	tabs, programs := make(chan struct{}, maxTabs), make(chan struct{}, maxPrograms)
	return func(w http.ResponseWriter, r *http.Request) {
		places := programs
		if r.Header.Get("Sec-Fetch-Site") != "" { // browsers send it
			places = tabs
		}
		var full error
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			full = errTooMany
		}
		seen, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64) // 0 is of no process
		s := eventStream{ctx: r.Context(), w: w, c: http.NewResponseController(w)}
		// The server's end does not wait for a client that does not read.
		stop := context.AfterFunc(s.ctx, func() { s.c.SetWriteDeadline(time.Now()) })
		defer stop()
		err := q.Follow(s.ctx, seen, func(c reviewqueue.Change) error { return cmp.Or(s.send(c), full) })
		if !s.begun { // it has ended at once
			WriteError(w, err)
		}
	}
}

// eventStream is the answer to one client.
type eventStream struct {
	ctx   context.Context
	w     http.ResponseWriter
	c     *http.ResponseController
	begun bool
}

// send writes a change, or, if nothing has changed, a comment as a sign of life, and waits until it is on its way.
func (s *eventStream) send(change reviewqueue.Change) error {
	s.c.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err := s.ctx.Err(); err != nil { // from here on its end sets the deadline
		return err
	}
	var text bytes.Buffer
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Connection", "close") // nothing else is to meet the deadline
		fmt.Fprintf(&text, "retry: %d\n", reconnectDelay.Milliseconds())
	}
	if len(change.Paths) == 0 {
		text.WriteString(":\n\n")
	} else {
		fmt.Fprintf(&text, "id: %d\ndata: ", change.Now)
		if err := json.NewEncoder(&text).Encode(change); err != nil { // on one line, with its end
			return err
		}
		text.WriteString("\n")
	}
	if _, err := text.WriteTo(s.w); err != nil {
		return err
	}
	return s.c.Flush()
}
