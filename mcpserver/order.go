package mcpserver

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// callOrder makes the tool calls of one client take effect in their order of arrival. A call that changes something
// waits for all earlier calls, and all later calls wait for it. At most maxCalls calls run at the same time.
type callOrder struct {
	mu    sync.Mutex // guards the field below
	calls []call     // the calls that have not ended, in order of arrival
}

const maxCalls = 32

type call struct {
	changes bool
	ended   chan struct{} // closed when the call has ended
}

type turn struct {
	before []<-chan struct{}
	end    func()
}

// enter adds a call. Its turn has every unfinished change, not only the last one: a cancelled call ends before the
// calls that it waits for.
func (o *callOrder) enter(changes bool) turn {
	c := call{changes, make(chan struct{})}
	t := turn{end: sync.OnceFunc(func() { close(c.ended) })}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = slices.DeleteFunc(o.calls, call.hasEnded)
	for i, earlier := range o.calls {
		if changes || earlier.changes || i <= len(o.calls)-maxCalls {
			t.before = append(t.before, earlier.ended)
		}
	}
	o.calls = append(o.calls, c)
	return t
}

func (c call) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// wait returns an error if the call was cancelled before its turn.
func (t turn) wait(ctx context.Context) error {
	for _, c := range t.before {
		select {
		case <-c:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

type turnKey struct{} // context key of a turn

// inOrder registers req in the order of arrival if it calls a tool of the session. The returned context then has the
// call's turn. The caller must call done after the response.
func (s *Session) inOrder(ctx context.Context, req request) (_ context.Context, done func()) {
	i := slices.IndexFunc(s.enabled.tools, func(t tool.Tool) bool { return t.Name == req.Params.Name })
	if i < 0 || req.Method != mcp.MethodToolsCall {
		return ctx, func() {}
	}
	t := s.order.enter(!s.enabled.tools[i].Hints.ReadOnly)
	return context.WithValue(ctx, turnKey{}, t), t.end
}
