package ports

import (
	"context"
	"encoding/json"
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

// ShutdownTimeout is how long requests under way may take at the end.
const ShutdownTimeout = 5 * time.Second

// Loopback reports whether only this machine can reach addr, a HOST:PORT that a flag gives.
func Loopback(flag, addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, cli.Usagef("%s %q is not HOST:PORT", flag, addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return false, cli.Usagef("%s %q: %q is not a port from 0 to 65535", flag, addr, port)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// Open opens the port that a flag gives.
func Open(flag, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	problem, hint := "cannot be opened", "choose another port; port 0 takes any that is free"
	switch _, unknown := errors.AsType[*net.DNSError](err); {
	case unknown, errors.Is(err, syscall.EADDRNOTAVAIL):
		problem, hint = "is not an address of this machine", "127.0.0.1 is for programs here, and 0.0.0.0 for those elsewhere, too"
	case errors.Is(err, syscall.EADDRINUSE):
		problem = "is in use by another program"
	case errors.Is(err, fs.ErrPermission):
		problem, hint = "is not for you to open", "choose a port from 1024 on; those below belong to root"
	}
	return nil, cli.WithHint(fmt.Errorf("%s %s %s", flag, addr, problem), hint)
}

// Address is a flag with the address that it gives, "" for none.
type Address struct{ Flag, Addr string }

// CheckFree says why the ports cannot be opened together.
func CheckFree(addresses ...Address) error {
	for _, a := range addresses {
		if a.Addr == "" {
			continue
		}
		l, err := Open(a.Flag, a.Addr)
		if err != nil {
			return err
		}
		defer l.Close()
	}
	return nil
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
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), ShutdownTimeout)
	defer cancel()
	if srv.Shutdown(patience) != nil {
		srv.Close()
		return false, nil
	}
	return true, nil
}

// Health answers GET /healthz with 200, and GET /ready and /readyz with 200, or 503 after an
// error of check. It answers everybody, so it does not tell the error.
func Health(mux *http.ServeMux, check func() error) {
	ready := func(w http.ResponseWriter, _ *http.Request) {
		if check() == nil {
			answer(w, http.StatusOK, health{OK: true})
			return
		}
		answer(w, http.StatusServiceUnavailable, health{Error: "changes cannot be stored: 'relayfs status' on this machine says why"})
	}
	mux.HandleFunc("GET /ready", ready)
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, health{OK: true}) })
}

// health is the answer to whether changes are stored.
type health struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

func answer(w http.ResponseWriter, status int, h health) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(h) // the client has gone
}
