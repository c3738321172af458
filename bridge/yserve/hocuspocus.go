package yserve

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/yserve/access"
	"github.com/relayfs/relayfs/bridge/yserve/room"
	"github.com/relayfs/relayfs/bridge/yserve/socket"
	"github.com/relayfs/relayfs/bridge/ysync"
)

const (
	// maxNamed is how many documents a client may have open on one websocket.
	maxNamed = 1000
	// strangersFrame is the size in bytes of the largest frame of a client that
	// has not shown a token yet.
	strangersFrame = 64 << 10
)

// multiplex is a websocket with Hocuspocus's framing: the frames of several
// documents, each with its name in front and its own token.
type multiplex struct {
	s       *Server
	r       *http.Request
	socket  *socket.Socket
	clients map[string]*room.Client // by the name in the frames
	known   bool                    // it has opened a document, and counts as a connection since
	full    bool                    // it could write to one of them
}

// strangersTime is how long a websocket may stay that has opened no document.
const strangersTime = 10 * time.Second

// multiplex makes such a websocket of a request and serves it until it ends.
func (s *Server) multiplex(w http.ResponseWriter, r *http.Request) {
	if !s.conns.enterStranger(s.o.Limits.Strangers) {
		s.fail(w, r, access.ErrBusy)
		return
	}
	m := &multiplex{s: s, r: r, clients: make(map[string]*room.Client)}
	defer m.leave()
	k := s.accept(w, r)
	if k == nil {
		return
	}
	k.SetReadLimit(strangersFrame)
	m.socket = k
	stranger := time.AfterFunc(min(strangersTime, 2*s.o.Limits.Ping), func() { k.End(socket.ErrStranger) })
	k.Serve(func(frame []byte) error {
		err := m.handle(frame)
		if m.known {
			stranger.Stop()
		}
		return err
	})
	stranger.Stop()
	for _, c := range m.clients {
		c.Depart()
	}
}

// settle makes a stranger one of the connections.
func (m *multiplex) settle() (ok bool) {
	if m.known {
		return true
	}
	if !m.s.conns.enter(m.s.o.Limits.Connections) {
		return false
	}
	m.s.conns.leaveStranger()
	m.known = true
	m.s.access.Known(m.r)
	return true
}

func (m *multiplex) leave() {
	if m.known {
		m.s.conns.leave()
		return
	}
	m.s.conns.leaveStranger()
}

// handle does what a frame asks for. An error ends the connection.
func (m *multiplex) handle(frame []byte) error {
	f, err := ysync.DecodeHocuspocus(frame)
	switch {
	case errors.Is(err, ysync.ErrUnknownType):
		return nil
	case err != nil:
		return socket.ErrMalformed
	case f.Type == ysync.Auth && f.Auth == ysync.Token:
		m.open(f.Document, f.Text)
		return nil
	}
	c := m.clients[f.Document]
	switch {
	case c == nil:
		return nil // it was refused, or never opened
	case f.Type == ysync.Close:
		delete(m.clients, f.Document)
		c.Depart()
		return nil
	}
	return c.Handle(f)
}

// open lets the client at a document, or tells it why not. A client that shows
// another token keeps what it has open, with the new token's permission.
func (m *multiplex) open(name, text string) {
	c, err := m.join(name, text)
	if err != nil {
		m.socket.Reply(ysync.AppendDenied(ysync.AppendDocument(nil, name), m.s.refusalOf(m.r, err).Text))
		return
	}
	if old := m.clients[name]; old != nil {
		old.Depart()
	}
	m.clients[name] = c
	m.full = m.full || c.Full
	m.socket.SetReadLimit(m.s.frameLimit(m.full))
	m.socket.SetHail(c.Hail)
	c.Welcome()
}

// join makes a client of the document that frames call name. What follows a NUL
// tells apart several clients of one document.
func (m *multiplex) join(name, text string) (*room.Client, error) {
	path, _, _ := strings.Cut(name, "\x00")
	if len(m.clients) >= maxNamed && m.clients[name] == nil {
		return nil, access.ErrBusy
	}
	if text == "" {
		text = m.r.URL.Query().Get("token")
	}
	id := m.s.named(path)
	claims, p, err := m.s.access.Permit(text, id)
	if err != nil {
		return nil, err
	}
	if !m.settle() {
		return nil, access.ErrBusy
	}
	in, err := m.s.rooms.Join(m.socket.Context(), id, p == token.Full)
	if err != nil {
		return nil, err
	}
	return room.NewClient(m.socket, in, room.Shown{
		Token: text, Claims: claims, Full: p == token.Full, Name: ysync.AppendDocument(nil, name),
	}), nil
}
