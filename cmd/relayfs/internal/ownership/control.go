package ownership

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/semantic"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/listen"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// Paths that an owner answers on its socket, in JSON. Each takes owner.SourceParam too.
const (
	statusPath   = "/status"
	mcpPath      = "/mcp"      // a stream; query: author, read-only
	handoverPath = "/handover" // POST a HandoverRequest
)

// Control serves a session's workspace to other processes, on the owner's socket and on ports.
type Control struct {
	Semantic         *semantic.Index // nil if no tool searches it
	Workspace        *bridge.Workspace
	sources          []source.Source
	options          mcpserver.Options
	MCP              *mcpserver.Server
	HTTP             *ports.HTTPServer // nil if there is none
	Yjs              *ports.YjsServer  // nil if there is none
	handOver         *handover         // nil if this owner does not hand over
	announceHandover func() error      // tells clients to wait for the next owner
	streams          sync.WaitGroup    // of attached clients
}

// NewControl returns a Control. Close its MCP at the end.
func NewControl(s *Session, o mcpserver.Options) *Control {
	return &Control{Workspace: s.Workspace, sources: s.sources, options: o, MCP: mcpserver.New(s.Workspace, o), announceHandover: s.owner.HandOver}
}

// LetHandOver makes the owner hand over to others unless may returns an error. begin stops messages of its
// own client and ends the owner's work.
func (c *Control) LetHandOver(may func(HandoverRequest) error, begin func() error) {
	c.handOver = &handover{may, begin}
}

// Announce prints which ports are open.
func (c *Control) Announce(w io.Writer) {
	if c.HTTP != nil {
		c.HTTP.Announce(w)
	}
	if c.Yjs != nil {
		c.Yjs.Announce(w)
	}
}

// serve answers on the socket until ctx ends, and then finishes the requests under way.
func (c *Control) serve(ctx context.Context, l net.Listener) error {
	clients := newReaches(ctx, c)
	defer clients.close()
	srv := &http.Server{Handler: clients, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	if _, err := listen.Serve(ctx, l, srv); err != nil {
		return err
	}
	c.streams.Wait()
	return nil
}

// stream serves one attached MCP client.
func (c *Control) stream(ctx context.Context, srv *mcpserver.Server, w http.ResponseWriter, r *http.Request) {
	if author := r.FormValue("author"); author != "" {
		srv = srv.As(author)
	}
	if r.FormValue("read-only") != "" {
		srv = srv.Reading()
	}
	c.streams.Add(1) // before AcceptStream takes the connection from the server, which then forgets it
	defer c.streams.Done()
	s, err := owner.AcceptStream(w, r)
	if err != nil {
		return
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { endStream(s) })
	defer stop()
	if err := srv.ServeStream(context.WithoutCancel(ctx), s, s, "attached"); err != nil && ctx.Err() == nil {
		c.Workspace.Options().Logger.Debug("attached client ended", model.LogErr, err)
	}
}

// endStream makes the server answer what it was sent on s, and take no more. It does not wait for a client
// that does not read its answers.
func endStream(s io.Closer) {
	if half, ok := s.(interface{ CloseRead() error }); ok {
		half.CloseRead()
	}
	time.AfterFunc(listen.Patience, func() { s.Close() })
}
