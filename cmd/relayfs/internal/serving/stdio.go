package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// takeoverDelay is the time without an owner after which 'relayfs mcp' serves the vaults itself. It is longer than an
// owner takes to restart.
const takeoverDelay = 10 * time.Second

var errNoOwner = errors.New("no relayfs serves the notes at the moment")

// Stdio connects a client on stdin and stdout to the owner of the sources. This process becomes the owner if there is
// none at the start, or if later there is none for takeoverDelay. Other clients can then use this process as well, and
// this process may hand over to a process that asks for the vaults (mayHandOver).
type Stdio struct {
	Sources  []source.Source
	Options  Options                          // options for serving the sources in this process
	Open     func(*Session) (*Control, error) // returns the Control of a session
	Author   string                           // author of the client's changes; "" means the owner's default
	ReadOnly bool                             // whether the client may not change anything
	Given    []string                         // flags of this process whose values another owner would override
	Log      *slog.Logger
	running  sync.WaitGroup
	bridge   *stdioBridge
}

func (s *Stdio) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.running.Wait()
	defer cancel()
	s.bridge = newStdioBridge(s.connect, mcpserver.Client{Author: s.Author, ReadOnly: s.ReadOnly}, s.Log, out)
	server, err := s.takeOver(ctx)
	if given := strings.Join(s.Given, ", "); err == nil && given != "" && server.Info().PID != os.Getpid() {
		return cli.WithHint(
			fmt.Errorf("cannot use %s: the vault is served by %v, whose settings apply to all its clients", given, server.Info()),
			"omit it, or start that process with it")
	}
	if err != nil {
		return err
	}
	return s.bridge.run(ctx, in, server)
}

// connect returns a client of the owner. If there is no owner, it returns errNoOwner or, after takeoverDelay, makes
// this process the owner. During a handover, connect waits for the new owner. missing is the time for which there has
// been no owner.
func (s *Stdio) connect(ctx context.Context, missing time.Duration) (*owner.Client, error) {
	for start := time.Now(); ; {
		last, err := owner.Read(s.Sources[0].State(s.Options.Base))
		if err == nil && last.HandoverStarted.IsZero() && owner.IsReachable(*last) { // an owner that hands over may still respond
			return s.clientOf(*last), nil
		}
		if missing+time.Since(start) >= takeoverDelay {
			return s.takeOver(ctx)
		}
		if err != nil || last.HandoverStarted.IsZero() {
			return nil, errNoOwner
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(poll):
		}
	}
}

func (s *Stdio) clientOf(info owner.Info) *owner.Client { return NewClient(info, s.Sources) }

// takeOver makes this process the owner. If another process has become the owner in the meantime, it returns a client
// of that process.
func (s *Stdio) takeOver(ctx context.Context) (*owner.Client, error) {
	sess, err := Open(ctx, s.Sources, s.Options)
	if info := OwnerInError(err); info != nil {
		return s.clientOf(*info), nil
	}
	if err != nil {
		return nil, err
	}
	return s.start(ctx, sess)
}

// start serves a session in this process until ctx ends or the process hands over. It returns a client of the session.
func (s *Stdio) start(ctx context.Context, sess *Session) (*owner.Client, error) {
	c, err := s.Open(sess)
	if err != nil {
		return nil, errors.Join(err, sess.Close())
	}
	handed, end := context.WithCancel(ctx)
	c.mayHandOver, c.beginHandover = s.mayHandOver, func() {
		s.bridge.detach()
		end()
	}
	started, ended := make(chan struct{}), make(chan error, 1)
	s.running.Go(func() {
		defer end()
		defer sess.Close()
		defer c.MCP.Close()
		err := c.Serve(ctx, MCPCommand, func(ctx context.Context) error {
			close(started)
			select {
			case <-ctx.Done(): // ctx also ends when a source has failed
			case <-handed.Done():
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Error("stopped serving the vault", model.LogErr, err)
		}
		ended <- err
	})
	select {
	case <-started:
		return s.clientOf(c.Info()), nil
	case err := <-ended:
		return nil, cmp.Or(err, errNoOwner)
	}
}

// mayHandOver returns an error if this process was started with flags that the next owner would override, or if the
// next owner does not serve all sources of this process under the same names.
func (s *Stdio) mayHandOver(req handoverRequest) error {
	if len(s.Given) > 0 {
		return fmt.Errorf("it was started with %s, which the other process would override", strings.Join(s.Given, ", "))
	}
	for _, src := range s.Sources {
		if !slices.Contains(req.Sources, src.String()) {
			return fmt.Errorf("it serves %q, and the other process would not", src)
		}
	}
	return nil
}
