package ownership

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge/owner"
)

// Serve follows the vaults and answers on the owner's socket while work runs. At its end, or when ctx
// ends, requests under way get their answers before the workspace ends.
func (s *Session) Serve(ctx context.Context, c *Control, command string, work func(context.Context) error) error {
	l, socket, err := owner.Listen()
	if err != nil {
		return err
	}
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A vault that cannot be followed, or a port that fails, ends work.
	workspace := newCrew(ctx, cancel)
	workspace.start(s.Workspace.Run)
	front := newCrew(ctx, cancel)
	front.start(func(ctx context.Context) error { return c.serve(ctx, l) })
	if c.Semantic != nil {
		front.start(c.Semantic.Run)
	}
	if c.HTTP != nil {
		front.start(func(ctx context.Context) error { return c.HTTP.Serve(ctx, c.MCP, s.Log) })
	}
	if c.Yjs != nil {
		workspace.start(c.Yjs.Host.Run)
		front.start(c.Yjs.Serve)
	}
	err = s.owner.Announce(s.info(command, socket, c))
	if err == nil {
		err = work(wctx)
	}
	return errors.Join(err, front.stop(), workspace.stop())
}

// crew is a group of goroutines that end together, but not with the context they began in.
type crew struct {
	ctx    context.Context
	cancel context.CancelFunc
	failed func() // called when one returns an error
	group  errgroup.Group
}

func newCrew(ctx context.Context, failed func()) *crew {
	c := &crew{failed: failed}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return c
}

func (c *crew) start(run func(context.Context) error) {
	c.group.Go(func() error {
		err := run(c.ctx)
		if err != nil {
			c.failed()
		}
		return err
	})
}

// stop ends the goroutines and returns the first error.
func (c *crew) stop() error {
	c.cancel()
	return c.group.Wait()
}

func (s *Session) info(command, socket string, c *Control) owner.Info {
	info := owner.Info{
		PID: os.Getpid(), Command: command, Mountpoint: s.Workspace.Mountpoint(), Socket: socket,
		Started: time.Now().UTC().Truncate(time.Second), Version: s.version,
	}
	if h := c.HTTP; h != nil {
		info.HTTP = &owner.HTTP{URL: h.URL(), TokenFile: h.TokenFile}
	}
	if c.Yjs != nil {
		info.Yjs = &c.Yjs.Info
	}
	for _, src := range s.sources {
		info.Sources = append(info.Sources, src.String())
	}
	return info
}
