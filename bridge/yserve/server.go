package yserve

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/inflight"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/host"
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
	o    Options
	host *host.Host
	log  *slog.Logger
	mux  *http.ServeMux

	keys atomic.Pointer[keys]

	ctx  context.Context // ends with Close
	stop context.CancelFunc

	mu     sync.Mutex // protects the following
	rooms  map[string]*room
	conns  int // that count for Limits.Connections
	guests int // that count for Limits.Strangers
	closed bool
	active sync.WaitGroup // connections; Add under mu while closed is not set
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
	s := &Server{o: o, host: o.Host, log: o.Logger, mux: http.NewServeMux(), rooms: make(map[string]*room)}
	s.keys.Store(&keys{o.Keys, o.Mint})
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
	if !s.allowed(r) {
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
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.active.Wait()
}

// enter counts a connection; leave ends it. ok is false if there are too many.
func (s *Server) enter() (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.conns >= s.o.Limits.Connections {
		return false
	}
	s.conns++
	s.active.Add(1)
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	s.conns--
	s.mu.Unlock()
	s.active.Done()
}

// enterStranger counts a connection that has opened no document yet; leaveStranger
// ends it.
func (s *Server) enterStranger() (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.guests >= s.o.Limits.Strangers {
		return false
	}
	s.guests++
	s.active.Add(1)
	return true
}

func (s *Server) leaveStranger() {
	s.mu.Lock()
	s.guests--
	s.mu.Unlock()
	s.active.Done()
}

// own is the id of a document in the workspace, which a client may have called
// RELAY-ID; prefix is what it has put in front.
func (s *Server) own(id string) (own, prefix string) {
	if rest, ok := strings.CutPrefix(id, s.o.Relay+"-"); ok && s.o.Relay != "" && rest != "" {
		return rest, s.o.Relay + "-"
	}
	return id, ""
}

// randomID is a name for a document that nobody has named.
func randomID() string { return rand.Text() }
