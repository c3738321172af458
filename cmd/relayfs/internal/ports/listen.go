package ports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// shutdownTimeout is the maximum time for which a server that ends waits for the requests in progress.
const shutdownTimeout = 5 * time.Second

// Loopback reports whether only this machine can reach addr. addr is the HOST:PORT in the flag.
func Loopback(flag, addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, cli.Usagef("%s %q is not HOST:PORT", flag, addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return false, cli.Usagef("%s %q: %q is not a port from 0 to 65535", flag, addr, port)
	}
	return isLoopback(host), nil
}

func Open(flag, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	problem, hint := "cannot be opened", "choose another port; port 0 selects a free port"
	switch _, unknown := errors.AsType[*net.DNSError](err); {
	case unknown, errors.Is(err, syscall.EADDRNOTAVAIL):
		problem, hint = "is not an address of this machine", "use 127.0.0.1 for programs on this machine, or 0.0.0.0 for all"
	case errors.Is(err, syscall.EADDRINUSE):
		problem = "is in use by another program"
	case errors.Is(err, fs.ErrPermission):
		problem, hint = "needs root", "choose a port from 1024 on"
	}
	return nil, cli.WithHint(fmt.Errorf("%s %s %s", flag, addr, problem), hint)
}

const MetricsSetting = "metrics"

func CheckMetrics(addr string) error {
	if addr == "" {
		return nil
	}
	_, err := Loopback(MetricsSetting, addr)
	return err
}

// CheckFree returns an error if the address of MCP or the address of metrics cannot be opened. An address may be "".
func CheckFree(http, metrics string) error {
	for _, a := range [][2]string{{"--http", http}, {MetricsSetting, metrics}} {
		if a[1] == "" {
			continue
		}
		l, err := Open(a[0], a[1])
		if err != nil {
			return err
		}
		defer l.Close()
	}
	return nil
}

// NewServer returns a server that waits two minutes for a request before it closes a connection. Browsers open
// connections in advance, and on a busy machine the request may come much later. Chromium shows an error if the server
// has closed such a connection.
func NewServer(h http.Handler) *http.Server {
	const idle = 2 * time.Minute
	return &http.Server{Handler: h, ReadHeaderTimeout: idle, IdleTimeout: idle, MaxHeaderBytes: 64 << 10}
}

// Serve serves on l until ctx ends, and then waits for the requests in progress, at most for shutdownTimeout. finished
// is false if the wait took longer.
func Serve(ctx context.Context, l net.Listener, srv *http.Server) (finished bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return true, err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		srv.Close()
		return false, nil
	}
	return true, nil
}

// Health responds to GET /healthz with 200, and to GET /ready and /readyz with 200, or with 503 if check fails. The
// requests need no token, so the response does not contain the error.
func Health(mux *http.ServeMux, check func() error) {
	ready := func(w http.ResponseWriter, _ *http.Request) {
		if check() == nil {
			answer(w, http.StatusOK, `{"ok":true}`)
			return
		}
		answer(w, http.StatusServiceUnavailable, `{"ok":false,"error":"changes cannot be stored: 'relayfs status' on this machine says why"}`)
	}
	mux.HandleFunc("GET /ready", ready)
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, `{"ok":true}`) })
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintln(w, body)
}
