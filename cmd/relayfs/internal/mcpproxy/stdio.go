// Package mcpproxy is `relayfs mcp` on stdio. It carries the messages of one MCP client to
// whoever serves the vaults at each moment: another process, or a session of this one
// while there is no other. It knows no tools; it answers the client itself only while
// nobody serves the vaults.
//
// Locks: proxy.writing, proxy.mu, upstream.mu and pipes.mu, of which none is taken under
// another one.
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
)

// takeover is how long an owner may be gone before 'relayfs mcp' serves the vault
// itself. Who restarts a mount does it within that time.
const takeover = 10 * time.Second

// errNoOwner says that nobody serves the vault at the moment.
var errNoOwner = errors.New("no relayfs serves the notes at the moment")

// Stdio finds whoever serves the vaults, and serves them itself if nobody
// has for too long. What it serves itself it hands over to a process that asks for
// it, since others can use that one too.
type Stdio struct {
	Sources  []source.Source
	Options  ownership.Options                                    // for the time in which it serves them itself
	Open     func(*ownership.Session) (*ownership.Control, error) // makes what serves a session
	Author   string                                               // as whom the client writes, "" if the owner says that
	ReadOnly bool                                                 // for this client
	Given    []string                                             // flags that an owner decides, if one runs
	Log      *slog.Logger
	running  sync.WaitGroup
}

// ServeOwner serves the client through an owner that answers, first.
func (s *Stdio) ServeOwner(ctx context.Context, in io.Reader, out io.Writer, info owner.Info) error {
	return s.stdio(ctx, in, out, func(ctx context.Context) (io.ReadWriteCloser, error) { return s.join(ctx, info) })
}

// ServeOwn serves the client through a session of this process, first.
func (s *Stdio) ServeOwn(ctx context.Context, in io.Reader, out io.Writer, sess *ownership.Session) error {
	return s.stdio(ctx, in, out, func(ctx context.Context) (io.ReadWriteCloser, error) { return s.start(ctx, sess) })
}

// stdio serves the MCP client on in and out through whoever serves the vaults at each
// moment, until in ends: first through what connect returns.
func (s *Stdio) stdio(ctx context.Context, in io.Reader, out io.Writer, connect func(context.Context) (io.ReadWriteCloser, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.running.Wait()
	defer cancel()
	up, err := connect(ctx)
	if err != nil {
		return err
	}
	p := &proxy{connect: s.reach, log: s.Log, out: out, subscribed: make(map[string][]byte)}
	p.use(ctx, up)
	return p.run(ctx, in)
}

// reach connects to the owner; when there has been none for long enough, to a
// server in this process. It waits for an owner that was handed the vaults.
func (s *Stdio) reach(ctx context.Context, gone time.Duration) (io.ReadWriteCloser, error) {
	for start := time.Now(); ; {
		since := gone + time.Since(start)
		last, err := owner.Read(s.Sources[0].State(s.Options.Base))
		if err == nil && last.HandedOver.IsZero() && owner.Answers(*last) { // one that makes way may answer yet
			return s.join(ctx, *last)
		}
		if since >= takeover {
			return s.takeOver(ctx)
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

// join connects to an owner as an MCP client of it that reaches the sources.
func (s *Stdio) join(ctx context.Context, info owner.Info) (io.ReadWriteCloser, error) {
	return ownership.Attach(ctx, info, s.Sources, s.Author, s.ReadOnly)
}

// takeOver serves the vaults in this process, or finds who does by now.
func (s *Stdio) takeOver(ctx context.Context) (io.ReadWriteCloser, error) {
	sess, err := ownership.Open(ctx, s.Sources, s.Options)
	if info := ownership.Answering(err); info != nil {
		return s.join(ctx, *info)
	}
	if err != nil {
		return nil, err
	}
	return s.start(ctx, sess)
}

// start serves the other end of the stream that it returns until that is closed
// or the vaults are handed over.
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
		err := sess.Serve(ctx, c, ownership.MCPCommand, func(ctx context.Context) error {
			close(begun)
			defer out.Close()
			return c.MCP.ServeStream(ctx, in, out, "stdio")
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

// mayHandOver says why the vaults of a stdio client stay here, if they do: the next
// owner must serve all of them under the same names, and as the client wanted.
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
