package yserve

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge/inflight"
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
	// Mint makes the tokens of /doc/ID/auth; nil if this server makes none.
	Mint *token.Key
	// URL is where clients reach the server from outside, as "https://notes.example";
	// "" means the address that they used. If it is set, a CWT must name it as its
	// audience.
	URL string
	// Relay is the id of the relay that the folders belong to, as Relay's plugin
	// has it: a document can then be opened as RELAY-ID, too. "" for none.
	Relay  string
	Logger *slog.Logger // nil discards
	Limits Limits
	// Inflight is what clients may send at a time; nil is one of the default size.
	Inflight *inflight.Budget
	// Known is called for requests that have shown a valid token, and not for those
	// that have shown none; nil does nothing.
	Known func(*http.Request)
}

// Limits bound what clients can make the server do. Zero values are defaults.
type Limits struct {
	Frame       int64 // bytes of a frame or of the body of an update; default 64 MiB
	ReadOnly    int64 // bytes of a frame of a client that may only read; default 1 MiB
	File        int64 // bytes of an attachment that is uploaded; default 250 MiB
	Connections int   // websockets at a time; default 4096
	Strangers   int   // websockets besides those, which have opened no document yet; default 1024
	Documents   int   // documents open at a time; default 4096
	Queue       int   // frames that wait for one client; default 1024
	Backlog     int   // bytes of these; default 64 MiB
	// Ping is how often a connection is tried out; default 20 s. One that does not
	// answer twice is closed.
	Ping time.Duration
}

func (l *Limits) fill() {
	l.Frame = max(l.Frame, 0)
	if l.Frame == 0 {
		l.Frame = 64 << 20
	}
	if l.ReadOnly == 0 {
		l.ReadOnly = 1 << 20
	}
	if l.Strangers == 0 {
		l.Strangers = 1024
	}
	if l.File == 0 {
		l.File = 250 << 20
	}
	if l.Connections == 0 {
		l.Connections = 4096
	}
	if l.Documents == 0 {
		l.Documents = 4096
	}
	if l.Queue == 0 {
		l.Queue = 1024
	}
	if l.Backlog == 0 {
		l.Backlog = 64 << 20
	}
	if l.Ping == 0 {
		l.Ping = 20 * time.Second
	}
}

// Server is an http.Handler.
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

// New makes a server. Close it at the end.
func New(o Options) *Server {
	o.Limits.fill()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Inflight == nil {
		o.Inflight = inflight.New(inflight.Default)
	}
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
	s.mux.HandleFunc("GET /ready", s.ready)
	s.mux.HandleFunc("GET /check_store", s.checkStore)
	s.mux.HandleFunc("POST /check_store", s.checkStore)
	s.mux.HandleFunc("POST /doc/new", s.newDoc)
	s.mux.HandleFunc("POST /doc/{id}/{verb}", s.postDoc)
	s.mux.HandleFunc("POST /d/{id}/{verb}", s.postDoc)
	s.mux.HandleFunc("GET /d/{id}/{verb}", s.getDoc)
	s.mux.HandleFunc("GET /d/{id}/ws/{again}", s.serveDoc)
	s.mux.HandleFunc("GET /doc/{id}/{verb}", s.getOldDoc)
	s.mux.HandleFunc("POST /f/{id}/upload-url", s.file(s.uploadURL))
	s.mux.HandleFunc("GET /f/{id}/download-url", s.file(s.downloadURL))
	s.mux.HandleFunc("POST /f/{id}/upload", s.file(s.upload))
	s.mux.HandleFunc("PUT /f/{id}/upload", s.file(s.upload))
	s.mux.HandleFunc("GET /f/{id}/download", s.file(s.download))
	s.mux.HandleFunc("HEAD /f/{id}", s.file(s.hasFile))
	s.mux.HandleFunc("GET /f/{id}/history", s.file(s.history))
	s.mux.HandleFunc("DELETE /f/{id}", s.file(s.discard))
	s.mux.HandleFunc("DELETE /f/{id}/{hash}", s.file(s.discard))
	s.mux.HandleFunc("GET /{room...}", s.serveRoom)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.access.Allowed(r) {
		http.Error(w, "requests from other machines and web pages need a token, and this server has no key", http.StatusForbidden)
		return
	}
	// A token is in a header or the query, never in a cookie: pages of any origin
	// may ask, as with y-sweet.
	w.Header().Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST, PUT, HEAD, DELETE")
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Close ends every connection and returns when the last one has.
func (s *Server) Close() {
	s.conns.close()
	s.stop()
	s.conns.wait()
}

// SetKeys puts others in the place of Options.Keys, of which there are some, and
// Options.Mint. Connections whose tokens are void then end with the code 1008.
func (s *Server) SetKeys(ring token.Ring, mint *token.Key) {
	if s.access.SetKeys(ring, mint) {
		s.rooms.Recheck()
	}
}
