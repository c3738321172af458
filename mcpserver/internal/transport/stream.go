// Package transport serves the protocol to one client on a stream, stdin and stdout or the owner's socket
// (stream.go), and over Streamable HTTP, with the sessions of its clients (http.go). It knows no tool and no note.
// The lock of a stream protects its writer, that of Sessions the list of them, and that of a Budget is a leaf.
package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	// MaxMessage bounds a message on a stream: the largest note with every character escaped.
	MaxMessage = 6*model.MaxNote + 1<<20
	// maxCalls bounds the requests of one stream that run at a time. The next one waits unread.
	maxCalls = 32
	// maxNotices bounds the notifications that wait for a client that does not read.
	maxNotices = 256
)

// Subscriptions are the resources that sessions subscribe to, by their URIs.
type Subscriptions interface {
	Add(session, uri string)
	Remove(session, uri string)
	Of(session string) []string
	End(session string)
}

// StreamOptions of a stream.
type StreamOptions struct {
	Protocol      *server.MCPServer
	ID            string // of the session
	Client        string // its name in errors
	Subscriptions Subscriptions
	// Prepare returns a message as Protocol is to handle it, or else the reply to it.
	Prepare func(ctx context.Context, message []byte) (prepared []byte, reply any)
	Logger  *slog.Logger
}

// ServeStream serves one client that sends JSON-RPC messages on r, one per line, and receives its answers
// on w. It returns nil when r ends and every request is answered. It returns ctx's error when ctx
// ends first; the caller must then close r, because a read may still wait on it. Handlers get the
// values of ctx.
//
// ServeStream does not use mcp-go's stdio server, which has one session per process for all streams.
func ServeStream(ctx context.Context, r io.Reader, w io.Writer, o StreamOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st := &stream{StreamOptions: o, w: w, notices: make(chan mcp.JSONRPCNotification, maxNotices), slots: make(chan struct{}, maxCalls)}
	if err := o.Protocol.RegisterSession(ctx, st); err != nil {
		return fmt.Errorf("session of %s: %w", o.Client, err)
	}
	defer o.Subscriptions.End(st.ID)
	defer o.Protocol.UnregisterSession(ctx, st.ID)
	ctx = o.Protocol.WithContext(ctx, st)
	st.others.Go(func() { st.notify(ctx) })
	defer st.others.Wait()
	defer cancel()
	err := st.serve(ctx, r)
	if err == nil {
		st.calls.Wait()
	}
	cancel()
	st.calls.Wait()
	return err
}

// stream is one client on a stream. It is the mcp-go session of its requests.
type stream struct {
	StreamOptions
	notices chan mcp.JSONRPCNotification
	ready   atomic.Bool

	slots  chan struct{}  // one for each request that runs
	calls  sync.WaitGroup // requests that end by themselves
	others sync.WaitGroup // goroutines that end with the stream
	asks   atomic.Int64   // requests to the client so far
	asked  sync.Map       // those that wait for the client's answer: a chan clientAnswer by id

	writing sync.Mutex // protects the following
	w       io.Writer
}

// These methods make a stream an mcp-go client session.

func (st *stream) SessionID() string { return st.ID }
func (st *stream) Initialize()       { st.ready.Store(true) }
func (st *stream) Initialized() bool { return st.ready.Load() }
func (st *stream) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return st.notices
}

// These methods are for subscriptions/listen of the newest protocol. Earlier ones subscribe by hooks.

func (st *stream) SubscribeToResource(uri string)     { st.Subscriptions.Add(st.ID, uri) }
func (st *stream) UnsubscribeFromResource(uri string) { st.Subscriptions.Remove(st.ID, uri) }
func (st *stream) SubscribedResources() []string      { return st.Subscriptions.Of(st.ID) }
func (st *stream) IsSubscribedToResource(uri string) bool {
	return slices.Contains(st.SubscribedResources(), uri)
}

// Lines reads the messages of r, one per line and no blank ones, in a goroutine, because a read cannot be
// cancelled. It closes the channel when r ends, or with the first line after the end of ctx. Then failed
// returns the error that ended r: bufio.ErrTooLong for a message longer than MaxMessage.
func Lines(ctx context.Context, r io.Reader) (lines <-chan []byte, failed func() error) {
	out := make(chan []byte)
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), MaxMessage)
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

func (st *stream) serve(ctx context.Context, r io.Reader) error {
	lines, failed := Lines(ctx, r)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, open := <-lines:
			if !open && errors.Is(failed(), bufio.ErrTooLong) {
				return fmt.Errorf("message of %s is longer than %d MiB", st.ID, MaxMessage>>20)
			}
			if !open {
				return failed()
			}
			if err := st.dispatch(ctx, line); err != nil {
				return err
			}
		}
	}
}

// dispatch handles one message. Requests run concurrently, so that a long search does not delay its
// cancellation. Initialize and notifications are done before the next message is read.
func (st *stream) dispatch(ctx context.Context, line []byte) error {
	var head struct {
		Method mcp.MCPMethod   `json:"method"`
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	// mcp-go answers what is not JSON.
	if json.Unmarshal(line, &head) != nil || head.ID == nil || head.Method == mcp.MethodInitialize {
		return st.answer(ctx, line)
	}
	if head.Method == "" && (head.Result != nil || head.Error != nil) {
		st.take(head.ID, line)
		return nil
	}
	select {
	case st.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	group := &st.calls
	if head.Method == mcp.MethodSubscriptionsListen {
		group = &st.others // lasts until the stream ends
	}
	group.Go(func() {
		defer func() { <-st.slots }()
		if err := st.answer(ctx, line); err != nil {
			st.Logger.Debug("answer not sent", model.LogErr, err)
		}
	})
	return nil
}

func (st *stream) answer(ctx context.Context, line []byte) error {
	line, refused := st.Prepare(ctx, line)
	if refused != nil {
		return st.send(refused)
	}
	if reply := st.Protocol.HandleMessage(ctx, line); reply != nil {
		return st.send(reply)
	}
	return nil
}

func (st *stream) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-st.notices:
			if err := st.send(n); err != nil {
				st.Logger.Debug("notification not sent", model.LogErr, err)
			}
		}
	}
}

func (st *stream) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	st.writing.Lock()
	defer st.writing.Unlock()
	_, err = st.w.Write(append(line, '\n'))
	return err
}

// clientAnswer is the answer to a request of the server.
type clientAnswer struct {
	Result json.RawMessage          `json:"result"`
	Error  *mcp.JSONRPCErrorDetails `json:"error"`
}

// RequestElicitation asks the user of a client of a protocol before 2026-07-28, for mcp-go.
func (st *stream) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	id, answer := "relayfs-"+strconv.FormatInt(st.asks.Add(1), 10), make(chan clientAnswer, 1)
	st.asked.Store(id, answer)
	defer st.asked.Delete(id)
	err := st.send(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": mcp.MethodElicitationCreate, "params": req.Params})
	if err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-answer:
		if a.Error != nil {
			return nil, fmt.Errorf("client does not ask: %s", a.Error.Message)
		}
		var res mcp.ElicitationResult
		if err := json.Unmarshal(a.Result, &res); err != nil {
			return nil, fmt.Errorf("client's answer: %w", err)
		}
		return &res, nil
	}
}

// take passes the answer in line to the request with that id, if it still waits.
func (st *stream) take(rawID json.RawMessage, line []byte) {
	var id string
	var answer clientAnswer
	if json.Unmarshal(rawID, &id) != nil || json.Unmarshal(line, &answer) != nil {
		return
	}
	if ch, waits := st.asked.LoadAndDelete(id); waits {
		ch.(chan clientAnswer) <- answer
	}
}
