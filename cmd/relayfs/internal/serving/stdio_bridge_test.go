package serving

import (
	"bytes"
	"context"
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

// newBridge returns a bridge to a server of a vault with one note.
func newBridge(t *testing.T, out io.Writer) *stdioBridge {
	f := bridgetest.New(t, map[string]string{"V/a.md": "foo0;\n"})
	srv := mcpserver.New(f.Workspace, mcpserver.Options{})
	t.Cleanup(srv.Close)
	mux := http.NewServeMux()
	mux.Handle(ports.MCPPath, srv.LocalHandler())
	mux.HandleFunc(owner.AlivePath, func(http.ResponseWriter, *http.Request) {})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	client := owner.NewClientOf(func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", web.Listener.Addr().String())
	})
	connect := func(context.Context, time.Duration) (*owner.Client, error) { return client, nil }
	return &stdioBridge{connect: connect, log: slog.New(slog.DiscardHandler), out: out, subscribed: make(map[string][]byte)}
}

// Everything that was asked before the input ended is answered.
func TestEverythingIsAnswered(t *testing.T) {
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"foo"}}}`+"\n\n", i)
	}
	in.WriteString(`{"jsonrpc":"2.0","id":"last","method":"ping"}`) // without an end of line
	var out bytes.Buffer
	if err := newBridge(t, &out).run(t.Context(), strings.NewReader(in.String())); err != nil {
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
	go func() { done <- newBridge(t, io.Discard).run(ctx, r) }()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("got %v", err)
	}
}

func TestEndlessMessagesAreRefused(t *testing.T) {
	need.Full(t, "it takes 200 MB")
	err := newBridge(t, io.Discard).run(t.Context(), io.LimitReader(zeros{}, 200<<20))
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
	if err := newBridge(t, &out).run(t.Context(), strings.NewReader(in.String())); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), `"isError":true`) || strings.Count(out.String(), `"text":"V/a.md"`) != rounds {
		t.Errorf("the answers are:\n%s", out.String())
	}
}
