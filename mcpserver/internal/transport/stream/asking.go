package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// asking are the requests of the server that wait for a client's answer.
type asking struct {
	mu      sync.Mutex // protects the following
	next    int
	waiting map[string]chan clientAnswer
}

// clientAnswer is what a client answers to a request of the server.
type clientAnswer struct {
	Result json.RawMessage          `json:"result"`
	Error  *mcp.JSONRPCErrorDetails `json:"error"`
}

// RequestElicitation asks the client's user, for clients of protocols before
// 2026-07-28: it makes a stream an mcp-go session with elicitation.
func (st *stream) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	id, answer := st.asking.begin()
	defer st.asking.end(id)
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

func (a *asking) begin() (id string, answer <-chan clientAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = make(map[string]chan clientAnswer)
	}
	a.next++
	id = "relayfs-" + strconv.Itoa(a.next)
	ch := make(chan clientAnswer, 1)
	a.waiting[id] = ch
	return id, ch
}

func (a *asking) end(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// take hands the answer in line, a message with an id and without a method, to
// who waits for it. Nobody waits for what came too late.
func (a *asking) take(rawID json.RawMessage, line []byte) {
	var id string
	var answer clientAnswer
	if json.Unmarshal(rawID, &id) != nil || json.Unmarshal(line, &answer) != nil {
		return
	}
	a.mu.Lock()
	ch := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if ch != nil {
		ch <- answer
	}
}
