package yserve

import (
	"errors"
	"net/http"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/access"
	"github.com/relayfs/relayfs/bridge/yserve/room"
	"github.com/relayfs/relayfs/bridge/yserve/socket"
)

// serveDoc is GET /d/ID/ws/ID.
func (s *Server) serveDoc(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != r.PathValue("again") {
		s.fail(w, r, access.Refuse(http.StatusBadRequest, "the two ids in the path differ"))
		return
	}
	s.connect(w, r, r.PathValue("id"))
}

// serveRoom is y-websocket's way: the path is the name of the document. Without
// a name, it is Hocuspocus's, whose frames name it.
func (s *Server) serveRoom(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("room")
	switch {
	case r.Header.Get("Upgrade") == "":
		http.NotFound(w, r)
	case name == "":
		s.multiplex(w, r)
	default:
		s.connect(w, r, s.named(name))
	}
}

// named is the id of the document that people know by a path, or path itself.
func (s *Server) named(path string) string {
	if id, ok := s.host.Named(path); ok {
		return id
	}
	return path
}

// connect makes a websocket of a request and serves it until it ends.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, id string) {
	claims, p, err := s.access.OnDoc(r, id)
	if errors.Is(err, access.ErrResource) {
		err = access.Refuse(http.StatusForbidden, access.ErrResource.Text)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !s.conns.enter(s.o.Limits.Connections) {
		s.fail(w, r, access.ErrBusy)
		return
	}
	defer s.conns.leave()
	in, err := s.rooms.Join(r.Context(), id, p == token.Full)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	k := s.accept(w, r)
	if k == nil {
		in.Leave()
		return
	}
	k.SetReadLimit(s.frameLimit(p == token.Full))
	_, prefix := s.relay.Own(id)
	c := room.NewClient(k, in, room.Shown{Token: access.RequestToken(r), Claims: claims, Full: p == token.Full, Prefix: prefix})
	k.SetHail(c.Hail)
	c.Greet()
	k.Serve(c.Take)
	c.Depart()
}

// frameLimit is the size in bytes of the largest frame of a client that may write, or
// only read.
func (s *Server) frameLimit(full bool) int64 {
	if full {
		return s.o.Limits.Frame
	}
	return min(s.o.Limits.Frame, s.o.Limits.ReadOnly)
}

// accept makes a websocket of a request; nil if that fails.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) *socket.Socket {
	l := s.o.Limits
	return socket.Accept(s.ctx, w, r, socket.Options{Queue: l.Queue, Backlog: l.Backlog, Ping: l.Ping, Inflight: s.o.Inflight})
}
