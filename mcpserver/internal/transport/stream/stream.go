// Package stream serves the protocol to one client on a stream: stdin and stdout, or the
// owner's socket. It knows no tool and no note. The locks of a stream protect its writer,
// and the requests that wait for the client's answer.
package stream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	// MaxMessage is the longest message on a stream, in bytes: the largest note,
	// every character of it escaped.
	MaxMessage = 6*model.MaxNote + 1<<20
	// maxCalls is how many requests of one stream are worked on at a time. The
	// next one is not read until one is answered.
	maxCalls = 32
	// maxNotices is how many notifications wait for a client that does not read.
	maxNotices = 256
)

// Subscriptions are what sessions want to hear about.
type Subscriptions interface {
	Add(session, uri string)
	Remove(session, uri string)
	Of(session string) []string
	End(session string)
}

// Options of a stream.
type Options struct {
	Protocol      *server.MCPServer
	ID            string // of the session
	Client        string // how it came, for errors
	Subscriptions Subscriptions
	NoSuchTool    func(name string) string // says which tools there are instead
	Logger        *slog.Logger
}

// Serve serves one client that sends JSON-RPC messages on r, one a line, and gets its
// answers on w. It returns nil when r ends and every request is answered, and ctx's
// error when ctx ends first: then the caller closes r, on which a read may still wait.
// Handlers get ctx's values.
//
// The package does not use mcp-go's stdio server, whose one session per process
// all streams would share.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st := &stream{Options: o, w: w, notices: make(chan mcp.JSONRPCNotification, maxNotices), slots: make(chan struct{}, maxCalls)}
	if err := o.Protocol.RegisterSession(ctx, st); err != nil {
		return fmt.Errorf("session of %s: %w", o.Client, err)
	}
	defer o.Subscriptions.End(st.ID)
	defer o.Protocol.UnregisterSession(ctx, st.ID)
	ctx = o.Protocol.WithContext(ctx, st)
	st.others.Go(func() { st.notify(ctx) })
	defer st.others.Wait()
	defer cancel()
	err := st.serve(ctx, lines(ctx, r))
	if err == nil {
		st.calls.Wait()
	}
	cancel()
	st.calls.Wait()
	return err
}

// stream is one client on a stream. It is the mcp-go session of its requests.
type stream struct {
	Options
	notices chan mcp.JSONRPCNotification
	ready   atomic.Bool

	slots  chan struct{}  // one for each request that is worked on
	calls  sync.WaitGroup // requests that end by themselves
	others sync.WaitGroup // what ends with the stream
	asking asking

	writing sync.Mutex // protects the following
	w       io.Writer
}

// SessionID, Initialize, Initialized and NotificationChannel make a stream an
// mcp-go client session.
func (st *stream) SessionID() string { return st.ID }
func (st *stream) Initialize()       { st.ready.Store(true) }
func (st *stream) Initialized() bool { return st.ready.Load() }
func (st *stream) NotificationChannel() chan<- mcp.JSONRPCNotification {
	return st.notices
}

// SubscribeToResource and the rest of SessionWithResourceSubscriptions let the
// newest protocol's subscriptions/listen subscribe; earlier ones go by hooks.
func (st *stream) SubscribeToResource(uri string)     { st.Subscriptions.Add(st.ID, uri) }
func (st *stream) UnsubscribeFromResource(uri string) { st.Subscriptions.Remove(st.ID, uri) }
func (st *stream) SubscribedResources() []string      { return st.Subscriptions.Of(st.ID) }
func (st *stream) IsSubscribedToResource(uri string) bool {
	return slices.Contains(st.SubscribedResources(), uri)
}

// input is one line of a stream, or the error that ended it.
type input struct {
	line []byte
	err  error
}

// lines reads r in a goroutine of its own, because a read cannot be cancelled.
// The goroutine ends with r, or with the first line after ctx has ended.
func lines(ctx context.Context, r io.Reader) <-chan input {
	out := make(chan input)
	go func() {
		defer close(out)
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 0, 64<<10), MaxMessage)
		for sc.Scan() {
			select {
			case out <- input{line: append([]byte(nil), sc.Bytes()...)}:
			case <-ctx.Done():
				return
			}
		}
		if err := sc.Err(); err != nil {
			select {
			case out <- input{err: err}:
			case <-ctx.Done():
			}
		}
	}()
	return out
}

// serve takes messages until the stream or ctx ends.
func (st *stream) serve(ctx context.Context, in <-chan input) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case msg, open := <-in:
			switch {
			case !open:
				return nil
			case errors.Is(msg.err, bufio.ErrTooLong):
				return fmt.Errorf("message of %s is longer than %d MiB", st.ID, MaxMessage>>20)
			case msg.err != nil:
				return msg.err
			}
			if err := st.dispatch(ctx, msg.line); err != nil {
				return err
			}
		}
	}
}

// dispatch works on one message. Requests run beside each other, so that a long
// search does not keep a cancellation waiting; initialize and notifications are
// done before the next message is looked at.
func (st *stream) dispatch(ctx context.Context, line []byte) error {
	var head struct {
		Method mcp.MCPMethod   `json:"method"`
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if len(line) == 0 {
		return nil
	}
	// What is not JSON is answered by mcp-go.
	if json.Unmarshal(line, &head) != nil || head.ID == nil || head.Method == mcp.MethodInitialize {
		return st.answer(ctx, line)
	}
	if head.Method == "" && (head.Result != nil || head.Error != nil) {
		st.asking.take(head.ID, line)
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
	var unknown string // the tool that was called and is none
	reply := st.Protocol.HandleMessage(context.WithValue(ctx, unknownTool{}, &unknown), line)
	if reply == nil {
		return nil
	}
	if e, ok := reply.(mcp.JSONRPCError); ok && unknown != "" {
		e.Error.Message = st.NoSuchTool(unknown)
		reply = e
	}
	return st.send(reply)
}

// unknownTool is the key, in a request's context, of where NoteUnknownTool puts
// the name.
type unknownTool struct{}

// NoteUnknownTool is a hook that keeps the name of a tool that does not exist.
func NoteUnknownTool(ctx context.Context, _ any, _ mcp.MCPMethod, message any, err error) {
	name, ok := ctx.Value(unknownTool{}).(*string)
	if req, called := message.(*mcp.CallToolRequest); ok && called && errors.Is(err, server.ErrToolNotFound) {
		*name = req.Params.Name
	}
}

// notify sends notifications until ctx ends.
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

// send writes one message.
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
