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
func (s *Server) serveDoc(w http.ResponseWriter, r *http.Request) error {
	if r.PathValue("id") != r.PathValue("again") {
		return access.Refuse(http.StatusBadRequest, "the two ids in the path differ")
	}
	return s.connect(w, r, r.PathValue("id"))
}

// serveRoom serves y-websocket, whose path is the name of the document, and without a name
// Hocuspocus, whose frames name it.
func (s *Server) serveRoom(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("room")
	switch {
	case r.Header.Get("Upgrade") == "":
		http.NotFound(w, r)
		return nil
	case name == "":
		return s.multiplex(w, r)
	}
	return s.connect(w, r, s.named(name))
}

// named returns the id of the document at a path, or path itself.
func (s *Server) named(path string) string {
	if id, ok := s.host.Named(path); ok {
		return id
	}
	return path
}

// connect upgrades a request to a websocket and serves that until it ends.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, id string) error {
	claims, p, err := s.access.OnDoc(r, id)
	if errors.Is(err, access.ErrResource) {
		err = access.Refuse(http.StatusForbidden, access.ErrResource.Text)
	}
	if err != nil {
		return err
	}
	if !s.conns.enter(client, s.o.Limits.Connections) {
		return access.ErrBusy
	}
	defer s.conns.leave(client)
	in, err := s.rooms.Join(r.Context(), id, p == token.Full)
	if err != nil {
		return err
	}
	k := s.accept(w, r)
	if k == nil {
		in.Leave()
		return nil
	}
	k.SetReadLimit(s.frameLimit(p == token.Full))
	_, prefix := s.relay.Own(id)
	c := room.NewClient(k, in, room.Shown{Token: access.RequestToken(r), Claims: claims, Full: p == token.Full, Prefix: prefix})
	k.SetHail(c.Hail)
	c.Greet()
	k.Serve(c.Take)
	c.Depart()
	return nil
}

func (s *Server) frameLimit(full bool) int64 {
	if full {
		return s.o.Limits.Frame
	}
	return min(s.o.Limits.Frame, s.o.Limits.ReadOnly)
}

// accept upgrades a request to a websocket; nil if that fails.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) *socket.Socket {
	l := s.o.Limits
	return socket.Accept(s.ctx, w, r, socket.Options{Queue: l.Queue, Backlog: l.Backlog, Ping: l.Ping, Inflight: s.o.Inflight})
}
