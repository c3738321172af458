package ports

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

func TestConnectionsAreBounded(t *testing.T) {
	h := &HTTPServer{max: 2}
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ConnState = h.count
	srv.Start()
	t.Cleanup(srv.Close)
	// isClosed says whether the server closes a new connection soon.
	isClosed := func(within time.Duration) (net.Conn, bool) {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_ = c.SetReadDeadline(time.Now().Add(within))
		_, err = c.Read(make([]byte, 1))
		timeout, ok := err.(net.Error)
		return c, !ok || !timeout.Timeout()
	}
	const moment = 50 * time.Millisecond
	first, closed := isClosed(moment)
	if _, second := isClosed(moment); closed || second || h.Connections() != 2 {
		t.Fatalf("two connections: the first is closed %v, the second %v, open %d", closed, second, h.Connections())
	}
	if _, closed := isClosed(need.Scaled(10 * time.Second)); !closed {
		t.Fatal("the third connection stays")
	}
	first.Close()
	for deadline := time.Now().Add(need.Scaled(10 * time.Second)); h.Connections() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are open, want 1", h.Connections())
		}
	}
	if _, closed := isClosed(moment); closed {
		t.Error("a connection after the first has ended is closed")
	}
}
