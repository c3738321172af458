// Package listen opens TCP ports, and serves HTTP until a context ends. It knows no path.
package listen

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// Patience is how long requests under way may take at the end.
const Patience = 5 * time.Second

// Loopback reports whether only this machine can reach addr, a HOST:PORT that a flag gives.
func Loopback(flag, addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, clierr.Usagef("%s %q is not HOST:PORT", flag, addr)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// Open opens the port that a flag gives.
func Open(flag, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, clierr.WithHint(fmt.Errorf("%s: %w", flag, err), "choose another port; port 0 takes any that is free")
	}
	return l, nil
}

// NewServer returns a server with limits for requests from TCP ports.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}

// Serve serves on l until ctx ends, and then waits for the requests under way. finished is false if they
// took longer than Patience and were cut off.
func Serve(ctx context.Context, l net.Listener, srv *http.Server) (finished bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return true, err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	if srv.Shutdown(patience) != nil {
		srv.Close()
		return false, nil
	}
	return true, nil
}
