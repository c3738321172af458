package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/daemon"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/fusefs"
)

// mountOptions are the flags of 'relayfs mount'.
type mountOptions struct {
	workspaceFlags
	mcpFlags
	yjs                                      ports.Yjs
	allowOther, nonEmpty, daemon, watchPokes bool
}

func newMountCommand(e *env) *cobra.Command {
	var o mountOptions
	cmd := &cobra.Command{
		Use:   "mount [SOURCE... MOUNTPOINT]",
		Short: "Mount vaults as a folder until interrupted",
		Long: `Mount shows each SOURCE, a vault directory or NAME=DIR, as a folder below
MOUNTPOINT, and stays in the foreground until SIGINT, SIGTERM or SIGHUP. It then keeps
what is unsaved, and unmounts. When the mount is ready it prints
"mounted MOUNTPOINT" on stderr. Sources and mountpoint that are not given come
from the configuration file.`,
		Example: "  relayfs mount ~/Notes /mnt/notes\n  relayfs mount Work=~/Documents/work ~/Notes ~/mnt --daemon",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, mountpoint, err := e.config.MountArgs(args)
			if err != nil {
				return err
			}
			if o.daemon {
				return daemon.Start(cmd.Context(), e.stderr)
			}
			return o.run(cmd.Context(), e, sources, mountpoint)
		},
	}
	o.workspaceFlags.register(cmd)
	o.mcpFlags.register(cmd)
	registerYjs(cmd, &o.yjs)
	cmd.Flags().BoolVar(&o.allowOther, "allow-other", false, "let other users in (needs user_allow_other in /etc/fuse.conf unless root)")
	cmd.Flags().BoolVar(&o.nonEmpty, "nonempty", false, "mount over a folder that is not empty, hiding what it holds")
	cmd.Flags().BoolVar(&o.watchPokes, "watch-pokes", true, "wake programs that watch the mount (inotify) when others change notes")
	cmd.Flags().BoolVar(&o.daemon, "daemon", false, "return once mounted and go on in the background")
	return cmd
}

func (o *mountOptions) run(ctx context.Context, e *env, sourceArgs []string, dir string) error {
	log, err := o.log.logger(e.stderr)
	if err != nil {
		return err
	}
	if _, err := o.options(log); err != nil {
		return err
	}
	if err := o.mcpFlags.check(); err != nil {
		return err
	}
	if err := o.yjs.Check(); err != nil {
		return err
	}
	sources, err := source.Parse(sourceArgs, o.folders)
	if err == nil {
		err = o.yjs.CheckSources(sources)
	}
	if err != nil {
		return err
	}
	mountpoint, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := apart(sources, mountpoint); err != nil {
		return err
	}
	if err := fusefs.Check(mountpoint, o.nonEmpty); err != nil {
		return err
	}
	so, err := o.session(log)
	if err != nil {
		return err
	}
	s, err := ownership.Take(ctx, sources, so)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Workspace.SetMountpoint(mountpoint)
	c, err := o.mcpFlags.open(s, &o.workspaceFlags, log)
	if err != nil {
		return err
	}
	defer c.MCP.Close()
	if c.Yjs, err = o.yjs.Listen(ctx, s.Workspace, o.state, log); err != nil {
		return err
	}
	return s.Serve(ctx, c, "mount", func(ctx context.Context) error {
		fuseOptions := fusefs.Options{
			Author: o.author, AllowOther: o.allowOther, NonEmpty: o.nonEmpty, Logger: log, Guard: guardArgs(),
		}
		if o.watchPokes {
			fuseOptions.Poker = pokeArgs()
		}
		server, err := fusefs.Mount(ctx, s.Workspace, mountpoint, fuseOptions)
		if err != nil {
			return err
		}
		makeRoom()
		c.Announce(e.stderr)
		daemon.Ready(e.stderr, daemon.Mounted+mountpoint, s.LogFile())
		return untilUnmounted(ctx, server)
	})
}

// makeRoom gives the goroutines that wait in read(2) for the kernel's next request
// room beside those that work. As many of them as there are processors, and the
// scheduler is busy taking processors away from the ones that wait: a fifth of what a
// search through all notes takes. It must come after Mount, which starts as many
// readers as GOMAXPROCS says.
func makeRoom() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	}
}

// untilUnmounted waits for the end of ctx, or for somebody else to unmount.
func untilUnmounted(ctx context.Context, server *fusefs.Server) error {
	gone := make(chan struct{})
	go func() {
		server.Wait()
		close(gone)
	}()
	select {
	case <-ctx.Done():
	case <-gone:
	}
	return server.Unmount()
}

// apart refuses a mountpoint inside a vault, or a vault inside the mountpoint:
// either would show the mount to itself.
func apart(sources []source.Source, mountpoint string) error {
	real := mountpoint
	if r, err := filepath.EvalSymlinks(mountpoint); err == nil {
		real = r
	}
	for _, s := range sources {
		if s.Server != nil {
			continue
		}
		if owner.Within(s.Dir, real) || owner.Within(real, s.Dir) {
			return clierr.WithHint(
				fmt.Errorf("mountpoint %q and vault %q lie inside each other", mountpoint, s.Dir),
				"choose a mountpoint outside of the vault, for example "+filepath.Join(os.TempDir(), "notes"))
		}
	}
	return nil
}

func newUnmountCommand(_ *env) *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use:   "unmount MOUNTPOINT",
		Short: "Unmount cleanly, also a dead mount",
		Long: `Unmount ends the mount at MOUNTPOINT, and returns when its process has let go of
the vaults. The mountpoint of a process that was killed is cleared.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			served := ownership.MountedBy(dir, state)
			if served != nil {
				err := owner.NewClient(*served).Alive(cmd.Context())
				if gone := (*owner.GoneError)(nil); err != nil && !errors.As(err, &gone) { // a killed process is dead before its locks are free
					return err
				}
			}
			if err := abandonable(cmd.Context(), func() error { return fusefs.Unmount(dir) }); err != nil {
				return err
			}
			return ownership.AwaitEnd(cmd.Context(), served)
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "the state folder that the mount was given")
	return cmd
}
