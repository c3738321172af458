// Package mcpproxy is `relayfs mcp` on stdio. It passes the messages of one MCP client to the process
// that serves the vaults: another process, or a session of this one while there is no other. It knows
// no tools; it answers the client itself only while no process serves the vaults.
//
// Locks: proxy.writing, proxy.mu, upstream.mu and pipes.mu. None is taken under another one.
package mcpproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// takeover is how long an owner may be gone before 'relayfs mcp' serves the vault. A restart takes less.
const takeover = 10 * time.Second

var errNoOwner = errors.New("no relayfs serves the notes at the moment")

// Stdio serves a client on stdin and stdout through the process that serves the vaults. It serves them
// itself if no process has for too long; then other clients can use it too, and it hands the vaults over
// to a process that asks for them.
type Stdio struct {
	Sources  []source.Source
	Options  ownership.Options                                    // for serving the vaults itself
	Open     func(*ownership.Session) (*ownership.Control, error) // makes what serves a session
	Author   string                                               // of the client's changes, "" if the owner decides
	ReadOnly bool                                                 // for this client
	Given    []string                                             // flags that an owner decides, if one runs
	Accept   func(owner.Info) error                               // refuses the process that serves the vaults at first
	Log      *slog.Logger
	running  sync.WaitGroup
}

// Serve serves the client through the process that serves the vaults, or through a session of this one.
func (s *Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.running.Wait()
	defer cancel()
	up, err := s.takeOver(ctx, s.Accept)
	if err != nil {
		return err
	}
	p := &proxy{connect: s.reach, log: s.Log, out: out, subscribed: make(map[string][]byte)}
	p.use(ctx, up)
	return p.run(ctx, in)
}

// reach connects to the owner. If there has been none for long enough, it connects to a server in this
// process. It waits for an owner that was handed the vaults.
func (s *Stdio) reach(ctx context.Context, gone time.Duration) (io.ReadWriteCloser, error) {
	for start := time.Now(); ; {
		since := gone + time.Since(start)
		last, err := owner.Read(s.Sources[0].State(s.Options.Base))
		if err == nil && last.HandedOver.IsZero() && owner.Answers(*last) { // an owner that hands over may still answer
			return s.join(ctx, *last)
		}
		if since >= takeover {
			return s.takeOver(ctx, func(owner.Info) error { return nil })
		}
		if err != nil || last.HandedOver.IsZero() {
			return nil, errNoOwner
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(ownership.Poll):
		}
	}
}

func (s *Stdio) join(ctx context.Context, info owner.Info) (io.ReadWriteCloser, error) {
	return ownership.Attach(ctx, info, s.Sources, s.Author, s.ReadOnly)
}

// takeOver serves the vaults in this process, or connects to the process that does by now.
func (s *Stdio) takeOver(ctx context.Context, accept func(owner.Info) error) (io.ReadWriteCloser, error) {
	sess, err := ownership.Open(ctx, s.Sources, s.Options)
	if info := ownership.Answering(err); info != nil {
		if err := accept(*info); err != nil {
			return nil, err
		}
		return s.join(ctx, *info)
	}
	if err != nil {
		return nil, err
	}
	return s.start(ctx, sess)
}

// start serves the other end of the stream that it returns until that is closed or handed over.
func (s *Stdio) start(ctx context.Context, sess *ownership.Session) (io.ReadWriteCloser, error) {
	c, err := s.Open(sess)
	if err != nil {
		return nil, errors.Join(err, sess.Close())
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	client := &pipes{PipeReader: fromServer, w: toServer}
	c.LetHandOver(s.mayHandOver, client.CloseWrite)
	begun, ended := make(chan struct{}), make(chan error, 1)
	s.running.Go(func() {
		defer sess.Close()
		defer c.MCP.Close()
		err := c.Serve(ctx, ownership.MCPCommand, func(ctx context.Context) error {
			close(begun)
			defer out.Close()
			return c.ServeStream(ctx, in, out, mcpserver.Client{Name: "stdio"})
		})
		in.Close()
		if err != nil && ctx.Err() == nil {
			s.Log.Error("serving the vault ended", model.LogErr, err)
		}
		ended <- err
	})
	select {
	case <-begun:
		return client, nil
	case err := <-ended:
		return nil, cmp.Or(err, errNoOwner)
	}
}

// mayHandOver returns an error if the vaults must stay in this process: the next owner must serve all of
// them under the same names, and as the client wants.
func (s *Stdio) mayHandOver(req ownership.HandoverRequest) error {
	if len(s.Given) > 0 {
		return fmt.Errorf("it was started with %s, which the other one would decide", strings.Join(s.Given, ", "))
	}
	for _, src := range s.Sources {
		if !slices.Contains(req.Sources, src.String()) {
			return fmt.Errorf("it serves %q, and the other one would not", src)
		}
	}
	return nil
}

// pipes is a stream within the process. It writes a message at once, so it never ends within a message.
type pipes struct {
	*io.PipeReader

	mu sync.Mutex // protects the following
	w  *io.PipeWriter
}

func (p *pipes) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.w.Write(b)
}

// CloseWrite makes the server answer what it was sent, and take no more.
func (p *pipes) CloseWrite() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.w.Close()
}

// Close also ends a Write that waits for the server.
func (p *pipes) Close() error { return errors.Join(p.w.Close(), p.PipeReader.Close()) }
