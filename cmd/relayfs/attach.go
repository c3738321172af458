package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
)

// takeover is how long an owner may be gone before 'relayfs mcp' serves the vault
// itself. Who restarts a mount does it within that time.
const takeover = 10 * time.Second

// errNoOwner says that nobody serves the vault at the moment.
var errNoOwner = errors.New("no relayfs serves the notes at the moment")

// attach serves the MCP client on stdin through the owner of the vaults, whoever
// that is at each moment, until stdin ends.
func (o *mcpOptions) attach(ctx context.Context, e *env, sources []vaultSource, log *slog.Logger, info owner.Info) error {
	up, err := o.join(ctx, info)
	if err != nil {
		return err
	}
	own := &ownServer{o: o, sources: sources, log: log}
	defer own.wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &relay{connect: own.reach, log: log, out: e.stdout, subscribed: make(map[string][]byte)}
	r.use(up)
	return r.run(ctx, e.stdin)
}

// ownServer finds whoever serves the vaults, and serves them itself if nobody
// has for too long.
type ownServer struct {
	o       *mcpOptions
	sources []vaultSource
	log     *slog.Logger
	running sync.WaitGroup
}

func (s *ownServer) wait() { s.running.Wait() }

// reach connects to the owner; when there has been none for long enough, to a
// server in this process.
func (s *ownServer) reach(ctx context.Context, gone time.Duration) (io.ReadWriteCloser, error) {
	if gone < takeover {
		base, err := stateDir(s.o.state)
		if err != nil {
			return nil, err
		}
		info, err := owner.Read(s.sources[0].state(base))
		if err != nil || !owner.Answers(*info) {
			return nil, errNoOwner
		}
		return s.o.join(ctx, *info)
	}
	sess, err := openSession(ctx, s.sources, &s.o.workspaceFlags, s.log)
	if info := answering(err); info != nil {
		return s.o.join(ctx, *info)
	}
	if err != nil {
		return nil, err
	}
	return s.start(ctx, sess)
}

// start serves the other end of the stream that it returns until that is closed.
func (s *ownServer) start(ctx context.Context, sess *session) (io.ReadWriteCloser, error) {
	c, err := newControl(sess.ws, &s.o.workspaceFlags, &s.o.mcpFlags, s.log)
	if err != nil {
		return nil, errors.Join(err, sess.close())
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s.running.Go(func() {
		defer sess.close()
		defer c.mcp.Close()
		err := sess.serve(ctx, c, "mcp", func(ctx context.Context) error {
			defer out.Close()
			return c.mcp.ServeStream(ctx, in, out, "stdio")
		})
		if err != nil && ctx.Err() == nil {
			s.log.Error("serving the vault ended", bridge.LogErr, err)
		}
		in.Close()
	})
	return &pipes{fromServer, toServer}, nil
}

// pipes are the two directions of a stream within the process.
type pipes struct {
	*io.PipeReader
	w *io.PipeWriter
}

func (p *pipes) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *pipes) CloseWrite() error           { return p.w.Close() }
func (p *pipes) Close() error                { return errors.Join(p.w.Close(), p.PipeReader.Close()) }
