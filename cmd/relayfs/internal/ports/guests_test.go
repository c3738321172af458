package ports

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

// accepts takes connections and hands them out.
func accepts(t *testing.T, max int) (l *limitedListener, accepted chan *pendingConn, dial func() net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = newLimitedListener(inner, max)
	accepted = make(chan *pendingConn, 100)
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c.(*pendingConn)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
	return l, accepted, func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// closes says whether the other side closes a connection within some time.
func closes(c net.Conn, within time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(within))
	_, err := c.Read(make([]byte, 1))
	var timeout net.Error
	return !(errors.As(err, &timeout) && timeout.Timeout())
}

func TestGuestsGiveWay(t *testing.T) {
	l, accepted, dial := accepts(t, 16) // of which 3 are for guests
	known := dial()
	(<-accepted).authenticated()
	first := dial()
	<-accepted
	var last net.Conn
	for range l.pendingLimit {
		last = dial()
		<-accepted
	}
	if !closes(first, need.Scaled(10*time.Second)) {
		t.Error("the oldest guest stays")
	}
	const moment = 50 * time.Millisecond
	if closes(known, moment) || closes(last, moment) {
		t.Error("the known one or the newest guest has to go")
	}
}

func TestKnownConnectionsAreBounded(t *testing.T) {
	_, accepted, dial := accepts(t, 2)
	dial()
	first := <-accepted
	first.authenticated()
	dial()
	(<-accepted).authenticated()
	dial()
	select {
	case <-accepted:
		t.Fatal("a third connection has no place")
	case <-time.After(50 * time.Millisecond):
	}
	first.Close()
	first.Close() // which makes place once
	<-accepted
}
