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
	dial := func() net.Conn {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	open := func(n int) {
		t.Helper()
		for deadline := time.Now().Add(need.Scaled(10 * time.Second)); h.Connections() != n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d connections are open, want %d", h.Connections(), n)
			}
		}
	}
	isClosed := func(c net.Conn, within time.Duration) bool {
		_ = c.SetReadDeadline(time.Now().Add(within))
		_, err := c.Read(make([]byte, 1))
		timeout, ok := err.(net.Error)
		return !ok || !timeout.Timeout()
	}
	first, second := dial(), dial()
	open(2)
	if !isClosed(dial(), need.Scaled(10*time.Second)) {
		t.Error("the third connection stays")
	}
	open(2)
	first.Close()
	open(1)
	third := dial()
	open(2)
	const moment = 50 * time.Millisecond
	if isClosed(second, moment) || isClosed(third, moment) {
		t.Error("one of two connections is closed")
	}
}
