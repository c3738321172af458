package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/fusefs"
)

type mountOptions struct {
	authorFromProgram bool // whether no author is set, so that the agent's name is the author
	serveOptions
	allowOther, daemon bool
}

func newMountCommand(e *env) *cobra.Command {
	var o mountOptions
	cmd := &cobra.Command{
		Use:   "mount [SOURCE... MOUNTPOINT]",
		Short: "Mount vaults as a folder until interrupted",
		Long: `Mount shows each SOURCE (a vault directory, NAME=DIR, relay:NAME or a server's
address) as a folder in MOUNTPOINT. More settings: 'relayfs help settings'.`,
		Example: "  relayfs mount ~/Notes /mnt/notes",
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, mountpoint, err := e.config.MountArgs(args)
			if err != nil {
				return err
			}
			if o.daemon {
				return process.Start(cmd.Context(), e.stderr)
			}
			author := cmd.Flag("author")
			o.authorFromProgram = !author.Changed && o.author == author.DefValue && os.Getenv(authorEnv) == ""
			return o.run(cmd.Context(), e, sources, mountpoint)
		},
	}
	o.register(e, cmd)
	return cmd
}

func (o *mountOptions) register(e *env, cmd *cobra.Command) {
	o.serveOptions.register(e, cmd)
	e.settings(cmd).BoolVar(&o.allowOther, "allow-other", false, "admit other users (needs user_allow_other in /etc/fuse.conf unless root)")
	cmd.Flags().BoolVar(&o.daemon, "daemon", false, "return once mounted, continue in the background")
}

type mountPlan struct {
	sources    []source.Source
	session    serving.Options
	mountpoint string // absolute
}

// plan checks the options of a mount without opening the sources. errs are the errors that prevent the mount from
// starting: mount fails with the first error, doctor reports all. plan checks the ports only if there is no other
// error. If dir is "", it does not check the mountpoint. If running is set, the mount is running already, so its
// mountpoint and ports are in use.
func (o *mountOptions) plan(ctx context.Context, e *env, args []string, dir string, running bool) (p mountPlan, errs []error) {
	p.sources, p.session, errs = o.prepare(ctx, e, args)
	if dir != "" {
		var err error
		if p.mountpoint, err = filepath.Abs(dir); err == nil {
			err = checkDisjoint(p.sources, p.mountpoint)
		}
		if err == nil && !running {
			err = fusefs.CheckMountpoint(p.mountpoint, o.allowOther)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 && !running {
		if err := ports.CheckFree(o.http.Addr, o.metrics); err != nil {
			errs = append(errs, err)
		}
	}
	return p, errs
}

func (o *mountOptions) run(ctx context.Context, e *env, args []string, dir string) error {
	p, errs := o.plan(ctx, e, args, dir, false)
	if len(errs) > 0 {
		return errs[0]
	}
	if err := fusefs.Check(p.mountpoint); err != nil {
		return err
	}
	if err := o.freeSources(p.sources); err != nil {
		return err
	}
	return o.serve(ctx, p.sources, p.session, "mount", p.mountpoint, func(ctx context.Context, c *serving.Control) error {
		var notifier []string
		if self, err := os.Executable(); err == nil {
			notifier = []string{self, pokeCommand}
		}
		fuseOptions := fusefs.Options{
			Author: o.author, SignAgents: o.authorFromProgram, Agents: o.agents, AllowOther: o.allowOther, Logger: c.Log,
			Refused: c.Refusals.Add, WatchNotifier: notifier,
		}
		server, err := fusefs.Mount(ctx, c.Workspace, p.mountpoint, fuseOptions)
		if err != nil {
			return err
		}
		c.NameSessions(server.SessionOf)
		doubleGOMAXPROCS()
		c.Announce(e.stderr)
		process.Ready(e.stderr, process.Mounted+p.mountpoint, c.State.Path(serving.LogName), func() (*os.File, error) { return c.State.Append(serving.LogName) })
		select {
		case <-ctx.Done():
		case <-server.Done(): // for example because another program has unmounted it
		}
		return server.Unmount()
	})
}

// freeSources unmounts the mount of each source if the mount's process was killed but has not ended. Such a process
// still holds the locks of its sources.
func (o *mountOptions) freeSources(sources []source.Source) error {
	base, err := source.StateDir(o.workspaceFlags.state)
	if err != nil {
		return err
	}
	for _, s := range sources {
		if info, err := owner.Read(s.State(base)); err == nil && info.Mountpoint != "" {
			if err := fusefs.FreeKilled(info.Mountpoint); err != nil {
				return err
			}
		}
	}
	return nil
}

// doubleGOMAXPROCS must be called after Mount, because go-fuse starts GOMAXPROCS goroutines that block in read(2).
// Without the doubling, a search of all notes spends a fifth of its time in the scheduler, which takes the processors
// (Ps) away from these goroutines.
func doubleGOMAXPROCS() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	}
}

// checkDisjoint returns an error if the mountpoint is inside a vault, or a vault inside the mountpoint, because the
// mount would then read its own files.
func checkDisjoint(sources []source.Source, mountpoint string) error {
	real := mountpoint
	if r, err := filepath.EvalSymlinks(mountpoint); err == nil {
		real = r
	}
	for _, s := range sources {
		if s.Server == nil && (owner.IsWithin(s.Dir, real) || owner.IsWithin(real, s.Dir)) {
			return cli.WithHint(
				fmt.Errorf("mountpoint %q and vault %q are inside each other", mountpoint, s.Dir),
				"choose a mountpoint outside of the vault, for example "+filepath.Join(os.TempDir(), "notes"))
		}
	}
	return nil
}

func newUnmountCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "unmount MOUNTPOINT",
		Short: "Unmount cleanly, even if the mount is dead",
		Long: `Unmount ends the mount at MOUNTPOINT and returns when its process has released the
vaults. It also removes the mount of a process that was killed.`,
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: completeMountpoints,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			served := owner.Info{PID: fusefs.ServerPID(dir), Command: "mount", Mountpoint: dir}
			if served.Stopped() {
				return &owner.StoppedError{Owner: served}
			}
			if err := runInterruptible(cmd.Context(), func() error { return fusefs.Unmount(dir) }); err != nil {
				return err
			}
			if served.PID == 0 {
				cli.Line(e.stderr, "relayfs: unmounted %s, but did not find its process: it may hold the vault for a few more seconds", dir)
				return nil
			}
			return serving.AwaitEnd(cmd.Context(), served)
		},
	}
}

const pokeCommand = "mount-poke"

func newPokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: pokeCommand, Short: "Wake programs that watch a mount", Hidden: true, Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return fusefs.RunWatchNotifier(cmd.InOrStdin()) },
	}
}

func completeMountpoints(_ *cobra.Command, _ []string, prefix string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, dir := range fusefs.Mounted() {
		if strings.HasPrefix(dir, prefix) {
			out = append(out, dir)
		}
	}
	if out == nil {
		return nil, cobra.ShellCompDirectiveFilterDirs // the path may be relative to the current folder
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
