package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// callOrder makes the tool calls of one client take effect in their order of arrival. A call that changes something
// waits for all earlier calls, and all later calls wait for it.
type callOrder struct {
	mu     sync.Mutex      // guards the fields below
	change <-chan struct{} // closed when the last call that changes something has ended
	reads  []<-chan struct{}
}

type turn struct {
	before []<-chan struct{}
	end    func()
}

func (o *callOrder) enter(changes bool) turn {
	done := make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	t := turn{end: sync.OnceFunc(func() { close(done) })}
	if o.change != nil {
		t.before = append(t.before, o.change)
	}
	if changes {
		t.before, o.change, o.reads = append(t.before, o.reads...), done, nil
		return t
	}
	o.reads = append(slices.DeleteFunc(o.reads, isClosed), done)
	return t
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (t turn) wait(ctx context.Context) error {
	for _, c := range t.before {
		select {
		case <-c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

type turnKey struct{} // context key of a turn

// inOrder registers message in the order of arrival if it calls a tool of the session. The returned context then has
// the call's turn. The caller must call done after the response.
func (s *Session) inOrder(ctx context.Context, message []byte) (_ context.Context, done func()) {
	var req struct {
		Method mcp.MCPMethod         `json:"method"`
		Params struct{ Name string } `json:"params"`
	}
	if json.Unmarshal(message, &req) != nil || req.Method != mcp.MethodToolsCall {
		return ctx, func() {}
	}
	i := slices.IndexFunc(s.enabled.tools, func(t tool.Tool) bool { return t.Name == req.Params.Name })
	if i < 0 {
		return ctx, func() {}
	}
	t := s.order.enter(!s.enabled.tools[i].Hints.ReadOnly)
	return context.WithValue(ctx, turnKey{}, t), t.end
}
