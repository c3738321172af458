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
	maxNamed = 1000 // documents on one websocket
	// strangersFrame is the size in bytes of the largest frame before a valid token.
	strangersFrame = 64 << 10
	// strangersTime is how long a websocket may exist without a document.
	strangersTime = 10 * time.Second
)

// multiplex is a websocket of Hocuspocus: several documents, each with its own token.
type multiplex struct {
	s       *Server
	r       *http.Request
	socket  *socket.Socket
	clients map[string]*room.Client // by the name in the frames
	kind    kind                    // a stranger, until it has opened a document
	full    bool                    // it may write to one of them
}

// multiplex upgrades a request to such a websocket and serves that until it ends.
func (s *Server) multiplex(w http.ResponseWriter, r *http.Request) error {
	if !s.conns.enter(stranger, s.o.Limits.Strangers) {
		return access.ErrBusy
	}
	m := &multiplex{s: s, r: r, kind: stranger, clients: make(map[string]*room.Client)}
	defer func() { s.conns.leave(m.kind) }()
	k := s.accept(w, r)
	if k == nil {
		return nil
	}
	k.SetReadLimit(strangersFrame)
	m.socket = k
	tooLate := time.AfterFunc(min(strangersTime, 2*s.o.Limits.Ping), func() { k.End(socket.ErrStranger) })
	k.Serve(func(frame []byte) error {
		err := m.handle(frame)
		if m.kind == client {
			tooLate.Stop()
		}
		return err
	})
	tooLate.Stop()
	for _, c := range m.clients {
		c.Depart()
	}
	return nil
}

// settle makes a stranger a client.
func (m *multiplex) settle() (ok bool) {
	if m.kind == client {
		return true
	}
	if !m.s.conns.enter(client, m.s.o.Limits.Connections) {
		return false
	}
	m.s.conns.leave(stranger)
	m.kind = client
	m.s.access.Known(m.r)
	return true
}

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
		return nil // refused, or never opened
	case f.Type == ysync.Close:
		delete(m.clients, f.Document)
		c.Depart()
		return nil
	}
	return c.Handle(f)
}

// open opens a document for the client, or refuses. With another token the client keeps its
// open documents, and gets the new token's permission.
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

// join returns a client of the document that frames call name. A suffix after a NUL
// distinguishes several clients of one document.
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
