package yserve

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge/inflight"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/access"
	"github.com/relayfs/relayfs/bridge/yserve/host"
	"github.com/relayfs/relayfs/bridge/yserve/room"
)

// Options configure a Server.
type Options struct {
	Host *host.Host
	// Keys check tokens. Without any, no token is needed.
	Keys token.Ring
	// Mint signs the tokens of /doc/ID/auth; nil if there are none.
	Mint *token.Key
	// URL is the server's address for clients outside, as "https://notes.example"; ""
	// means the address of the request. If it is set, a CWT must name it as its
	// audience.
	URL string
	// Relay is the id of the relay that the folders belong to, as in Relay's plugin:
	// documents can also be opened as RELAY-ID. "" for none.
	Relay  string
	Logger *slog.Logger // nil discards
	Limits Limits
	// Inflight bounds what clients are sending; nil is a budget of the default size.
	Inflight *inflight.Budget
	// Known is called for requests with a valid token; nil does nothing.
	Known func(*http.Request)
}

// Limits of the server. Zero values are defaults.
type Limits struct {
	Frame       int64 // bytes of a frame or of the body of an update; default 64 MiB
	ReadOnly    int64 // bytes of a frame of a client that may only read; default 1 MiB
	File        int64 // bytes of an attachment that is uploaded; default 250 MiB
	Connections int   // websockets at a time; default 4096
	Strangers   int   // further websockets, without a document yet; default 1024
	Documents   int   // documents open at a time; default 4096
	Queue       int   // frames that wait for one client; default 1024
	Backlog     int   // bytes of these; default 64 MiB
	// Ping is the interval of pings; default 20 s. A connection is closed after two
	// without an answer.
	Ping time.Duration
}

func (l *Limits) fill() {
	l.Frame = cmp.Or(max(l.Frame, 0), 64<<20)
	l.ReadOnly = cmp.Or(l.ReadOnly, 1<<20)
	l.File = cmp.Or(l.File, 250<<20)
	l.Connections = cmp.Or(l.Connections, 4096)
	l.Strangers = cmp.Or(l.Strangers, 1024)
	l.Documents = cmp.Or(l.Documents, 4096)
	l.Queue = cmp.Or(l.Queue, 1024)
	l.Backlog = cmp.Or(l.Backlog, 64<<20)
	l.Ping = cmp.Or(l.Ping, 20*time.Second)
}

// Server is an http.Handler for Yjs clients.
type Server struct {
	o      Options
	host   *host.Host
	log    *slog.Logger
	mux    *http.ServeMux
	access *access.Access
	rooms  *room.Rooms
	relay  room.Relay

	ctx  context.Context // ends with Close
	stop context.CancelFunc

	conns connections
}

// New returns a server. Close it at the end.
func New(o Options) *Server {
	o.Limits.fill()
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Inflight = cmp.Or(o.Inflight, inflight.New(inflight.Default))
	if o.Known == nil {
		o.Known = func(*http.Request) {}
	}
	s := &Server{o: o, host: o.Host, log: o.Logger, mux: http.NewServeMux(), relay: room.Relay(o.Relay)}
	s.access = access.New(o.Keys, o.Mint, o.URL, o.Known)
	s.rooms = room.New(room.Options{Host: o.Host, Access: s.access, Relay: s.relay, Documents: o.Limits.Documents, Log: o.Logger})
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.routes()
	return s
}

func (s *Server) routes() {
	Health(s.mux, s.host.Ready)
	s.mux.HandleFunc("GET /check_store", s.handle(s.checkStore))
	s.mux.HandleFunc("POST /check_store", s.handle(s.checkStore))
	s.mux.HandleFunc("POST /doc/new", s.handle(s.newDoc))
	s.mux.HandleFunc("POST /doc/{id}/{verb}", s.handle(s.postDoc))
	s.mux.HandleFunc("POST /d/{id}/{verb}", s.handle(s.postDoc))
	s.mux.HandleFunc("GET /d/{id}/{verb}", s.handle(s.getDoc))
	s.mux.HandleFunc("GET /d/{id}/ws/{again}", s.handle(s.serveDoc))
	s.mux.HandleFunc("GET /doc/{id}/{verb}", s.handle(s.getOldDoc))
	s.mux.HandleFunc("POST /f/{id}/upload-url", s.file(s.uploadURL))
	s.mux.HandleFunc("GET /f/{id}/download-url", s.file(s.downloadURL))
	s.mux.HandleFunc("POST /f/{id}/upload", s.file(s.upload))
	s.mux.HandleFunc("PUT /f/{id}/upload", s.file(s.upload))
	s.mux.HandleFunc("GET /f/{id}/download", s.file(s.download))
	s.mux.HandleFunc("HEAD /f/{id}", s.file(s.hasFile))
	s.mux.HandleFunc("GET /f/{id}/history", s.file(s.history))
	s.mux.HandleFunc("DELETE /f/{id}", s.file(s.discard))
	s.mux.HandleFunc("DELETE /f/{id}/{hash}", s.file(s.discard))
	s.mux.HandleFunc("GET /{room...}", s.handle(s.serveRoom))
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(token.RelayfsHeader, "1")
	if !s.access.Allowed(r) {
		http.Error(w, "requests from other machines and web pages need a token, and this server has no key", http.StatusForbidden)
		return
	}
	// Tokens are in a header or the query, never in a cookie, so pages of any origin may
	// send requests, as with y-sweet.
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST, PUT, HEAD, DELETE")
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close ends every connection and returns when the last one has ended.
func (s *Server) Close() { s.conns.close(s.stop) }

// SetKeys replaces Options.Keys, if there are any, and Options.Mint. Connections whose
// tokens are void then end with the code 1008.
func (s *Server) SetKeys(ring token.Ring, mint *token.Key) {
	if s.access.SetKeys(ring, mint) {
		s.rooms.Recheck()
	}
}

// refusalOf returns the refusal for err. It logs an error that the client cannot correct.
func (s *Server) refusalOf(r *http.Request, err error) *access.Refusal {
	var no *access.Refusal
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, fs.ErrNotExist):
		return access.ErrUnknown
	case errors.Is(err, model.ErrReadOnly):
		return access.Refuse(http.StatusForbidden, "note is read-only")
	case errors.Is(err, model.ErrOffline), errors.Is(err, model.ErrClosed):
		return access.Refuse(http.StatusServiceUnavailable, "folder is offline")
	}
	s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, model.LogErr, err)
	return access.Refuse(http.StatusInternalServerError, "internal error")
}
