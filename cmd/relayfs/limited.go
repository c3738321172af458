package main

import (
	"net"
	"sync"
)

// maxConnections is how many connections others may have open to --listen: more
// wait until one ends, so that files of the vault can be opened in any case.
func maxConnections() int { return int(min(8192, maxFiles()/2)) }

// limitedListener has at most as many connections open as slots holds.
type limitedListener struct {
	net.Listener
	slots chan struct{}
	close sync.Once
	done  chan struct{} // closed by Close
}

func limited(l net.Listener, n int) net.Listener {
	return &limitedListener{Listener: l, slots: make(chan struct{}, n), done: make(chan struct{})}
}

// Accept waits for a connection, and for a place for it.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limitedListener) Close() error {
	l.close.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// limitedConn makes place when it is closed.
type limitedConn struct {
	net.Conn
	free func()
}

func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
