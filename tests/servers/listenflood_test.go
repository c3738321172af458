package servers

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// dialServer connects to --listen; what it cannot do any more is not said.
func (y *yjsServer) dialServer(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(y.Owner.Yjs.URL, "ys://"), harness.StartTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// upgrade asks for a websocket and returns the status of the answer.
func upgrade(t *testing.T, c net.Conn, path string, patience time.Duration) (status string, r *bufio.Reader) {
	t.Helper()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path)
	_ = c.SetReadDeadline(time.Now().Add(patience))
	r = bufio.NewReader(c)
	status, err := r.ReadString('\n')
	if err != nil {
		return err.Error(), r
	}
	_ = c.SetReadDeadline(time.Time{})
	return strings.TrimSpace(status), r
}

// Who says nothing, or has no token, keeps nobody out who has one.
func TestListenSilentSockets(t *testing.T) {
	s := harness.NewSandbox(t)
	y := serveYjsWithin(t, s, "ulimit -n 600", s.Vault(t, "Notes", map[string]string{"Plan.md": "one\n"}))
	token := y.token()
	for name, say := range map[string]func(c net.Conn){
		"nothing":            func(net.Conn) {},
		"half a request":     func(c net.Conn) { _, _ = io.WriteString(c, "GET /ready HTTP/1.1\r\nHost:") },
		"an idle connection": func(c net.Conn) { _, _ = io.WriteString(c, "GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") },
		"a silent websocket": func(c net.Conn) { go upgrade(t, c, "/", harness.StartTimeout) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 700 {
				c, err := net.DialTimeout("tcp", strings.TrimPrefix(y.Owner.Yjs.URL, "ys://"), limittest.Scaled(time.Second))
				if err != nil {
					break // the queue of the system is full, too
				}
				t.Cleanup(func() { c.Close() })
				say(c)
			}
			start := time.Now()
			status, _ := upgrade(t, y.dialServer(t), "/Notes/Plan.md?token="+url.QueryEscape(token), limittest.Scaled(20*time.Second))
			if took := time.Since(start); !strings.Contains(status, "101") || took > limittest.Scaled(5*time.Second) {
				t.Errorf("a client with a token gets %q after %v", status, took)
			}
		})
	}
}

// Clients with a token for reading, or with one for writing, that send large frames
// without an end take no more memory than the budget.
func TestListenFramesUnderWay(t *testing.T) {
	s := harness.NewSandbox(t)
	y := serveYjs(t, s, s.Vault(t, "Notes", map[string]string{"Plan.md": "one\n"}))
	id := y.Owner.Yjs.Folders["Notes"]
	path := "/d/" + id + "/ws/" + id + "?token="
	server, reader := y.token(), y.readToken(t, id)
	for _, tt := range []struct {
		name, token string
		most        int // KB
	}{{"reading", reader, 150 << 10}, {"writing", server, 700 << 10}} {
		before := harness.PeakMemory(t, y.cmd.Process.Pid)
		var sending sync.WaitGroup
		for range 24 {
			c := y.dialServer(t)
			if status, _ := upgrade(t, c, path+url.QueryEscape(tt.token), harness.StartTimeout); !strings.Contains(status, "101") {
				t.Fatal(status)
			}
			sending.Go(func() { sendMost(c, 60<<20) })
		}
		sending.Wait()
		if took := harness.PeakMemory(t, y.cmd.Process.Pid) - before; took > tt.most {
			t.Errorf("%s: 24 unfinished frames take %d MB", tt.name, took>>10)
		} else {
			t.Logf("%s: %d MB", tt.name, took>>10)
		}
	}
	// Who sends little is not concerned.
	if status, _ := upgrade(t, y.dialServer(t), path+url.QueryEscape(server), harness.StartTimeout); !strings.Contains(status, "101") {
		t.Error(status)
	}
}

// sendMost begins a binary frame of size bytes and sends all of it but the end, as far
// as the other side takes it.
func sendMost(c net.Conn, size int) {
	header := append([]byte{0x82, 0x80 | 127}, binary.BigEndian.AppendUint64(nil, uint64(size))...)
	if _, err := c.Write(append(header, 0, 0, 0, 0)); err != nil {
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(harness.StartTimeout))
	chunk := make([]byte, 1<<20)
	for sent := 0; sent < size-2<<20; sent += len(chunk) {
		if _, err := c.Write(chunk); err != nil {
			return
		}
	}
	time.Sleep(200 * time.Millisecond)
}

// readToken is a token that permits reading the document id.
func (y *yjsServer) readToken(t *testing.T, id string) string {
	t.Helper()
	base := "http://" + strings.TrimPrefix(y.Owner.Yjs.URL, "ys://")
	req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/doc/"+id+"/auth", strings.NewReader(`{"authorization":"read-only"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+y.token())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct{ Token string }
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatalf("%s: %v", res.Status, err)
	}
	return answer.Token
}
