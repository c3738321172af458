// Package stdio is `relayfs mcp` on stdin and stdout. It passes the messages of one MCP client to /mcp on the socket of
// the process that serves the vaults: another process, or this one while there is no other. It knows no tools; it
// answers the client itself only while no process serves the vaults.
//
// Locks: bridge.reaching, bridge.mu under it, and bridge.writing.
package stdio

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
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
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
	Options  serving.Options                                  // for serving the vaults itself
	Open     func(*serving.Session) (*serving.Control, error) // makes what serves a session
	Author   string                                           // of the client's changes, "" if the owner decides
	ReadOnly bool                                             // for this client
	Given    []string                                         // flags that an owner decides, if one runs
	Accept   func(owner.Info) error                           // refuses the process that serves the vaults at first
	Log      *slog.Logger
	running  sync.WaitGroup
	bridge   *bridge
}

// Serve serves the client through the process that serves the vaults, or through a session of this one.
func (s *Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.running.Wait()
	defer cancel()
	s.bridge = &bridge{
		connect: s.reach, client: mcpserver.Client{Author: s.Author, ReadOnly: s.ReadOnly}, log: s.Log, out: out, subscribed: make(map[string][]byte),
	}
	server, err := s.takeOver(ctx, s.Accept)
	if err == nil {
		_, err = s.bridge.open(ctx, server)
	}
	if err != nil {
		return err
	}
	return s.bridge.run(ctx, in)
}

// reach connects to the owner. If there has been none for long enough, it connects to a server in this
// process. It waits for an owner that was handed the vaults.
func (s *Stdio) reach(ctx context.Context, gone time.Duration) (*owner.Client, error) {
	for start := time.Now(); ; {
		since := gone + time.Since(start)
		last, err := owner.Read(s.Sources[0].State(s.Options.Base))
		if err == nil && last.HandoverStarted.IsZero() && owner.IsReachable(*last) { // an owner that hands over may still answer
			return s.clientOf(*last), nil
		}
		if since >= takeover {
			return s.takeOver(ctx, func(owner.Info) error { return nil })
		}
		if err != nil || last.HandoverStarted.IsZero() {
			return nil, errNoOwner
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(serving.Poll):
		}
	}
}

func (s *Stdio) clientOf(info owner.Info) *owner.Client { return serving.NewClient(info, s.Sources) }

// takeOver serves the vaults in this process, or connects to the process that does by now.
func (s *Stdio) takeOver(ctx context.Context, accept func(owner.Info) error) (*owner.Client, error) {
	sess, err := serving.Open(ctx, s.Sources, s.Options)
	if info := serving.Answering(err); info != nil {
		if err := accept(*info); err != nil {
			return nil, err
		}
		return s.clientOf(*info), nil
	}
	if err != nil {
		return nil, err
	}
	return s.start(ctx, sess)
}

// start serves the vaults in this process until ctx ends or they are handed over, and returns a client of it.
func (s *Stdio) start(ctx context.Context, sess *serving.Session) (*owner.Client, error) {
	c, err := s.Open(sess)
	if err != nil {
		return nil, errors.Join(err, sess.Close())
	}
	handed, end := context.WithCancel(ctx)
	c.LetHandOver(s.mayHandOver, func() {
		s.bridge.leave()
		end()
	})
	begun, ended := make(chan struct{}), make(chan error, 1)
	s.running.Go(func() {
		defer end()
		defer sess.Close()
		defer c.MCP.Close()
		err := c.Serve(ctx, serving.MCPCommand, func(ctx context.Context) error {
			close(begun)
			select {
			case <-ctx.Done(): // also if a vault cannot be followed any more
			case <-handed.Done():
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Error("serving the vault ended", model.LogErr, err)
		}
		ended <- err
	})
	select {
	case <-begun:
		return s.clientOf(c.Info()), nil
	case err := <-ended:
		return nil, cmp.Or(err, errNoOwner)
	}
}

// mayHandOver returns an error if the vaults must stay in this process: the next owner must serve all of
// them under the same names, and as the client wants.
func (s *Stdio) mayHandOver(req serving.HandoverRequest) error {
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
