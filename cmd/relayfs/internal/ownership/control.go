package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/semantic"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
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

// LetHandOver lets the owner hand over unless may returns an error. begin ends its own client and its work.
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
	clients := &reaches{ctx: ctx, c: c, of: make(map[string]*reach)}
	defer clients.close()
	srv := &http.Server{Handler: clients, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	if _, err := listen.Serve(ctx, l, srv); err != nil {
		return err
	}
	c.streams.Wait()
	return nil
}

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

// endStream makes the server answer what it was sent on s. It does not wait for a client that does not read.
func endStream(s io.Closer) {
	if half, ok := s.(interface{ CloseRead() error }); ok {
		half.CloseRead()
	}
	time.AfterFunc(listen.Patience, func() { s.Close() })
}

// An MCP process on stdio serves the vaults for its own client, and for clients that attach to it. A
// process that can do more, a mount or a server on a port, asks for the vaults: the MCP process answers
// the requests so far, releases the vaults and becomes a client of the new owner.

// handoverPatience is how long a process that hands over may take to finish the calls under way.
const handoverPatience = 30 * time.Second

// handover is how an owner hands over; see LetHandOver.
type handover struct {
	may   func(HandoverRequest) error
	begin func() error
}

// HandoverRequest is sent by a process that asks for the vaults.
type HandoverRequest struct {
	Sources []string `json:"sources"` // NAME=DIR of each vault that it will serve
}

// answerHandover hands the vaults over to the process that asks.
func (c *Control) answerHandover(w http.ResponseWriter, r *http.Request) {
	var req HandoverRequest
	err := json.NewDecoder(r.Body).Decode(&req)
	switch {
	case err != nil:
	case c.handOver == nil:
		err = errors.New("it serves others too")
	default:
		err = c.handOver.may(req)
	}
	if err == nil {
		err = c.announceHandover()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	// From here on the next owner answers the client. The socket closes after the answer to this request.
	_ = c.handOver.begin() // a pipe's, which cannot fail
	fmt.Fprintln(w, "{}")
}

// Take is Open for a process that serves others. It asks an owner that serves only its own client to hand
// over.
func Take(ctx context.Context, sources []source.Source, o Options) (*Session, error) {
	for start := time.Now(); ; {
		s, err := Open(ctx, sources, o)
		var owned *owner.OwnedError
		if !errors.As(err, &owned) || owned.Owner == nil || time.Since(start) > handoverPatience {
			return s, err
		}
		if info := *owned.Owner; info.HandedOver.IsZero() {
			if info.Command != MCPCommand || info.HTTP != nil || !owner.Answers(info) {
				return nil, err
			}
			if refused := askForVaults(ctx, info, sources); refused != nil {
				return nil, clierr.WithHint(fmt.Errorf("%w, which does not hand it over: %w", err, refused), "end that process first")
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(Poll):
		}
	}
}

func askForVaults(ctx context.Context, info owner.Info, sources []source.Source) error {
	ctx, cancel := context.WithTimeout(ctx, handoverPatience)
	defer cancel()
	var req HandoverRequest
	for _, src := range sources {
		req.Sources = append(req.Sources, src.String())
	}
	return owner.NewClient(info).Post(ctx, handoverPath, req, new(struct{}))
}

// MCPCommand is the command of an owner that serves only MCP.
const MCPCommand = "mcp"
