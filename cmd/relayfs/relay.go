package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver"
)

// mcpRelay carries the JSON-RPC messages of one MCP client to a server that may go
// away and come back. Meanwhile it answers the client itself; a new server is
// first told what the old one knew: the handshake and the subscriptions.
type mcpRelay struct {
	// connect finds the server; gone is for how long there has been none.
	connect func(ctx context.Context, gone time.Duration) (io.ReadWriteCloser, error)
	log     *slog.Logger

	// The goroutine of run alone uses these.
	handshake  [][]byte
	subscribed map[string][]byte // the request, by URI
	replayed   int

	writing sync.Mutex // protects the following
	out     io.Writer

	mu   sync.Mutex // protects the following
	up   *upstream  // nil while there is no server
	lost time.Time  // when the last one went
}

// message is what the relay looks at in a JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`

	replay bool // the relay's own, whose answer is not the client's
}

// isRequest tells requests from notifications and answers.
func (m message) isRequest() bool { return m.ID != nil && m.Method != "" }

// key is the id in one spelling.
func (m message) key() string {
	var id any
	if json.Unmarshal(m.ID, &id) != nil {
		return ""
	}
	return fmt.Sprintf("%T %v", id, id)
}

// run relays until in ends, and then waits for what is under way.
func (r *mcpRelay) run(ctx context.Context, in io.Reader) error {
	var tooLong error
	lines := clientLines(ctx, in, &tooLong)
	stop := context.AfterFunc(ctx, func() { // a message may be on its way to a server that reads no more
		if up := r.current(); up != nil {
			up.stream.Close()
		}
	})
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return r.close()
		case line, open := <-lines:
			if !open {
				return errors.Join(tooLong, r.finish(ctx))
			}
			if err := r.forward(ctx, line); err != nil {
				return err
			}
		}
	}
}

// clientLines reads the messages of in, each with its line break, in a goroutine
// of its own: a read cannot be cancelled. It ends with in, with ctx, or with a
// message that is too long; then tooLong is set before the channel is closed.
func clientLines(ctx context.Context, in io.Reader, tooLong *error) <-chan []byte {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(in)
		sc.Buffer(make([]byte, 0, 64<<10), mcpserver.MaxMessage)
		for sc.Scan() {
			if len(bytes.TrimSpace(sc.Bytes())) == 0 {
				continue
			}
			select {
			case lines <- append(bytes.Clone(sc.Bytes()), '\n'):
			case <-ctx.Done():
				return
			}
		}
		if errors.Is(sc.Err(), bufio.ErrTooLong) {
			*tooLong = fmt.Errorf("a message of the client is longer than %d MiB", mcpserver.MaxMessage>>20)
		}
	}()
	return lines
}

// finish tells the server that no more will come and takes its last answers.
func (r *mcpRelay) finish(ctx context.Context) error {
	up := r.current()
	if up == nil {
		return nil
	}
	if half, ok := up.stream.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	select {
	case <-up.ended:
		return nil
	case <-ctx.Done():
		return r.close()
	}
}

func (r *mcpRelay) close() error {
	if up := r.current(); up != nil {
		up.stream.Close()
		<-up.ended
	}
	return nil
}

func (r *mcpRelay) current() *upstream {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.up
}

// forward passes one message on. What is not one is the server's to refuse. An
// error means that the client is gone.
func (r *mcpRelay) forward(ctx context.Context, line []byte) error {
	var m message
	_ = json.Unmarshal(line, &m)
	err := r.deliver(ctx, m, line)
	if err == nil {
		r.remember(m, line)
		return nil
	}
	r.log.Debug("message not delivered", bridge.LogErr, err)
	if !m.isRequest() {
		return nil
	}
	return r.tell(failed(m, refusal(err)))
}

// deliver sends one message to the server; to the next one if the first has just
// gone.
func (r *mcpRelay) deliver(ctx context.Context, m message, line []byte) error {
	for range 2 {
		up, err := r.reach(ctx)
		if err != nil {
			return err
		}
		if up.send(m, line) {
			return nil
		}
		select {
		case <-up.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errNoOwner
}

// reach returns the server, and looks for one if there is none.
func (r *mcpRelay) reach(ctx context.Context) (*upstream, error) {
	r.mu.Lock()
	up, lost := r.up, r.lost
	r.mu.Unlock()
	if up != nil {
		return up, nil
	}
	stream, err := r.connect(ctx, time.Since(lost))
	if err != nil {
		return nil, err
	}
	up = r.use(ctx, stream)
	for _, line := range r.handshake {
		r.replay(up, line)
	}
	for _, uri := range slices.Sorted(maps.Keys(r.subscribed)) {
		r.replay(up, r.subscribed[uri])
	}
	return up, nil
}

// remember keeps what a new server has to be told.
func (r *mcpRelay) remember(m message, line []byte) {
	switch m.Method {
	case "initialize":
		r.handshake = [][]byte{line}
	case "notifications/initialized":
		r.handshake = append(r.handshake, line)
	case "resources/subscribe":
		r.subscribed[m.Params.URI] = line
	case "resources/unsubscribe":
		delete(r.subscribed, m.Params.URI)
	}
}

// replay sends a message again, under an id of the relay's own.
func (r *mcpRelay) replay(up *upstream, line []byte) {
	var m message
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil || json.Unmarshal(line, &fields) != nil {
		return
	}
	if m.isRequest() {
		r.replayed++
		m.replay, m.ID = true, fmt.Appendf(nil, `"relayfs-replay-%d"`, r.replayed)
		fields["id"] = m.ID
	}
	if again, err := json.Marshal(fields); err == nil {
		up.send(m, append(again, '\n'))
	}
}

// use makes stream the connection to the server.
func (r *mcpRelay) use(ctx context.Context, stream io.ReadWriteCloser) *upstream {
	up := &upstream{stream: stream, ended: make(chan struct{}), pending: make(map[string]message)}
	r.mu.Lock()
	r.up = up
	r.mu.Unlock()
	go r.follow(up)
	go up.attend(ctx)
	return up
}

// follow passes on what the server says until it ends, and answers what it left
// unanswered.
func (r *mcpRelay) follow(up *upstream) {
	defer close(up.ended)
	for br := bufio.NewReader(up.stream); ; {
		line, err := br.ReadBytes('\n')
		if err != nil {
			break // half a line is no message
		}
		var m message
		if json.Unmarshal(line, &m) == nil && m.Method == "" && up.answered(m).replay {
			continue
		}
		if r.tell(line) != nil {
			break
		}
	}
	up.stream.Close()
	r.mu.Lock()
	r.up, r.lost = nil, time.Now()
	r.mu.Unlock()
	left, text := up.end()
	for _, m := range left {
		r.tell(failed(m, text))
	}
}

// tell writes one line to the client.
func (r *mcpRelay) tell(line []byte) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	_, err := r.out.Write(line)
	return err
}

// lostAnswer is what a client is told for a request that was under way when the
// server ended.
const lostAnswer = "The relayfs process that serves the notes ended before it answered. Whether anything was changed is not known. " +
	"Wait a few seconds, then read the document again."

// refusal is what a client is told for a request that reached nobody.
func refusal(err error) string {
	return fmt.Sprintf("The notes cannot be reached: %v. Nothing was changed. Wait a few seconds and try again; then read a document again before you edit it.", err)
}

// serverGone is the code of the JSON-RPC error for a request without a server.
const serverGone = -32000

// failed is the answer to a request that got none: of a tool a result, which the
// model reads, else an error of the protocol.
func failed(m message, text string) []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "tools/call" {
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": true}
	} else {
		answer["error"] = map[string]any{"code": serverGone, "message": text}
	}
	line, _ := json.Marshal(answer) // the id was read from JSON
	return append(line, '\n')
}
