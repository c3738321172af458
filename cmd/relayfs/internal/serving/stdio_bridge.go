package serving

import (
	"bufio"
	"bytes"
	"cmp"
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

// maxCalls is the maximum number of requests in progress. Further requests wait, but the bridge reads on: a request in
// progress may need the client's answer to a question.
const maxCalls = 32

// stdioBridge passes the JSON-RPC messages of one MCP client to a server. If the server ends, another server replaces
// it.
type stdioBridge struct {
	// connect returns a client of a server. missing is the time for which there has been no server.
	connect func(ctx context.Context, missing time.Duration) (*owner.Client, error)
	client  mcpserver.Client
	log     *slog.Logger

	writing sync.Mutex // guards the fields below; mu may be locked while it is held
	out     io.Writer

	connecting sync.Mutex // held while a session starts; mu may be locked while it is held

	mu         sync.Mutex             // guards the fields below
	waiting    map[string]*call       // requests that were not sent to a server yet, by ID
	sent       *call                  // the last message that was sent to a server
	current    *mcpSession            // nil while there is no server
	endedAt    time.Time              // when the last session ended
	inputEnded bool                   // the client sends nothing more
	questions  map[string]*mcpSession // by ID, servers' requests that the client has not answered
	handshake  [][]byte
	subscribed map[string][]byte // subscription requests of the client, by URI
}

type mcpSession struct {
	server *owner.Client
	stream *http.Response
	ended  chan struct{} // closed after the server's last message
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

func (m message) isRequest() bool { return m.ID != nil && m.Method != "" }

// call is a message on its way to a server.
type call struct {
	message
	line      []byte
	started   chan struct{} // closed when a server has started to handle the message, or no server got it
	start     func()        // closes started
	cancelled bool          // the client has cancelled it before it was sent; guarded by the bridge's mu
}

func newCall(line []byte) *call {
	c := &call{line: line, started: make(chan struct{})}
	c.start = sync.OnceFunc(func() { close(c.started) })
	_ = json.Unmarshal(line, &c.message) // the server refuses invalid messages
	return c
}

// run passes on messages until the input ends, and then waits for the last responses. It passes on requests in their
// order. It passes on "initialize" and messages that are not requests before it reads the next message.
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
	turn := make(chan struct{}) // closed when the next request may be sent
	close(turn)
	for lines, failed := linesOf(ctx, in); ; {
		var line []byte
		var open bool
		select {
		case <-ctx.Done():
			return clientLost(ctx)
		case line, open = <-lines:
		}
		if !open {
			b.refuseQuestions(ctx)
			calls.Wait()
			b.end()
			streams.Wait()
			if errors.Is(failed(), bufio.ErrTooLong) {
				return fmt.Errorf("a message of the client is longer than %d MiB", mcpserver.MaxMessage>>20)
			}
			return nil
		}
		c := newCall(line)
		if c.Method == "notifications/cancelled" && b.withdraw(string(c.Params.RequestID)) {
			continue
		}
		if c.Method == "" {
			b.mu.Lock()
			delete(b.questions, string(c.ID))
			b.mu.Unlock()
		}
		if !c.isRequest() || c.Method == "initialize" {
			if err := b.forward(ctx, c); err != nil {
				return err
			}
			continue
		}
		isStream := c.Method == "subscriptions/listen" // the response is a stream that lasts as long as the session
		group := &calls
		if isStream {
			group = &streams
		}
		mine := turn
		turn = c.started
		b.enqueue(c)
		group.Go(func() {
			<-mine
			if !isStream {
				slots <- struct{}{}
				defer func() { <-slots }()
			}
			if err := b.forward(ctx, c); err != nil {
				lost(err)
			}
		})
	}
}

// tell passes a message of the server to the client. If the message is a question, and the client's input has ended, tell
// answers it.
func (b *stdioBridge) tell(ctx context.Context, s *mcpSession, line []byte) error {
	var m message
	question := json.Unmarshal(line, &m) == nil && m.isRequest()
	b.writing.Lock()
	ended := question && b.asked(s, m)
	err := b.write(line)
	b.writing.Unlock()
	if ended {
		go b.refuseQuestions(ctx)
	}
	return err
}

// asked records a question, and reports whether the input has ended.
func (b *stdioBridge) asked(s *mcpSession, question message) (ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.questions[string(question.ID)] = s
	return b.inputEnded
}

// refuseQuestions answers the questions that the client can no longer answer, because its input has ended. Otherwise the
// requests that wait for an answer would not end.
func (b *stdioBridge) refuseQuestions(ctx context.Context) {
	b.writing.Lock() // a question precedes the response to the request that waits for its answer
	b.mu.Lock()
	b.inputEnded = true
	open := maps.Clone(b.questions)
	clear(b.questions)
	b.mu.Unlock()
	b.writing.Unlock()
	for id, s := range open {
		if _, err := s.post(ctx, errorAnswer(message{ID: json.RawMessage(id)}, "the client has ended"), func() {}); err != nil {
			b.log.Debug("cannot answer a question", model.LogErr, err)
		}
	}
}

func (b *stdioBridge) enqueue(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[string(c.ID)] = c
}

// begin is called before c is sent. It returns errCancelled if the client has cancelled c.
func (b *stdioBridge) begin(c *call) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.cancelled {
		return errCancelled
	}
	if id := string(c.ID); b.waiting[id] == c {
		delete(b.waiting, id)
	}
	b.sent = c
	return nil
}

var errCancelled = errors.New("the client has cancelled the request")

// withdraw cancels a request that was not sent yet. It reports whether there is such a request. Otherwise it waits until
// a server has started the last request, because a server ignores the cancellation of a request that it does not have.
func (b *stdioBridge) withdraw(id string) bool {
	b.mu.Lock()
	c, sent := b.waiting[id], b.sent
	if c != nil {
		c.cancelled = true
		delete(b.waiting, id)
	}
	b.mu.Unlock()
	if c == nil && sent != nil {
		<-sent.started
	}
	return c != nil
}

// clientLost returns the error of the connection to the client. It returns nil if ctx ended for another reason.
func clientLost(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// linesOf reads the lines of r that are not blank, in a goroutine because a read cannot be cancelled. It closes the
// channel at the end of r, or at the first line after the end of ctx. After that, failed returns the error of r.
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

// forward passes on one message and its response. It returns only errors of the connection to the client.
func (b *stdioBridge) forward(ctx context.Context, c *call) error {
	defer c.start()
	answer, err := b.deliver(ctx, c)
	switch {
	case err == nil:
		b.recordState(c)
	case ctx.Err() != nil || errors.Is(err, errCancelled):
		return nil
	default:
		b.log.Debug("no response to a message", model.LogErr, err)
		if !c.isRequest() {
			return nil
		}
		answer = errorAnswer(c.message, err.Error())
	}
	return b.send(answer)
}

// deliver sends a message to the server and returns the response. If the server has just ended, it sends the message to
// the next server.
func (b *stdioBridge) deliver(ctx context.Context, c *call) ([]byte, error) {
	for range 2 {
		s, err := b.ensureUpstream(ctx)
		if err != nil {
			err = unreachableErr(err)
		}
		if err := cmp.Or(b.begin(c), err); err != nil {
			return nil, err
		}
		answer, err := s.post(ctx, c.line, c.start)
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
	if ended, ok := errors.AsType[*owner.EndedError](err); ok {
		return !ended.Sent
	}
	refused, ok := errors.AsType[*owner.RefusedError](err)
	return ok && refused.Status == http.StatusNotFound
}

type clientError string

func (f clientError) Error() string { return string(f) }

func unreachableErr(err error) clientError {
	return clientError(fmt.Sprintf("The notes cannot be reached: %v. Nothing was changed. Wait a few seconds and try again; then read a document again before you edit it.", err))
}

// unknownOutcomeErr returns the error for a request that a server may have executed.
func unknownOutcomeErr(err error) clientError {
	if _, stopped := errors.AsType[*owner.StoppedError](err); stopped {
		return clientError(fmt.Sprintf("There is no answer: %v. It is unknown whether anything was changed. Try again when that process is running again; read the document first.", err))
	}
	return "The relayfs process that serves the notes ended before it answered. It is unknown whether anything was changed. Wait a few seconds, then read the document again."
}

// ensureUpstream returns the current session, or starts one.
func (b *stdioBridge) ensureUpstream(ctx context.Context) (*mcpSession, error) {
	b.connecting.Lock()
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
	server, err := b.connect(ctx, time.Since(lost))
	if err != nil {
		return nil, err
	}
	if s, err = b.open(ctx, server); err != nil {
		return nil, err
	}
	for _, line := range replayed {
		if _, err := s.post(ctx, line, func() {}); err != nil {
			b.log.Debug("cannot repeat a message", model.LogErr, err)
		}
	}
	return s, nil
}

func (b *stdioBridge) recordState(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch c.Method {
	case "initialize":
		b.handshake = [][]byte{c.line}
	case "notifications/initialized":
		b.handshake = append(b.handshake, c.line)
	case "resources/subscribe":
		b.subscribed[c.Params.URI] = c.line
	case "resources/unsubscribe":
		delete(b.subscribed, c.Params.URI)
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
	go b.follow(ctx, s)
	return s, nil
}

func (b *stdioBridge) follow(ctx context.Context, s *mcpSession) {
	defer close(s.ended)
	for r := bufio.NewReader(s.stream.Body); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && b.tell(ctx, s, bytes.TrimSpace(data)) != nil {
			break
		}
	}
	s.stream.Body.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.questions, func(_ string, by *mcpSession) bool { return by == s })
	if b.current == s {
		b.current, b.endedAt = nil, time.Now()
	}
}

// detach makes the bridge send further messages to another server. The current server still answers the messages that
// it has received.
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

// post sends a message and returns the response, or nil if there is none. It calls started when the server has started
// to handle the message.
func (s *mcpSession) post(ctx context.Context, line []byte, started func()) (answer []byte, err error) {
	header := http.Header{"Content-Type": {"application/json"}, mcpserver.SessionHeader: s.stream.Header[mcpserver.SessionHeader]}
	err = s.server.Do(ctx, http.MethodPost, ports.MCPPath, url.Values{}, header, line, func(resp *http.Response) error {
		started()
		answer, err = io.ReadAll(resp.Body)
		return err
	})
	return bytes.TrimSpace(answer), err
}

func (b *stdioBridge) send(message []byte) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	return b.write(message)
}

// write writes a message to the client. It ignores an empty message. The caller must hold b.writing.
func (b *stdioBridge) write(message []byte) error {
	if len(message) == 0 {
		return nil
	}
	_, err := b.out.Write(append(message, '\n'))
	return err
}

const serverGone = -32000

// errorAnswer returns the response to a failed request. For a tool call the response is a tool result with the error,
// because models read only results.
func errorAnswer(m message, text string) []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "tools/call" {
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": true}
	} else {
		answer["error"] = map[string]any{"code": serverGone, "message": text}
	}
	line, _ := json.Marshal(answer) // cannot fail, because the ID was decoded from JSON
	return line
}
