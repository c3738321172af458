package stdio

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
	"github.com/relayfs/relayfs/mcpserver"
)

// maxCalls bounds the requests under way. The next one waits unread.
const maxCalls = 32

// bridge passes the JSON-RPC messages of one MCP client on to a server that may be replaced. Without a server
// it answers the client itself. It repeats the handshake and the subscriptions to a new server.
type bridge struct {
	// connect finds a server; gone is for how long there has been none.
	connect func(ctx context.Context, gone time.Duration) (*owner.Client, error)
	client  mcpserver.Client
	log     *slog.Logger

	writing sync.Mutex // protects the following
	out     io.Writer

	reaching sync.Mutex // is held while a session begins; mu may be locked under it

	mu         sync.Mutex // protects the following
	session    *session   // nil without a server
	lost       time.Time  // when the last one ended
	handshake  [][]byte
	subscribed map[string][]byte // the request, by URI
}

// session is a session at a server.
type session struct {
	server *owner.Client
	stream *http.Response
	ended  chan struct{} // closed after its last message
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`
}

func (m message) isRequest() bool { return m.ID != nil && m.Method != "" }

// run passes messages on until in ends, and then waits for the last answers. Initialize and what is no request are
// done before the next message is read.
func (b *bridge) run(ctx context.Context, in io.Reader) error {
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
			if err := b.forward(ctx, m, line); err != nil {
				return err
			}
			continue
		}
		group := &calls
		if m.Method == "subscriptions/listen" {
			group = &streams // lasts as long as the session
		}
		select {
		case <-ctx.Done():
			return clientLost(ctx)
		case slots <- struct{}{}:
		}
		group.Go(func() {
			defer func() { <-slots }()
			if err := b.forward(ctx, m, line); err != nil {
				lost(err)
			}
		})
	}
}

// clientLost returns why ctx ended, if that is the client.
func clientLost(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// linesOf reads the messages of r, one per line and no blank ones, in a goroutine, because a read cannot be
// cancelled. It closes the channel when r ends, or with the first line after the end of ctx. Then failed
// returns the error that ended r: bufio.ErrTooLong for a message that is too long.
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

// forward passes one message on, and its answer back. An error means a lost client.
func (b *bridge) forward(ctx context.Context, m message, line []byte) error {
	answer, err := b.deliver(ctx, line)
	switch {
	case err == nil:
		b.remember(m, line)
	case ctx.Err() != nil:
		return nil
	default:
		b.log.Debug("message not answered", model.LogErr, err)
		if !m.isRequest() {
			return nil
		}
		answer = failed(m, err.Error())
	}
	return b.tell(answer)
}

// deliver sends a message to the server, or to the next one if the server has just ended, and returns the answer.
func (b *bridge) deliver(ctx context.Context, line []byte) ([]byte, error) {
	for range 2 {
		s, err := b.reach(ctx)
		if err != nil {
			return nil, refusal(err)
		}
		answer, err := s.post(ctx, line)
		if err == nil {
			return answer, nil
		}
		if !notTaken(err) {
			return nil, unanswered(err)
		}
		b.drop(s)
	}
	return nil, refusal(errNoOwner)
}

// notTaken reports whether a message did not come to its session.
func notTaken(err error) bool {
	if gone, ok := errors.AsType[*owner.EndedError](err); ok {
		return !gone.Sent
	}
	refused, ok := errors.AsType[*owner.RefusedError](err)
	return ok && refused.Status == http.StatusNotFound
}

// failure is what the client is told instead of an answer. A model reads it.
type failure string

func (f failure) Error() string { return string(f) }

// refusal is the failure of a request that reached no server.
func refusal(err error) failure {
	return failure(fmt.Sprintf("The notes cannot be reached: %v. Nothing was changed. Wait a few seconds and try again; then read a document again before you edit it.", err))
}

// unanswered is the failure of a request that a server may have carried out.
func unanswered(err error) failure {
	if _, stopped := errors.AsType[*owner.StoppedError](err); stopped {
		return failure(fmt.Sprintf("There is no answer: %v. Whether anything was changed is not known. Try again when it runs; read the document first.", err))
	}
	return "The relayfs process that serves the notes ended before it answered. Whether anything was changed is not known. Wait a few seconds, then read the document again."
}

// reach returns the session, or begins one.
func (b *bridge) reach(ctx context.Context) (*session, error) {
	b.reaching.Lock()
	defer b.reaching.Unlock()
	b.mu.Lock()
	s, lost, replayed := b.session, b.lost, slices.Clone(b.handshake)
	for _, uri := range slices.Sorted(maps.Keys(b.subscribed)) {
		replayed = append(replayed, b.subscribed[uri])
	}
	b.mu.Unlock()
	if s != nil {
		return s, nil
	}
	server, err := b.connect(ctx, time.Since(lost))
	if err != nil {
		return nil, err
	}
	if s, err = b.open(ctx, server); err != nil {
		return nil, err
	}
	for _, line := range replayed {
		if _, err := s.post(ctx, line); err != nil {
			b.log.Debug("message not repeated", model.LogErr, err)
		}
	}
	return s, nil
}

func (b *bridge) remember(m message, line []byte) {
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

// mcpPath is where owners answer.
const mcpPath = "/mcp"

// open begins a session at a server.
func (b *bridge) open(ctx context.Context, server *owner.Client) (*session, error) {
	stream, err := server.Open(ctx, mcpPath, b.client.Query())
	if err != nil {
		return nil, err
	}
	s := &session{server, stream, make(chan struct{})}
	b.mu.Lock()
	b.session = s
	b.mu.Unlock()
	go b.follow(s)
	return s, nil
}

// follow passes on what the server sends on its own account, until the session ends.
func (b *bridge) follow(s *session) {
	defer close(s.ended)
	for r := bufio.NewReader(s.stream.Body); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && b.tell(bytes.TrimSuffix(data, []byte("\n"))) != nil {
			break
		}
	}
	s.stream.Body.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session == s {
		b.session, b.lost = nil, time.Now()
	}
}

// leave has messages from here on go to another server. The present one answers those that it has.
func (b *bridge) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session, b.lost = nil, time.Now()
}

// drop ends a session.
func (b *bridge) drop(s *session) {
	s.stream.Body.Close()
	<-s.ended
}

// end ends the session, if there is one.
func (b *bridge) end() {
	b.mu.Lock()
	s := b.session
	b.mu.Unlock()
	if s != nil {
		b.drop(s)
	}
}

// post sends a message and returns the answer, nil for none.
func (s *session) post(ctx context.Context, line []byte) (answer []byte, err error) {
	header := http.Header{"Content-Type": {"application/json"}, mcpserver.SessionHeader: s.stream.Header[mcpserver.SessionHeader]}
	err = s.server.Do(ctx, http.MethodPost, mcpPath, url.Values{}, header, line, func(resp *http.Response) error {
		answer, err = io.ReadAll(resp.Body)
		return err
	})
	return bytes.TrimSpace(answer), err
}

// tell sends a message to the client, if there is one.
func (b *bridge) tell(message []byte) error {
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

// failed answers a request without an answer: a tool call with a result, which the model reads.
func failed(m message, text string) []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "tools/call" {
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": true}
	} else {
		answer["error"] = map[string]any{"code": serverGone, "message": text}
	}
	line, _ := json.Marshal(answer) // the id was read from JSON
	return line
}
