package mcpproxy

import (
	"bufio"
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

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver"
)

// proxy passes the JSON-RPC messages of one MCP client on to a server that may be replaced. Without a server
// it answers the client itself. It repeats the handshake and the subscriptions to a new server.
type proxy struct {
	// connect finds a server; gone is for how long there has been none.
	connect func(ctx context.Context, gone time.Duration) (io.ReadWriteCloser, error)
	log     *slog.Logger

	// Only the goroutine of run uses these.
	handshake  [][]byte
	subscribed map[string][]byte // the request, by URI
	replayed   int

	writing sync.Mutex // protects the following
	out     io.Writer

	mu   sync.Mutex // protects the following
	up   *upstream  // nil without a server
	lost time.Time  // when the last one ended
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`

	replay bool // sent by the proxy, so that the client does not get the answer
}

func (m message) isRequest() bool { return m.ID != nil && m.Method != "" }

func (m message) key() string {
	var id any
	if json.Unmarshal(m.ID, &id) != nil {
		return ""
	}
	return fmt.Sprintf("%T %v", id, id)
}

// run passes messages on until in ends, and then waits for the last answers.
func (p *proxy) run(ctx context.Context, in io.Reader) error {
	lines, failed := mcpserver.Lines(ctx, in)
	stop := context.AfterFunc(ctx, func() { // a write may wait for a server that has stopped reading
		if up := p.current(); up != nil {
			up.stream.Close()
		}
	})
	defer stop()
	for {
		select {
		case <-ctx.Done():
			p.close()
			return nil
		case line, open := <-lines:
			if !open {
				p.finish(ctx)
				if errors.Is(failed(), bufio.ErrTooLong) {
					return fmt.Errorf("a message of the client is longer than %d MiB", mcpserver.MaxMessage>>20)
				}
				return nil
			}
			if err := p.forward(ctx, append(line, '\n')); err != nil {
				return err
			}
		}
	}
}

// finish tells the server that no more messages come, and passes on its last answers.
func (p *proxy) finish(ctx context.Context) {
	up := p.current()
	if up == nil {
		return
	}
	if half, ok := up.stream.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	select {
	case <-up.ended:
	case <-ctx.Done():
		p.close()
	}
}

func (p *proxy) close() {
	if up := p.current(); up != nil {
		up.stream.Close()
		<-up.ended
	}
}

func (p *proxy) current() *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.up
}

// forward passes one message on. The server refuses what is not a message. An error means a lost client.
func (p *proxy) forward(ctx context.Context, line []byte) error {
	var m message
	_ = json.Unmarshal(line, &m)
	err := p.deliver(ctx, m, line)
	if err == nil {
		p.remember(m, line)
		return nil
	}
	p.log.Debug("message not delivered", model.LogErr, err)
	if !m.isRequest() {
		return nil
	}
	return p.tell(failed(m, refusal(err)))
}

// deliver sends one message to the server, or to the next one if the server has just ended.
func (p *proxy) deliver(ctx context.Context, m message, line []byte) error {
	for range 2 {
		up, err := p.reach(ctx)
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

func (p *proxy) reach(ctx context.Context) (*upstream, error) {
	p.mu.Lock()
	up, lost := p.up, p.lost
	p.mu.Unlock()
	if up != nil {
		return up, nil
	}
	stream, err := p.connect(ctx, time.Since(lost))
	if err != nil {
		return nil, err
	}
	up = p.use(ctx, stream)
	for _, line := range p.handshake {
		p.replay(up, line)
	}
	for _, uri := range slices.Sorted(maps.Keys(p.subscribed)) {
		p.replay(up, p.subscribed[uri])
	}
	return up, nil
}

func (p *proxy) remember(m message, line []byte) {
	switch m.Method {
	case "initialize":
		p.handshake = [][]byte{line}
	case "notifications/initialized":
		p.handshake = append(p.handshake, line)
	case "resources/subscribe":
		p.subscribed[m.Params.URI] = line
	case "resources/unsubscribe":
		delete(p.subscribed, m.Params.URI)
	}
}

func (p *proxy) replay(up *upstream, line []byte) {
	var m message
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil || json.Unmarshal(line, &fields) != nil {
		return
	}
	if m.isRequest() {
		p.replayed++
		m.replay, m.ID = true, fmt.Appendf(nil, `"relayfs-replay-%d"`, p.replayed)
		fields["id"] = m.ID
	}
	if again, err := json.Marshal(fields); err == nil {
		up.send(m, append(again, '\n'))
	}
}

func (p *proxy) use(ctx context.Context, stream io.ReadWriteCloser) *upstream {
	up := &upstream{stream: stream, ended: make(chan struct{}), pending: make(map[string]message)}
	p.mu.Lock()
	p.up = up
	p.mu.Unlock()
	go p.follow(up)
	go up.attend(ctx)
	return up
}

// follow passes on the server's messages until it ends, and then answers the requests without an answer.
func (p *proxy) follow(up *upstream) {
	defer close(up.ended)
	for br := bufio.NewReader(up.stream); ; {
		line, err := br.ReadBytes('\n')
		if err != nil {
			break // a partial line is not a message
		}
		var m message
		if json.Unmarshal(line, &m) == nil && m.Method == "" && up.answered(m).replay {
			continue
		}
		if p.tell(line) != nil {
			break
		}
	}
	up.stream.Close()
	p.mu.Lock()
	p.up, p.lost = nil, time.Now()
	p.mu.Unlock()
	left, text := up.end()
	for _, m := range left {
		p.tell(failed(m, text))
	}
}

func (p *proxy) tell(line []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.out.Write(line)
	return err
}

// lostAnswer answers a request that was under way when the server ended.
const lostAnswer = "The relayfs process that serves the notes ended before it answered. Whether anything was changed is not known. " +
	"Wait a few seconds, then read the document again."

// refusal answers a request that reached no server.
func refusal(err error) string {
	return fmt.Sprintf("The notes cannot be reached: %v. Nothing was changed. Wait a few seconds and try again; then read a document again before you edit it.", err)
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
	return append(line, '\n')
}

type upstream struct {
	stream io.ReadWriteCloser
	ended  chan struct{} // closed after its last message

	mu      sync.Mutex         // protects the following
	pending map[string]message // requests without an answer, by id; nil once it has ended
	why     error              // why the proxy closed it
}

// lookEvery is how often the proxy checks a server that owes an answer.
const lookEvery = 2 * time.Second

// attend closes the connection if the process at its other end owes an answer and does not run.
func (u *upstream) attend(ctx context.Context) {
	s, ok := u.stream.(interface{ Alive(context.Context) error })
	if !ok {
		return // within this process
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.ended:
			return
		case <-tick.C:
		}
		u.mu.Lock()
		owes := len(u.pending) > 0
		u.mu.Unlock()
		if !owes {
			continue
		}
		if err := s.Alive(ctx); err != nil && ctx.Err() == nil {
			u.mu.Lock()
			u.why = err
			u.mu.Unlock()
			u.stream.Close()
			return
		}
	}
}

// send sends a message to the server. It returns false if the connection has ended or takes no more. If
// it ends later, end returns the message.
func (u *upstream) send(m message, line []byte) bool {
	u.mu.Lock()
	alive := u.pending != nil
	if alive && m.isRequest() {
		u.pending[m.key()] = m
	}
	u.mu.Unlock()
	if !alive {
		return false
	}
	n, err := u.stream.Write(line)
	switch {
	case err != nil && n == 0: // it has stopped reading, but still answers what it has read
		u.answered(m)
		return false
	case err != nil:
		u.stream.Close()
	}
	return true
}

func (u *upstream) answered(m message) message {
	u.mu.Lock()
	defer u.mu.Unlock()
	request := u.pending[m.key()]
	delete(u.pending, m.key())
	return request
}

// end returns the client's requests without an answer, and the text to answer them with.
func (u *upstream) end() (left []message, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range u.pending {
		if !m.replay {
			left = append(left, m)
		}
	}
	u.pending = nil
	if u.why != nil {
		return left, fmt.Sprintf("There is no answer: %v. Whether anything was changed is not known. Try again when it runs; read the document first.", u.why)
	}
	return left, lostAnswer
}
