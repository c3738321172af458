package queue

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
)

const (
	// settle is the least time between two changes, so that a burst of changes is one.
	settle = 100 * time.Millisecond
	// heartbeat is how long a stream is silent at most.
	heartbeat = 15 * time.Second
	// writePatience is how long a client may take to read what it is sent. It can come back for the rest.
	writePatience = time.Minute
	// retry is when a client whose stream has ended is to come back.
	retry = 2 * time.Second
)

// A browser has six connections to a server for all its tabs. Streams take four of them at most, so that what tabs
// ask is answered. A client that is one too many is told what it has missed, and comes back for more: it is only later.
const (
	maxTabs     = 4
	maxPrograms = 32
)

var errTooMany = errors.New("there are too many streams")

// Follow tells of the next change when the client has taken the last one: a slow client gets the sum of what it missed.
func (q *Local) Follow(ctx context.Context, seen uint64, tell func(Change) error) error {
	for {
		c := q.since(seen)
		err := tell(c)
		if err == nil {
			err = q.wait(ctx, c.Now)
		}
		if err != nil {
			return err
		}
		seen = c.Now
	}
}

// since returns where something has changed since a state.
func (q *Local) since(seen uint64) Change {
	list, now, whole := q.ws.Since(seen)
	if !whole {
		return Change{now, []string{""}}
	}
	paths := make(map[string]bool)
	for _, ev := range list {
		paths[string(ev.Path)] = true
		if ev.Kind == model.EventRenamed {
			paths[string(ev.OldPath)] = true
		}
	}
	return Change{now, append([]string{}, slices.Sorted(maps.Keys(paths))...)}
}

// wait returns after the next change since a state, or when a sign of life is due.
func (q *Local) wait(ctx context.Context, seen uint64) error {
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-q.ws.Changed(seen):
		return nil
	case <-time.After(heartbeat):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Follow ends without an error when the owner ends, or has too many clients.
func (q Remote) Follow(ctx context.Context, seen uint64, tell func(Change) error) error {
	return q.Client.Events(ctx, eventsPath, strconv.FormatUint(seen, 10), func(stream io.Reader) error { return readEvents(stream, seen, tell) })
}

// readEvents tells what serveEvents has written.
func readEvents(stream io.Reader, seen uint64, tell func(Change) error) error {
	for lines := bufio.NewReader(stream); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // who asks again is told why
		}
		data, isChange := bytes.CutPrefix(line, []byte("data: "))
		c := Change{Now: seen}
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
func serveEvents(q Queue) http.HandlerFunc {
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
		err := q.Follow(s.ctx, seen, func(c Change) error { return cmp.Or(s.send(c), full) })
		if err != nil && !s.begun {
			jsonapi.Refuse(w, err)
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
func (s *eventStream) send(change Change) error {
	s.c.SetWriteDeadline(time.Now().Add(writePatience))
	if err := s.ctx.Err(); err != nil { // from here on its end sets the deadline
		return err
	}
	var text bytes.Buffer
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("Connection", "close") // nothing else is to meet the deadline
		fmt.Fprintf(&text, "retry: %d\n", retry.Milliseconds())
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
