package serving

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
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/mcpserver"
)

// maxCalls bounds the requests under way. The bridge does not read further ones.
const maxCalls = 32

// stdioBridge passes the JSON-RPC messages of one MCP client on to a server, which may be replaced.
type stdioBridge struct {
	// connect finds a server; missing is how long there has been none.
	connect func(ctx context.Context, missing time.Duration) (*owner.Client, error)
	client  mcpserver.Client
	log     *slog.Logger

	writing sync.Mutex // guards the fields below
	out     io.Writer

	connecting sync.Mutex // held while a session starts; mu may be locked under it

	mu         sync.Mutex  // guards the fields below
	current    *mcpSession // nil without a server
	endedAt    time.Time   // of the last session
	handshake  [][]byte
	subscribed map[string][]byte // requests by URI
}

type mcpSession struct {
	server *owner.Client
	stream *http.Response
	ended  chan struct{} // closed after the last message of the server
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`
}

func (m message) isRequest() bool { return m.ID != nil && m.Method != "" }

// run passes messages on until in ends, and then waits for the last answers. It reads the next message once the server has
// done "initialize" or a notification, or has begun with another request.
func (b *stdioBridge) run(ctx context.Context, in io.Reader) error {
	ctx, lost := context.WithCancelCause(ctx)
	var calls, streams sync.WaitGroup
	defer func() {
		lost(nil)
		b.end()
		calls.Wait()
		streams.Wait()
	}()
	slots := make(chan struct{}, maxCalls)
	for lines, failed := linesOf(ctx, in); ; {
		var line []byte
		var open bool
		select {
		case <-ctx.Done():
			return clientLost(ctx)
		case line, open = <-lines:
		}
		if !open {
			calls.Wait()
			b.end()
			streams.Wait()
			if errors.Is(failed(), bufio.ErrTooLong) {
				return fmt.Errorf("a message of the client is longer than %d MiB", mcpserver.MaxMessage>>20)
			}
			return nil
		}
		var m message
		_ = json.Unmarshal(line, &m) // the server refuses what is not a message
		if !m.isRequest() || m.Method == "initialize" {
			if err := b.forward(ctx, m, line, func() {}); err != nil {
				return err
			}
			continue
		}
		group := &calls
		if m.Method == "subscriptions/listen" {
			group = &streams // its answer is a stream for the time of the session
		}
		select {
		case <-ctx.Done():
			return clientLost(ctx)
		case slots <- struct{}{}:
		}
		started := make(chan struct{})
		start := sync.OnceFunc(func() { close(started) })
		group.Go(func() {
			defer func() { <-slots }()
			defer start()
			if err := b.forward(ctx, m, line, start); err != nil {
				lost(err)
			}
		})
		<-started
	}
}

// clientLost returns the error of the client, nil if ctx ended for another reason.
func clientLost(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// linesOf reads the lines of r that are not blank, in a goroutine because a read cannot be cancelled. It closes the channel
// when r ends, or at the first line after the end of ctx. Then failed returns the error of r.
func linesOf(ctx context.Context, r io.Reader) (lines <-chan []byte, failed func() error) {
	out := make(chan []byte)
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), mcpserver.MaxMessage)
	go func() {
		defer close(out)
		for sc.Scan() {
			if len(bytes.TrimSpace(sc.Bytes())) == 0 {
				continue
			}
			select {
			case out <- bytes.Clone(sc.Bytes()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, sc.Err
}

// forward passes one message on and its answer back. It calls started when the server has begun with the message, or when
// none is connected. It returns only errors of the client.
func (b *stdioBridge) forward(ctx context.Context, m message, line []byte, started func()) error {
	answer, err := b.deliver(ctx, line, started)
	switch {
	case err == nil:
		b.recordState(m, line)
	case ctx.Err() != nil:
		return nil
	default:
		b.log.Debug("message not answered", model.LogErr, err)
		if !m.isRequest() {
			return nil
		}
		answer = errorAnswer(m, err.Error())
	}
	return b.send(answer)
}

// deliver sends a message to the server, or to the next server if that has just ended, and returns the answer.
func (b *stdioBridge) deliver(ctx context.Context, line []byte, started func()) ([]byte, error) {
	for range 2 {
		s, err := b.ensureUpstream(ctx, started)
		if err != nil {
			return nil, unreachableErr(err)
		}
		answer, err := s.post(ctx, line, started)
		if err == nil {
			return answer, nil
		}
		if !notDelivered(err) {
			return nil, unknownOutcomeErr(err)
		}
		b.drop(s)
	}
	return nil, unreachableErr(errNoOwner)
}

// notDelivered reports whether a message certainly did not reach its session.
func notDelivered(err error) bool {
	if gone, ok := errors.AsType[*owner.EndedError](err); ok {
		return !gone.Sent
	}
	refused, ok := errors.AsType[*owner.RefusedError](err)
	return ok && refused.Status == http.StatusNotFound
}

// clientError is a text for a model, in place of an answer.
type clientError string

func (f clientError) Error() string { return string(f) }

// unreachableErr is for a request that reached no server.
func unreachableErr(err error) clientError {
	return clientError(fmt.Sprintf("The notes cannot be reached: %v. Nothing was changed. Wait a few seconds and try again; then read a document again before you edit it.", err))
}

// unknownOutcomeErr is for a request that a server may have executed.
func unknownOutcomeErr(err error) clientError {
	if _, stopped := errors.AsType[*owner.StoppedError](err); stopped {
		return clientError(fmt.Sprintf("There is no answer: %v. It is unknown whether anything was changed. Try again when that process runs; read the document first.", err))
	}
	return "The relayfs process that serves the notes ended before it answered. It is unknown whether anything was changed. Wait a few seconds, then read the document again."
}

// ensureUpstream returns the current session, or starts one. It calls waiting before it waits for a server.
func (b *stdioBridge) ensureUpstream(ctx context.Context, waiting func()) (*mcpSession, error) {
	if !b.connecting.TryLock() {
		waiting()
		b.connecting.Lock()
	}
	defer b.connecting.Unlock()
	b.mu.Lock()
	s, lost, replayed := b.current, b.endedAt, slices.Clone(b.handshake)
	for _, uri := range slices.Sorted(maps.Keys(b.subscribed)) {
		replayed = append(replayed, b.subscribed[uri])
	}
	b.mu.Unlock()
	if s != nil {
		return s, nil
	}
	waiting()
	server, err := b.connect(ctx, time.Since(lost))
	if err != nil {
		return nil, err
	}
	if s, err = b.open(ctx, server); err != nil {
		return nil, err
	}
	for _, line := range replayed {
		if _, err := s.post(ctx, line, func() {}); err != nil {
			b.log.Debug("message not repeated", model.LogErr, err)
		}
	}
	return s, nil
}

func (b *stdioBridge) recordState(m message, line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch m.Method {
	case "initialize":
		b.handshake = [][]byte{line}
	case "notifications/initialized":
		b.handshake = append(b.handshake, line)
	case "resources/subscribe":
		b.subscribed[m.Params.URI] = line
	case "resources/unsubscribe":
		delete(b.subscribed, m.Params.URI)
	}
}

func (b *stdioBridge) open(ctx context.Context, server *owner.Client) (*mcpSession, error) {
	stream, err := server.Open(ctx, ports.MCPPath, b.client.Query())
	if err != nil {
		return nil, err
	}
	s := &mcpSession{server, stream, make(chan struct{})}
	b.mu.Lock()
	b.current = s
	b.mu.Unlock()
	go b.follow(s)
	return s, nil
}

// follow passes on the server's own requests and notifications until the session ends.
func (b *stdioBridge) follow(s *mcpSession) {
	defer close(s.ended)
	for r := bufio.NewReader(s.stream.Body); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && b.send(bytes.TrimSuffix(data, []byte("\n"))) != nil {
			break
		}
	}
	s.stream.Body.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == s {
		b.current, b.endedAt = nil, time.Now()
	}
}

// detach sends the next messages to another server. The current one answers the messages that it has.
func (b *stdioBridge) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current, b.endedAt = nil, time.Now()
}

func (b *stdioBridge) drop(s *mcpSession) {
	s.stream.Body.Close()
	<-s.ended
}

func (b *stdioBridge) end() {
	b.mu.Lock()
	s := b.current
	b.mu.Unlock()
	if s != nil {
		b.drop(s)
	}
}

// post sends a message and returns the answer, nil for none. It calls started when the server has begun with it.
func (s *mcpSession) post(ctx context.Context, line []byte, started func()) (answer []byte, err error) {
	header := http.Header{"Content-Type": {"application/json"}, mcpserver.SessionHeader: s.stream.Header[mcpserver.SessionHeader]}
	err = s.server.Do(ctx, http.MethodPost, ports.MCPPath, url.Values{}, header, line, func(resp *http.Response) error {
		started()
		answer, err = io.ReadAll(resp.Body)
		return err
	})
	return bytes.TrimSpace(answer), err
}

// send writes a message to the client. An empty message is none.
func (b *stdioBridge) send(message []byte) error {
	if len(message) == 0 {
		return nil
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	_, err := b.out.Write(append(message, '\n'))
	return err
}

// serverGone is the JSON-RPC error code of a request without a server.
const serverGone = -32000

// errorAnswer returns the answer to a failed request. For a tool call it is a result, because models read only results.
func errorAnswer(m message, text string) []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "tools/call" {
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": true}
	} else {
		answer["error"] = map[string]any{"code": serverGone, "message": text}
	}
	line, _ := json.Marshal(answer) // the id was read from JSON
	return line
}
