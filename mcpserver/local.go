package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	// MaxMessage is the maximum size of a message in bytes. It allows the largest note with every character escaped.
	MaxMessage = 6*model.MaxNote + 1<<20
	// maxNotices is the maximum number of notifications that are queued for a slow client.
	maxNotices = 256
	// writeTime is the maximum time for writing a message during the shutdown, which a client that does not read must not
	// delay.
	writeTime = time.Second
	// LocalProtocol is the protocol of LocalHandler in the header Upgrade.
	LocalProtocol = "relayfs-mcp"
)

// LocalHandler serves clients of this machine in all protocol versions. A program such as 'relayfs mcp' on stdio forwards
// the messages of one client. It upgrades a connection to LocalProtocol, which carries the messages in both directions,
// one on each line. The URL query describes the client (Client.Query).
//
// The session is the connection. When the client's messages end, or the server shuts down, the server answers the
// messages that it has read, and then sends an empty line. Messages that have no answer by then had no effect. Unlike in
// Streamable HTTP, a session does not begin with initialize, because the newest protocol version has no initialize.
func (s *Server) LocalHandler() http.Handler { return http.HandlerFunc(s.serveLocal) }

func (s *Server) serveLocal(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != LocalProtocol {
		http.Error(w, "the protocol must be "+LocalProtocol, http.StatusUpgradeRequired)
		return
	}
	sess := s.NewSession(Client{Name: "stdio", Author: r.FormValue("author"), ReadOnly: r.FormValue("read-only") != ""})
	ctx := context.WithoutCancel(r.Context()) // a request continues even if the client disconnects
	ended, end := context.WithCancel(ctx)
	defer end()
	c := &local{Session: sess, s: s, down: r.Context(), ended: ended, notices: make(chan mcp.JSONRPCNotification, maxNotices)}
	var in *bufio.ReadWriter
	err := s.mcp.RegisterSession(ctx, c)
	if err == nil {
		defer s.mcp.UnregisterSession(ctx, c.SessionID())
		defer s.subscriptions.End(c.SessionID())
		c.conn, in, err = http.NewResponseController(w).Hijack()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer c.conn.Close()
	stop := context.AfterFunc(c.down, func() {
		_ = c.conn.SetReadDeadline(time.Now())
		_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime))
	})
	defer stop()
	c.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + LocalProtocol + "\r\n\r\n")
	noticing, stopNotices := context.WithCancel(ctx)
	var notices, requests sync.WaitGroup
	notices.Go(func() { c.notify(noticing) })
	c.read(s.mcp.WithContext(ctx, c), in, &requests)
	end()
	requests.Wait()
	stopNotices()
	notices.Wait()
	c.write("\n")
}

// local is one client, and the mcp-go session of its requests.
type local struct {
	*Session
	s     *Server
	down  context.Context // done when the server shuts down
	ended context.Context // done when the client's messages have ended

	writing sync.Mutex // guards writing to conn
	conn    net.Conn

	notices chan mcp.JSONRPCNotification
	ready   atomic.Bool
	asks    atomic.Int64 // number of requests sent to the client
	asked   sync.Map     // requests that wait for the client's answer: maps an ID to a chan request
	running sync.Map     // requests of the client: maps an ID to a context.CancelFunc
}

// read reads the messages of the client. It handles notifications and initialize before it reads the next message, and
// the other requests in goroutines of requests.
func (c *local) read(ctx context.Context, body io.Reader, requests *sync.WaitGroup) {
	sc := bufio.NewScanner(body)
	sc.Buffer(make([]byte, 0, 64<<10), MaxMessage)
	sc.Split(func(data []byte, _ bool) (int, []byte, error) { return bufio.ScanLines(data, false) }) // not a part of a line
	for sc.Scan() {
		message := bytes.Clone(sc.Bytes())
		req := requestOf(message)
		switch {
		case req.ID != nil && req.Method == "" && (req.Result != nil || req.Error != nil):
			c.take(req)
		case req.Method == mcp.MethodNotificationCancelled:
			if cancel, ok := c.running.Load(string(req.Params.RequestID)); ok {
				cancel.(context.CancelFunc)()
			}
		case req.ID == nil || req.Method == mcp.MethodInitialize:
			c.handle(ctx, req, message)
		default:
			whole := ctx
			if req.Method == mcp.MethodSubscriptionsListen {
				whole = c.s.mcp.WithContext(c.ended, c) // the stream lasts as long as the session
			}
			whole, end := c.inOrder(whole, req)
			whole, cancel := context.WithCancel(whole)
			c.running.Store(string(req.ID), cancel)
			requests.Go(func() {
				defer end()
				defer cancel()
				defer c.running.Delete(string(req.ID))
				c.handle(whole, req, message)
			})
		}
	}
}

// handle passes a message to mcp-go, and sends the response.
func (c *local) handle(ctx context.Context, req request, message []byte) {
	message, refused := c.s.prepare(ctx, c.Session, req, message)
	if refused != nil {
		c.send(refused)
	} else if reply := c.s.mcp.HandleMessage(ctx, message); reply != nil {
		c.send(reply)
	}
}

func (c *local) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case notice := <-c.notices:
			c.send(notice)
		}
	}
}

func (c *local) send(message any) {
	text, err := json.Marshal(message)
	if err != nil {
		c.s.log.Error("message is not JSON", model.LogErr, err)
		return
	}
	c.write(string(text) + "\n")
}

func (c *local) write(text string) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.down.Err() != nil {
		_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime))
	}
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.s.log.Debug("message not sent", model.LogErr, err)
		c.conn.Close() // the next messages would wait, too
	}
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

// RequestElicitation is called by mcp-go for clients of protocol versions before 2026-07-28.
func (c *local) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	// The ID differs from those of other servers, to which the client may be connected before and after.
	id, answer := fmt.Sprintf("%s-%d", c.id(), c.asks.Add(1)), make(chan request, 1)
	c.asked.Store(id, answer)
	defer c.asked.Delete(id)
	c.send(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": mcp.MethodElicitationCreate, "params": req.Params})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ended.Done():
		return nil, fmt.Errorf("client cannot ask the user: it has ended")
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
