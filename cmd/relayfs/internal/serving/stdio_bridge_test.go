package serving

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

// newBridge returns a bridge, and a server of a vault with one note.
func newBridge(t *testing.T, out io.Writer) (*stdioBridge, *owner.Client) {
	return newBridgeWith(t, out, mcpserver.Options{})
}

func newBridgeWith(t *testing.T, out io.Writer, o mcpserver.Options) (*stdioBridge, *owner.Client) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "foo0;\n"})
	srv := mcpserver.New(f.Workspace, o)
	t.Cleanup(srv.Close)
	client := clientOf(t, srv.LocalHandler())
	connect := func(context.Context, time.Duration) (*owner.Client, error) { return client, nil }
	return newStdioBridge(connect, mcpserver.Client{}, slog.New(slog.DiscardHandler), out), client
}

// clientOf returns a client of a process with this handler of MCP.
func clientOf(t *testing.T, h http.Handler) *owner.Client {
	mux := http.NewServeMux()
	mux.Handle(ports.MCPPath, h)
	mux.HandleFunc(owner.AlivePath, func(http.ResponseWriter, *http.Request) {})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return owner.NewClientOf(owner.Info{}, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", web.Listener.Addr().String())
	})
}

// runBridge runs a bridge to a server of a vault with one note.
func runBridge(t *testing.T, ctx context.Context, in io.Reader, out io.Writer, o mcpserver.Options) error {
	b, server := newBridgeWith(t, out, o)
	return b.run(ctx, in, server)
}

// Everything that was asked before the input ended is answered.
func TestEverythingIsAnswered(t *testing.T) {
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"foo"}}}`+"\n\n", i)
	}
	in.WriteString(`{"jsonrpc":"2.0","id":"last","method":"ping"}`) // without an end of line
	var out bytes.Buffer
	if err := runBridge(t, t.Context(), strings.NewReader(in.String()), &out, mcpserver.Options{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"V/a.md"`); n != 50 || !strings.Contains(out.String(), `"id":"last"`) {
		t.Errorf("%d of 50 calls are answered:\n%s", n, out.String())
	}
}

func TestTheBridgeEndsWithItsContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- runBridge(t, ctx, r, io.Discard, mcpserver.Options{}) }()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("got %v", err)
	}
}

func TestEndlessMessagesAreRefused(t *testing.T) {
	need.Full(t, "it takes 200 MB")
	err := runBridge(t, t.Context(), io.LimitReader(zeros{}, 200<<20), io.Discard, mcpserver.Options{})
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("got %v", err)
	}
}

// zeros is a line without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// Tool calls that are sent without waiting for answers take effect in their order.
func TestCallsTakeEffectInOrder(t *testing.T) {
	var in strings.Builder
	call := func(id int, tool, args string) {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, args)
	}
	in.WriteString(`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")
	const rounds = 30
	for i := range rounds {
		call(3*i, "read", `{"file_path":"V/a.md"}`)
		call(3*i+1, "edit", fmt.Sprintf(`{"file_path":"V/a.md","old_string":"foo%d;","new_string":"foo%d;"}`, i, i+1))
		call(3*i+2, "grep", fmt.Sprintf(`{"pattern":"foo%d;"}`, i+1))
	}
	var out bytes.Buffer
	if err := runBridge(t, t.Context(), strings.NewReader(in.String()), &out, mcpserver.Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), `"isError":true`) || strings.Count(out.String(), `"text":"V/a.md"`) != rounds {
		t.Errorf("the answers are:\n%s", out.String())
	}
}

// A client may send any number of calls before it answers the first question about them.
func TestAnswersOvertakeCalls(t *testing.T) {
	const calls = 65
	in, client := io.Pipe()
	answers, out := io.Pipe()
	approve, err := mcpserver.ParseApprovals([]string{"ask"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- runBridge(t, t.Context(), in, out, mcpserver.Options{Approve: approve})
		out.Close()
	}()
	timer := time.AfterFunc(10*time.Second, func() { out.CloseWithError(errors.New("the client waits for an answer")) })
	defer timer.Stop()
	lines := make(chan string, 10*calls)
	go func() {
		for line := range lines {
			io.WriteString(client, line+"\n")
		}
		client.Close()
	}()
	lines <- `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`
	lines <- `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for i := range calls {
		lines <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write","arguments":{"file_path":"V/n%d.md","content":"x\n"}}}`, i, i)
	}
	made, sc := 0, bufio.NewScanner(answers)
	for made < calls && sc.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Result struct{ IsError bool }
		}
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		switch {
		case m.Method == "elicitation/create":
			lines <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"approve":true}}}`, m.ID)
		case m.Method == "" && string(m.ID) != `"first"`:
			if made++; m.Result.IsError {
				t.Errorf("a call fails: %s", sc.Text())
			}
		}
	}
	close(lines)
	if made < calls {
		t.Fatalf("%d of %d calls are answered: %v", made, calls, sc.Err())
	}
	go io.Copy(io.Discard, answers)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A call that the client cancels before a server has it has no effect.
func TestCancelledCallsAreNotSent(t *testing.T) {
	in, client := io.Pipe()
	var out bytes.Buffer
	b, _ := newBridge(t, &out)
	ended := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+mcpserver.LocalProtocol+"\r\n\r\n\n")
			conn.Close()
		}
	}))
	connecting, connect := make(chan struct{}), b.connect
	b.connect = func(ctx context.Context, missing time.Duration) (*owner.Client, error) {
		<-connecting
		return connect(ctx, missing)
	}
	done := make(chan error, 1)
	go func() { done <- b.run(t.Context(), in, ended) }()
	for _, id := range []string{"0", `"one"`} {
		fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"write","arguments":{"file_path":"V/new.md","content":"x\n"}}}`+"\n", id)
		fmt.Fprintf(client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`+"\n", id)
	}
	fmt.Fprintln(client, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"glob","arguments":{"pattern":"**"}}}`)
	for read := false; !read; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		read = len(b.queue) > 0 && string(b.queue[len(b.queue)-1].ID) == "2"
		b.mu.Unlock()
	}
	close(connecting)
	client.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, `"jsonrpc"`) != 1 || !strings.Contains(got, "V/a.md") || strings.Contains(got, "V/new.md") {
		t.Errorf("the answers are\n%s", got)
	}
}

// If the client ends while a call waits for its user's answer, the call ends without a change.
func TestClientEndsBeforeItAnswers(t *testing.T) {
	approve, err := mcpserver.ParseApprovals([]string{"ask"})
	if err != nil {
		t.Fatal(err)
	}
	for _, late := range []bool{false, true} {
		in, client := io.Pipe()
		answers, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- runBridge(t, t.Context(), in, out, mcpserver.Options{Approve: approve}) }()
		sc := bufio.NewScanner(answers)
		go func() {
			fmt.Fprintln(client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
			fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			fmt.Fprintln(client, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write","arguments":{"file_path":"V/new.md","content":"x\n"}}}`)
			if late {
				client.Close()
			}
		}()
		for sc.Scan() && !strings.Contains(sc.Text(), "elicitation/create") {
		}
		client.Close()
		if !sc.Scan() || !strings.Contains(sc.Text(), `"id":2,"error"`) {
			t.Errorf("the call is answered with %q", sc.Text())
		}
		go io.Copy(io.Discard, answers)
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the bridge does not end")
		}
	}
}
