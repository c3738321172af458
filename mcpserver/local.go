package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// localHandler serves programs such as 'relayfs mcp' on stdio, each of which forwards the messages of one client. A
// program opens an SSE stream with GET. The header Mcp-Session-Id of the answer identifies the session, which ends with
// the stream. The program sends each message with POST and gets the answer as JSON. The stream carries notifications and
// requests to the client.
//
// Unlike in Streamable HTTP, a session does not begin with initialize, because the newest protocol version has no
// initialize.
type localHandler struct {
	s   *Server
	all sync.Map // maps session IDs to *local values
}

// LocalHandler serves clients of this machine in all protocol versions. The URL query of the request that opens the
// stream describes the client (Client.Query).
func (s *Server) LocalHandler() http.Handler {
	return &localHandler{s: s}
}

func (h *localHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		h.stream(w, r)
		return
	}
	found, _ := h.all.Load(r.Header.Get(server.HeaderKeySessionID))
	c, ok := found.(*local)
	if !ok {
		http.Error(w, "there is no such session", http.StatusNotFound)
		return
	}
	message, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req := requestOf(message)
	if req.ID != nil && req.Method == "" && (req.Result != nil || req.Error != nil) {
		c.take(req)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx := context.WithoutCancel(r.Context()) // a request continues even if the client disconnects
	if req.Method == mcp.MethodSubscriptionsListen {
		ctx = c.ended // the stream lasts as long as the session
	}
	ctx, end := c.inOrder(ctx, req)
	defer end()
	if req.ID != nil {
		// After the header, the client may send the next message.
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush() // if this fails, sending the answer fails too
	}
	reply := c.handle(ctx, req, message)
	if reply == nil {
		if req.ID == nil { // otherwise the header has been sent
			w.WriteHeader(http.StatusAccepted)
		}
		return
	}
	if err := json.NewEncoder(w).Encode(reply); err != nil {
		h.s.log.Debug("answer not sent", model.LogErr, err)
	}
}

func (h *localHandler) stream(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	sess := h.s.NewSession(Client{Name: "stdio", Author: r.FormValue("author"), ReadOnly: r.FormValue("read-only") != ""})
	c := &local{Session: sess, s: h.s, ended: ctx, notices: make(chan mcp.JSONRPCNotification, maxNotices), questions: make(chan any)}
	if err := h.s.mcp.RegisterSession(ctx, c); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer h.s.mcp.UnregisterSession(ctx, c.SessionID())
	defer h.s.subscriptions.End(c.SessionID())
	h.all.Store(c.SessionID(), c)
	defer h.all.Delete(c.SessionID())
	// A client that does not read must not delay the shutdown.
	out := http.NewResponseController(w)
	stop := context.AfterFunc(ctx, func() { out.SetWriteDeadline(time.Now()) })
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Connection", "close") // the deadline must not affect another request
	w.Header().Set(server.HeaderKeySessionID, c.SessionID())
	for err := out.Flush(); err == nil; {
		var message any
		select {
		case <-ctx.Done():
			out.SetWriteDeadline(time.Now()) // AfterFunc may not have run
			return
		case message = <-c.notices:
		case message = <-c.questions:
		}
		var text []byte
		if text, err = json.Marshal(message); err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		if err == nil {
			err = out.Flush()
		}
	}
}

// local is one client, and the mcp-go session of its requests.
type local struct {
	*Session
	s     *Server
	ended context.Context // done when the stream has ended

	notices   chan mcp.JSONRPCNotification
	questions chan any // requests that are sent to the client
	ready     atomic.Bool
	asks      atomic.Int64 // number of requests sent to the client
	asked     sync.Map     // requests that wait for the client's answer: maps an ID to a chan request
}

// The following methods implement an mcp-go client session.

func (c *local) SessionID() string { return c.id() }
func (c *local) Initialize()       { c.ready.Store(true) }
func (c *local) Initialized() bool { return c.ready.Load() }
func (c *local) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return c.notices
}

// The following methods are for subscriptions/listen of the newest protocol version. Earlier versions subscribe through
// hooks.

func (c *local) SubscribeToResource(uri string)     { c.s.subscriptions.Add(c.id(), uri) }
func (c *local) UnsubscribeFromResource(uri string) { c.s.subscriptions.Remove(c.id(), uri) }
func (c *local) SubscribedResources() []string      { return c.s.subscriptions.Of(c.id()) }
func (c *local) IsSubscribedToResource(uri string) bool {
	return slices.Contains(c.SubscribedResources(), uri)
}

func (c *local) handle(ctx context.Context, req request, message []byte) any {
	ctx = c.s.mcp.WithContext(ctx, c)
	message, refused := c.s.prepare(ctx, c.Session, req, message)
	if refused != nil {
		return refused
	}
	if reply := c.s.mcp.HandleMessage(ctx, message); reply != nil {
		return reply
	}
	return nil
}

// RequestElicitation is called by mcp-go for clients of protocol versions before 2026-07-28.
func (c *local) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	id, answer := "relayfs-"+strconv.FormatInt(c.asks.Add(1), 10), make(chan request, 1)
	c.asked.Store(id, answer)
	defer c.asked.Delete(id)
	question := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": mcp.MethodElicitationCreate, "params": req.Params}
	for asked := c.questions; ; {
		select {
		case asked <- question:
			asked = nil
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
}

// take passes an answer to the request that waits for it.
func (c *local) take(answer request) {
	var id string
	if json.Unmarshal(answer.ID, &id) != nil {
		return
	}
	if ch, waits := c.asked.LoadAndDelete(id); waits {
		ch.(chan request) <- answer
	}
}
