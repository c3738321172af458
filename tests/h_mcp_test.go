package tests

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

// mcpClient speaks JSON-RPC, a message per line, with `relayfs mcp` on stdio.
// It asks one thing at a time.
type mcpClient struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    chan []byte
	log    *watchedLog
	closed bool
	lastID int
	// answer is what the person at the client answers to questions; nil if the client
	// cannot ask.
	answer    map[string]any
	questions []string
}

// mcp starts a server and initializes a session with it.
func (s *sandbox) mcp(t *testing.T, args ...string) *mcpClient {
	t.Helper()
	return s.mcpAnswering(t, nil, args...)
}

// mcpAnswering is mcp for a client whose user gives that answer to questions.
func (s *sandbox) mcpAnswering(t *testing.T, answer map[string]any, args ...string) *mcpClient {
	t.Helper()
	capabilities := map[string]any{}
	if answer != nil {
		capabilities["elicitation"] = map[string]any{}
	}
	c := &mcpClient{answer: answer, log: newWatchedLog(), out: make(chan []byte, 16)}
	c.cmd = s.command(context.Background(), append([]string{"mcp"}, args...)...)
	c.cmd.Stderr = c.log
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.readLines(stdout)
	t.Cleanup(func() { c.close(t) })
	c.request(t, "initialize", map[string]any{
		"protocolVersion": "2025-06-18",
		"capabilities":    capabilities,
		"clientInfo":      map[string]any{"name": "relayfs-tests", "version": "1"},
	})
	c.send(t, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

func (c *mcpClient) readLines(r io.Reader) {
	defer close(c.out)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.out <- line
		}
		if err != nil {
			return
		}
	}
}

// close ends the server by the end of its input, and expects it to obey. Only
// the first call does something.
func (c *mcpClient) close(t *testing.T) {
	t.Helper()
	if err := c.end(t); err != nil {
		t.Errorf("relayfs mcp: %v\n%s", err, c.log)
	}
}

// end is close for a server that may fail; it returns how.
func (c *mcpClient) end(t *testing.T) error {
	t.Helper()
	if c.closed {
		return nil
	}
	c.closed = true
	c.in.Close()
	deadline := time.After(startTimeout)
	for open := true; open; {
		select {
		case _, open = <-c.out:
		case <-deadline:
			t.Errorf("relayfs mcp does not end with its input\n%s", c.log)
			_ = c.cmd.Process.Kill()
			deadline = nil
		}
	}
	return c.cmd.Wait()
}

func (c *mcpClient) send(t *testing.T, message map[string]any) {
	t.Helper()
	line, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		t.Fatalf("relayfs mcp: %v\n%s", err, c.log)
	}
}

// request sends a request and returns its result; an RPC error fails the test.
func (c *mcpClient) request(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	result, rpcError := c.ask(t, method, params)
	if rpcError != nil {
		t.Fatalf("%s: %s", method, rpcError)
	}
	return result
}

// ask sends a request and returns its result or its RPC error.
func (c *mcpClient) ask(t *testing.T, method string, params any) (result, rpcError json.RawMessage) {
	t.Helper()
	c.lastID++
	c.send(t, map[string]any{"jsonrpc": "2.0", "id": c.lastID, "method": method, "params": params})
	deadline := time.After(startTimeout)
	for {
		var reply struct {
			ID     any
			Method string
			Params struct{ Message string }
			Result json.RawMessage
			Error  json.RawMessage
		}
		select {
		case line, open := <-c.out:
			if !open {
				t.Fatalf("relayfs mcp ended\n%s", c.log)
			}
			if err := json.Unmarshal(line, &reply); err != nil {
				t.Fatalf("stdout of relayfs mcp is not JSON: %q", line)
			}
		case <-deadline:
			t.Fatalf("no answer to %s after %v\n%s", method, startTimeout, c.log)
		}
		switch {
		case reply.Method == "elicitation/create":
			c.questions = append(c.questions, reply.Params.Message)
			c.send(t, map[string]any{"jsonrpc": "2.0", "id": reply.ID, "result": c.answer})
		case reply.ID == float64(c.lastID):
			return reply.Result, reply.Error
		} // else a notification
	}
}

// toolResult is what a model sees of a tool call.
type toolResult struct {
	text    string // all text blocks
	isError bool

	structured json.RawMessage
	size       int // of the result as JSON
}

// call calls a tool; args are key, value, key, value.
func (c *mcpClient) call(t *testing.T, tool string, args ...any) toolResult {
	t.Helper()
	arguments := make(map[string]any)
	for i := 0; i < len(args); i += 2 {
		arguments[args[i].(string)] = args[i+1]
	}
	raw := c.request(t, "tools/call", map[string]any{"name": tool, "arguments": arguments})
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
	return toolResult{strings.Join(blocks, "\n"), result.IsError, result.StructuredContent, len(raw)}
}

// mustCall is call for what has to succeed.
func (c *mcpClient) mustCall(t *testing.T, tool string, args ...any) string {
	t.Helper()
	result := c.call(t, tool, args...)
	if result.isError {
		t.Fatalf("%s: %s", tool, result.text)
	}
	return result.text
}
