//go:build linux

package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// MCPClient speaks JSON-RPC, one message per line and one request at a time, with `relayfs mcp` on stdio.
type MCPClient struct {
	Cmd    *exec.Cmd
	in     io.WriteCloser
	Out    chan []byte
	Log    *Log
	closed bool
	LastID int
	// answer is the user's answer to questions. It is nil if the client cannot ask the user.
	answer    map[string]any
	Questions []string
	Thinking  func() // if set, called before each answer
}

func (s *Sandbox) MCP(t *testing.T, args ...string) *MCPClient {
	t.Helper()
	return s.MCPAnswering(t, nil, args...)
}

// MCPAnswering is MCP for a client whose user answers questions.
func (s *Sandbox) MCPAnswering(t *testing.T, answer map[string]any, args ...string) *MCPClient {
	t.Helper()
	capabilities := map[string]any{}
	if answer != nil {
		capabilities["elicitation"] = map[string]any{}
	}
	c := &MCPClient{answer: answer, Log: NewLog(), Out: make(chan []byte, 16)}
	c.Cmd = s.Command(context.Background(), append([]string{"mcp"}, args...)...)
	c.Cmd.Stderr = c.Log
	var err error
	if c.in, err = c.Cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.readLines(stdout)
	t.Cleanup(func() { c.Close(t) })
	c.Request(t, "initialize", map[string]any{
		"protocolVersion": "2025-06-18",
		"capabilities":    capabilities,
		"clientInfo":      map[string]any{"name": "relayfs-tests", "version": "1"},
	})
	c.Send(t, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

func (c *MCPClient) readLines(r io.Reader) {
	defer close(c.Out)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.Out <- line
		}
		if err != nil {
			return
		}
	}
}

// Close ends the server by closing its stdin, and checks that it exits without an error. Later calls do nothing.
func (c *MCPClient) Close(t *testing.T) {
	t.Helper()
	if err := c.end(t); err != nil {
		t.Errorf("relayfs mcp: %v\n%s", err, c.Log)
	}
}

func (c *MCPClient) end(t *testing.T) error {
	t.Helper()
	if c.closed {
		return nil
	}
	c.closed = true
	c.in.Close()
	deadline := time.After(StartTimeout)
	for open := true; open; {
		select {
		case _, open = <-c.Out:
		case <-deadline:
			t.Errorf("relayfs mcp does not end with its input\n%s", c.Log)
			_ = c.Cmd.Process.Kill()
			deadline = nil
		}
	}
	return c.Cmd.Wait()
}

func (c *MCPClient) Send(t *testing.T, message map[string]any) {
	t.Helper()
	line, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		t.Fatalf("relayfs mcp: %v\n%s", err, c.Log)
	}
}

// Request returns the result of a request; an RPC error fails the test.
func (c *MCPClient) Request(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	result, rpcError := c.Ask(t, method, params)
	if rpcError != nil {
		t.Fatalf("%s: %s", method, rpcError)
	}
	return result
}

func (c *MCPClient) Ask(t *testing.T, method string, params any) (result, rpcError json.RawMessage) {
	t.Helper()
	c.LastID++
	c.Send(t, map[string]any{"jsonrpc": "2.0", "id": c.LastID, "method": method, "params": params})
	deadline := time.After(StartTimeout)
	for {
		var reply struct {
			ID     any
			Method string
			Params struct{ Message string }
			Result json.RawMessage
			Error  json.RawMessage
		}
		select {
		case line, open := <-c.Out:
			if !open {
				t.Fatalf("relayfs mcp ended\n%s", c.Log)
			}
			if err := json.Unmarshal(line, &reply); err != nil {
				t.Fatalf("stdout of relayfs mcp is not JSON: %q", line)
			}
		case <-deadline:
			t.Fatalf("no answer to %s after %v\n%s", method, StartTimeout, c.Log)
		}
		switch {
		case reply.Method == "elicitation/create":
			c.Questions = append(c.Questions, reply.Params.Message)
			if c.Thinking != nil {
				c.Thinking()
			}
			c.Send(t, map[string]any{"jsonrpc": "2.0", "id": reply.ID, "result": c.answer})
		case reply.ID == float64(c.LastID):
			return reply.Result, reply.Error
		} // otherwise it is a notification
	}
}

type ToolResult struct {
	Text    string // all text blocks
	IsError bool

	Structured json.RawMessage
	Size       int // size of the result as JSON
}

// Call calls a tool. args are alternating argument names and values.
func (c *MCPClient) Call(t *testing.T, tool string, args ...any) ToolResult {
	t.Helper()
	arguments := make(map[string]any)
	for i := 0; i < len(args); i += 2 {
		arguments[args[i].(string)] = args[i+1]
	}
	raw := c.Request(t, "tools/call", map[string]any{"name": tool, "arguments": arguments})
	var result struct {
		Content           []struct{ Text string }
		IsError           bool
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range result.Content {
		blocks = append(blocks, block.Text)
	}
	return ToolResult{strings.Join(blocks, "\n"), result.IsError, result.StructuredContent, len(raw)}
}

func (c *MCPClient) MustCall(t *testing.T, tool string, args ...any) string {
	t.Helper()
	result := c.Call(t, tool, args...)
	if result.IsError {
		t.Fatalf("%s: %s", tool, result.Text)
	}
	return result.Text
}
