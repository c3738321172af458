package yserve

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// maxNamed is how many documents a client may have open on one websocket.
const maxNamed = 1000

// multiplex is a websocket with Hocuspocus's framing: the frames of several
// documents, each with its name in front and its own token.
type multiplex struct {
	s       *Server
	r       *http.Request
	socket  *socket
	clients map[string]*client // by the name in the frames
	known   bool               // it has opened a document, and counts as a connection since
	full    bool               // it could write to one of them
}

// strangersTime is how long a websocket may stay that has opened no document.
const strangersTime = 10 * time.Second

// multiplex makes such a websocket of a request and serves it until it ends.
func (s *Server) multiplex(w http.ResponseWriter, r *http.Request) {
	if !s.enterStranger() {
		s.fail(w, r, errBusy)
		return
	}
	m := &multiplex{s: s, r: r, clients: make(map[string]*client)}
	defer m.leave()
	k := s.accept(w, r)
	if k == nil {
		return
	}
	k.ws.SetReadLimit(strangersFrame)
	m.socket = k
	stranger := time.AfterFunc(min(strangersTime, 2*s.o.Limits.Ping), func() { k.end(errStranger) })
	k.serve(func(frame []byte) error {
		err := m.handle(frame)
		if m.known {
			stranger.Stop()
		}
		return err
	})
	stranger.Stop()
	for _, c := range m.clients {
		c.depart()
	}
}

// settle makes a stranger one of the connections.
func (m *multiplex) settle() (ok bool) {
	if m.known {
		return true
	}
	if !m.s.enter() {
		return false
	}
	m.s.leaveStranger()
	m.known = true
	m.s.o.Known(m.r)
	return true
}

func (m *multiplex) leave() {
	if m.known {
		m.s.leave()
		return
	}
	m.s.leaveStranger()
}

// handle does what a frame asks for. An error ends the connection.
func (m *multiplex) handle(frame []byte) error {
	f, err := ysync.DecodeHocuspocus(frame)
	switch {
	case errors.Is(err, ysync.ErrUnknownType):
		return nil
	case err != nil:
		return errMalformed
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
		c.depart()
		return nil
	}
	return c.handle(f)
}

// open lets the client at a document, or tells it why not. A client that shows
// another token keeps what it has open, with the new token's permission.
func (m *multiplex) open(name, text string) {
	c, err := m.join(name, text)
	if err != nil {
		m.socket.reply(ysync.AppendDenied(ysync.AppendDocument(nil, name), m.s.refusalOf(m.r, err).text))
		return
	}
	if old := m.clients[name]; old != nil {
		old.depart()
	}
	m.clients[name] = c
	m.full = m.full || c.full
	m.socket.ws.SetReadLimit(m.s.frameLimit(m.full))
	m.socket.setHail(c.hail)
	scope := "readonly"
	if c.full {
		scope = "read-write"
	}
	c.reply(ysync.AppendAuthenticated(nil, scope))
	c.room.add(c)
	if len(c.room.awareness.Others()) > 0 {
		c.hail()
	}
}

// join makes a client of the document that frames call name. What follows a NUL
// tells apart several clients of one document.
func (m *multiplex) join(name, text string) (*client, error) {
	path, _, _ := strings.Cut(name, "\x00")
	if len(m.clients) >= maxNamed && m.clients[name] == nil {
		return nil, errBusy
	}
	if text == "" {
		text = m.r.URL.Query().Get("token")
	}
	id := m.s.named(path)
	claims, p, err := m.s.permit(text, id)
	if err != nil {
		return nil, err
	}
	if !m.settle() {
		return nil, errBusy
	}
	room, err := m.s.join(m.socket.ctx, id, p == token.Full)
	if err != nil {
		return nil, err
	}
	c := newClient(m.socket, room, text, claims, p)
	c.name = ysync.AppendDocument(nil, name)
	return c, nil
}
