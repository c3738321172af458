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

// Control is the owner's side of its socket, and of its HTTP port if it has one.
type Control struct {
	Semantic  *semantic.Index // nil where no tools are served that search it
	Workspace *bridge.Workspace
	sources   []source.Source
	options   mcpserver.Options
	MCP       *mcpserver.Server
	HTTP      *ports.HTTPServer // nil if there is none
	Yjs       *ports.YjsServer  // nil if there is none
	// handOver makes way for another owner; nil if this one does not.
	handOver         *handover
	announceHandover func() error   // tells clients to wait for the next owner
	streams          sync.WaitGroup // of attached clients
}

// NewControl makes what serves a session's workspace to other processes. Close its
// mcp at the end.
func NewControl(s *Session, o mcpserver.Options) *Control {
	return &Control{Workspace: s.Workspace, sources: s.sources, options: o, MCP: mcpserver.New(s.Workspace, o), announceHandover: s.owner.HandOver}
}

// LetHandOver has the owner make way for others if may says so; begin has it take no more
// from its own client, and end.
func (c *Control) LetHandOver(may func(HandoverRequest) error, begin func() error) {
	c.handOver = &handover{may, begin}
}

// controlPatience is how long requests under way may take at the end.
const controlPatience = 5 * time.Second

// Announce says which ports are open.
func (c *Control) Announce(w io.Writer) {
	if c.HTTP != nil {
		c.HTTP.Announce(w)
	}
	if c.Yjs != nil {
		c.Yjs.Announce(w)
	}
}

// serve answers until ctx ends, and then finishes what is under way.
func (c *Control) serve(ctx context.Context, l net.Listener) error {
	clients := newReaches(ctx, c)
	defer clients.close()
	srv := &http.Server{Handler: clients, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	patience, stop := context.WithTimeout(context.WithoutCancel(ctx), controlPatience)
	defer stop()
	if srv.Shutdown(patience) != nil {
		srv.Close()
	}
	c.streams.Wait()
	return nil
}

// stream serves one attached MCP client through srv.
func (c *Control) stream(ctx context.Context, srv *mcpserver.Server, w http.ResponseWriter, r *http.Request) {
	if author := r.FormValue("author"); author != "" {
		srv = srv.As(author)
	}
	if r.FormValue("read-only") != "" {
		srv = srv.Reading()
	}
	c.streams.Add(1) // before the server forgets the connection
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

// endStream has the server answer what it was sent on s, and take no more. A
// client that does not read its answers is not waited for.
func endStream(s io.Closer) {
	if half, ok := s.(interface{ CloseRead() error }); ok {
		half.CloseRead()
	}
	time.AfterFunc(controlPatience, func() { s.Close() })
}
