package mcpserver_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/mcpserver"
)

// serve makes a workspace with the given notes and a server over it.
func serve(t testing.TB, notes map[string]string, opts ...func(*bridge.Options)) (*bridgetest.Fixture, *mcpserver.Server) {
	t.Helper()
	f := bridgetest.New(t, notes, opts...)
	srv := mcpserver.New(f.Workspace, mcpserver.Options{Author: "Agent", Version: "1.0"})
	t.Cleanup(srv.Close)
	return f, srv
}

// tools calls tools without a protocol.
type tools struct {
	t    testing.TB
	srv  *mcpserver.Server
	sess *mcpserver.Session
}

func newTools(t testing.TB, srv *mcpserver.Server) *tools {
	return &tools{t, srv, srv.NewSession(mcpserver.Client{Name: "test"})}
}

// call runs a tool with the arguments given as name, value, name, value.
func (c *tools) call(name string, args ...any) mcpserver.Result {
	c.t.Helper()
	m := make(map[string]any)
	for i := 0; i < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	res, ok := c.sess.Call(c.t.Context(), name, raw)
	if !ok {
		c.t.Fatalf("no tool %s", name)
	}
	if res.Err != nil {
		c.t.Fatalf("%s %s: %v", name, raw, res.Err)
	}
	return res
}

// ok is the text of a call that must succeed.
func (c *tools) ok(name string, args ...any) string {
	c.t.Helper()
	res := c.call(name, args...)
	text := strings.Join(res.Text, "\n[block]\n")
	if res.IsError {
		c.t.Fatalf("%s %v: %s", name, args, text)
	}
	return text
}

// rpc is a client of LocalHandler.
type rpc struct {
	t  testing.TB
	in io.Writer

	mu      sync.Mutex // protects the following
	nextID  int
	waiting map[int]chan reply
	notices chan reply
	others  chan []byte // answers to messages of post
	// answer is what the client's user answers to questions; nil if the client
	// cannot ask.
	answer map[string]any
	asked  []string // the questions
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// connect serves a client and shakes hands.
func connect(t testing.TB, srv *mcpserver.Server, name string) *rpc {
	t.Helper()
	return connectWith(t, srv, name, mcpserver.Client{Name: "test"}, nil)
}

// connectWith is connect for a client whose user gives that answer to questions.
func connectWith(t testing.TB, srv *mcpserver.Server, name string, who mcpserver.Client, answer map[string]any) *rpc {
	t.Helper()
	web := httptest.NewServer(srv.LocalHandler())
	req, err := http.NewRequest(http.MethodGet, web.URL+"?"+who.Query().Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {mcpserver.LocalProtocol}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	stream := resp.Body.(io.ReadWriteCloser)
	c := &rpc{t: t, in: stream, waiting: make(map[int]chan reply), notices: make(chan reply, 100), others: make(chan []byte, 1), answer: answer}
	capabilities := map[string]any{}
	if answer != nil {
		capabilities["elicitation"] = map[string]any{}
	}
	var receiving sync.WaitGroup
	receiving.Go(func() { c.receive(stream) })
	t.Cleanup(func() {
		stream.(interface{ CloseWrite() error }).CloseWrite()
		receiving.Wait()
		stream.Close()
		web.Close()
	})
	c.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": map[string]any{"name": name, "version": "1"},
	})
	c.notify("notifications/initialized", nil)
	return c
}

func (c *rpc) receive(out io.Reader) {
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		if len(sc.Bytes()) > 0 { // an empty line is the last one
			c.take(bytes.Clone(sc.Bytes()))
		}
	}
}

// take takes a message of the server.
func (c *rpc) take(line []byte) {
	if c.answered(line) {
		return
	}
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		c.t.Errorf("not JSON: %s", line)
		return
	}
	if r.Method != "" {
		c.notices <- r
		return
	}
	c.mu.Lock()
	ch := c.waiting[r.ID]
	delete(c.waiting, r.ID)
	c.mu.Unlock()
	if ch == nil {
		c.others <- line
		return
	}
	ch <- r
}

// answered answers a question to the client's user.
func (c *rpc) answered(line []byte) bool {
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct{ Message string }
	}
	if json.Unmarshal(line, &q) != nil || q.Method != "elicitation/create" {
		return false
	}
	c.mu.Lock()
	c.asked = append(c.asked, q.Params.Message)
	answer := c.answer
	c.mu.Unlock()
	go c.send(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": answer})
	return true
}

// questions are those asked since the last call.
func (c *rpc) questions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

// post sends any message, and returns the answer, "" for none.
func (c *rpc) post(line []byte) []byte {
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Error(err)
	}
	if !json.Valid(line) || bytes.Contains(line, []byte(`"id"`)) {
		return <-c.others
	}
	c.request("ping", nil) // a notification is handled before the next message
	select {
	case answer := <-c.others:
		return answer
	default:
		return nil
	}
}

func (c *rpc) send(message map[string]any) {
	line, err := json.Marshal(message)
	if err == nil {
		_, err = c.in.Write(append(line, '\n'))
	}
	if err != nil {
		c.t.Error(err)
	}
}

func (c *rpc) notify(method string, params any) {
	c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// begin sends a request; its answer comes on the channel.
func (c *rpc) begin(method string, params any) (id int, answer <-chan reply) {
	ch := make(chan reply, 1)
	c.mu.Lock()
	c.nextID++
	id = c.nextID
	c.waiting[id] = ch
	c.mu.Unlock()
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id, ch
}

func (c *rpc) request(method string, params any) reply {
	_, ch := c.begin(method, params)
	return <-ch
}

// callTool returns the text of a tool's result.
func (c *rpc) callTool(name string, args any) (text string, isError bool) {
	r := c.request("tools/call", map[string]any{"name": name, "arguments": args})
	if r.Error != nil {
		c.t.Errorf("%s: %s", name, r.Error.Message)
		return r.Error.Message, true
	}
	var res struct {
		IsError           bool
		Content           []struct{ Type, Text, MIMEType, Data string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(r.Result, &res); err != nil {
		c.t.Error(err)
	}
	var blocks []string
	for _, b := range res.Content {
		if b.Type == "image" {
			b.Text = fmt.Sprintf("[%s: %s]", b.MIMEType, b.Data)
		}
		blocks = append(blocks, b.Text)
	}
	if res.StructuredContent != nil && !sameJSON(res.StructuredContent, []byte(strings.Join(blocks, ""))) {
		c.t.Errorf("%s returns structured content that is not its text: %s", name, res.StructuredContent)
	}
	return strings.Join(blocks, "\n[block]\n"), res.IsError
}

// sameJSON says whether two texts are the same JSON.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
