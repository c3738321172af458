// Package transport serves MCP over HTTP in two ways. Local (local.go) serves clients of this machine on the socket of
// the owner, in all protocol versions. HTTPHandler (http.go) serves Streamable HTTP by mcp-go, in the protocol versions
// with sessions, which are the versions before 2026-07-28. The package keeps the sessions, limits the size of messages,
// and passes them to mcp-go, which calls the tools. It does not check authorization. Sessions has a lock for its list.
// A session of Local has two locks, in this order: one while it takes a message, and one for its response.
package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	// MaxMessage is the maximum size of a message in bytes. It allows the largest note with every character escaped.
	MaxMessage = 6*model.MaxNote + 1<<20
	// maxNotices is the maximum number of notifications that are queued for a slow client.
	maxNotices = 256
)

// Lines scans the messages in r, one per line.
func Lines(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), MaxMessage)
	return lines
}

// Subscriptions are the resource subscriptions of sessions, by URI.
type Subscriptions interface {
	Add(session, uri string)
	Remove(session, uri string)
	Of(session string) []string
	End(session string)
}

type LocalSession struct {
	ID string
	// Begin is called for each message except replies, in the order of arrival. It returns the context of the message,
	// and a function to call after the answer was sent.
	Begin func(ctx context.Context, message []byte) (_ context.Context, end func())
	// Prepare returns the message for Protocol, or a reply.
	Prepare func(ctx context.Context, message []byte) (prepared []byte, reply any)
}

// Local serves programs such as 'relayfs mcp' on stdio, each of which forwards the messages of one client. A session is
// one request: its body has the messages of the client, and its response has those of the server, one per line. The
// session ends with the body. If the server ends first, it answers the requests that it has taken, and then sends an
// empty line. So it has not executed a request that has no answer before the empty line.
//
// Streamable HTTP does not have the order of a client's messages, and has no sessions in the newest protocol version.
type Local struct {
	Protocol      *server.MCPServer
	Subscriptions Subscriptions
	Begin         func(*http.Request) LocalSession // starts a session
	Logger        *slog.Logger
}

func (h *Local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithoutCancel(r.Context()) // requests in progress continue even if the client disconnects
	c := &local{LocalSession: h.Begin(r), h: h, w: w, out: http.NewResponseController(w), notices: make(chan mcp.JSONRPCNotification, maxNotices)}
	c.ended, c.end = context.WithCancel(ctx)
	defer c.end()
	if err := h.Protocol.RegisterSession(ctx, c); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer h.Protocol.UnregisterSession(ctx, c.ID)
	defer h.Subscriptions.End(c.ID)
	_ = c.out.EnableFullDuplex() // only HTTP/1 needs it and has it
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Connection", "close") // the deadline of finish must not affect another request
	_ = c.out.Flush()                     // if this fails, reading fails too
	c.calls.Go(c.notify)
	finish := sync.OnceFunc(c.finish)
	defer finish()
	defer context.AfterFunc(r.Context(), finish)()
	for in := Lines(r.Body); in.Scan() && in.Err() == nil; { // with an error, the line may be incomplete
		c.receive(ctx, bytes.Clone(in.Bytes()))
	}
}

// goodbyeTime is the maximum time that a client may take to end a session that the server has finished.
const goodbyeTime = time.Second

// finish stops taking messages, waits for the requests in progress, and tells the client that no message follows. The
// server still reads, because the client might lose answers if the connection were closed while it sends.
func (c *local) finish() {
	c.taking.Lock()
	c.end()
	c.taking.Unlock()
	c.calls.Wait()
	_ = c.sendLine(nil) // the client may have disconnected
	_ = c.out.SetReadDeadline(time.Now().Add(goodbyeTime))
}

// local is one client, and the mcp-go session of its requests.
type local struct {
	LocalSession
	h *Local

	taking sync.Mutex      // held while a message is taken, and while the session ends
	ended  context.Context // done when the session takes no more messages
	end    context.CancelFunc
	calls  sync.WaitGroup

	writing sync.Mutex // guards the fields below
	w       io.Writer
	out     *http.ResponseController

	notices chan mcp.JSONRPCNotification
	ready   atomic.Bool
	asks    atomic.Int64 // number of requests sent to the client
	asked   sync.Map     // requests that wait for the client's answer: maps an ID to a chan clientAnswer
}

// The following methods implement an mcp-go client session.

func (c *local) SessionID() string { return c.ID }
func (c *local) Initialize()       { c.ready.Store(true) }
func (c *local) Initialized() bool { return c.ready.Load() }
func (c *local) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return c.notices
}

// The following methods are for subscriptions/listen of the newest protocol version. Earlier versions subscribe through
// hooks.

func (c *local) SubscribeToResource(uri string)     { c.h.Subscriptions.Add(c.ID, uri) }
func (c *local) UnsubscribeFromResource(uri string) { c.h.Subscriptions.Remove(c.ID, uri) }
func (c *local) SubscribedResources() []string      { return c.h.Subscriptions.Of(c.ID) }
func (c *local) IsSubscribedToResource(uri string) bool {
	return slices.Contains(c.SubscribedResources(), uri)
}

// receive handles a message. It returns when "initialize" or a notification is completed, or when any other request has
// started.
func (c *local) receive(ctx context.Context, message []byte) {
	c.taking.Lock()
	defer c.taking.Unlock()
	if c.ended.Err() != nil {
		return
	}
	var head struct {
		Method mcp.MCPMethod   `json:"method"`
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(message, &head) // mcp-go handles a message that is not JSON
	if head.ID != nil && head.Method == "" && (head.Result != nil || head.Error != nil) {
		c.take(head.ID, message)
		return
	}
	if head.Method == mcp.MethodSubscriptionsListen {
		ctx = c.ended // the response is a stream that lasts as long as the session
	}
	ctx, end := c.Begin(ctx, message)
	answer := func() {
		defer end()
		if reply := c.handle(ctx, head.ID, message); reply != nil {
			_ = c.send(reply) // the client may have disconnected
		}
	}
	if head.ID == nil || head.Method == mcp.MethodInitialize {
		answer()
	} else {
		c.calls.Go(answer)
	}
}

func (c *local) handle(ctx context.Context, id json.RawMessage, message []byte) (reply any) {
	defer func() {
		if r := recover(); r != nil {
			c.h.Logger.Error("panic while handling a message", "panic", r)
			reply = mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INTERNAL_ERROR, "internal error", nil)
		}
	}()
	ctx = c.h.Protocol.WithContext(ctx, c)
	message, refused := c.Prepare(ctx, message)
	if refused != nil {
		return refused
	}
	if reply := c.h.Protocol.HandleMessage(ctx, message); reply != nil {
		return reply
	}
	return nil
}

// notify sends notifications until the session ends.
func (c *local) notify() {
	for {
		select {
		case <-c.ended.Done():
			return
		case notice := <-c.notices:
			_ = c.send(notice) // the client may have disconnected
		}
	}
}

func (c *local) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return c.sendLine(line)
}

func (c *local) sendLine(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.w.Write(append(line, '\n')); err != nil {
		return err
	}
	return c.out.Flush()
}

type clientAnswer struct {
	Result json.RawMessage          `json:"result"`
	Error  *mcp.JSONRPCErrorDetails `json:"error"`
}

// RequestElicitation is called by mcp-go for clients of protocol versions before 2026-07-28.
func (c *local) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	id, answer := "relayfs-"+strconv.FormatInt(c.asks.Add(1), 10), make(chan clientAnswer, 1)
	c.asked.Store(id, answer)
	defer c.asked.Delete(id)
	if err := c.send(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": mcp.MethodElicitationCreate, "params": req.Params}); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ended.Done():
		return nil, c.ended.Err()
	case a := <-answer:
		if a.Error != nil {
			return nil, fmt.Errorf("client cannot ask the user: %s", a.Error.Message)
		}
		var res mcp.ElicitationResult
		if err := json.Unmarshal(a.Result, &res); err != nil {
			return nil, fmt.Errorf("client's answer: %w", err)
		}
		return &res, nil
	}
}

// take passes the reply in message to the waiting request with that ID.
func (c *local) take(rawID json.RawMessage, message []byte) {
	var id string
	var answer clientAnswer
	if json.Unmarshal(rawID, &id) != nil || json.Unmarshal(message, &answer) != nil {
		return
	}
	if ch, waits := c.asked.LoadAndDelete(id); waits {
		ch.(chan clientAnswer) <- answer
	}
}
