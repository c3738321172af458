package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/fusefs"
	"github.com/relayfs/relayfs/mcpserver"
)

// workspaceFlags are the flags and settings for opening a workspace. Some commands register only a part of them.
type workspaceFlags struct {
	mode, view, author, dialect string
	frontMatter, structure      string
	sync, state, history        string
	audience                    string
	agents, hide, lock          []string
	readOnly, presence          bool
	newFolder                   bool
	near                        string // path that selects the owner or the vault if none is named; "" means the current folder
	log                         logFlags
}

func (f *workspaceFlags) register(e *env, cmd *cobra.Command) {
	fl, set := cmd.Flags(), e.settings(cmd)
	fl.StringVar(&f.mode, "mode", "suggest", "suggest changes, or direct")
	fl.StringVar(&f.view, "view", "accepted", "accepted, original or raw")
	fl.StringVar(&f.author, "author", defaultAuthor(), "author of the suggestions")
	set.StringVar(&f.dialect, "dialect", "plain", "syntax of suggestions: plain, commentator or relay-comments")
	set.StringVar(&f.frontMatter, "frontmatter", "direct", "changes of front matter: direct or refuse")
	fl.StringVar(&f.structure, "structure", "propose", "renames: propose, direct or deny")
	set.StringVar(&f.sync, "sync", "auto", "when to fsync a saved note: before (before it replaces the old file) or auto (after, where the file system orders renames)")
	fl.StringVar(&f.history, "history", "90d", "history to keep, 0 for all")
	fl.BoolVar(&f.newFolder, "new-folder", false, "create the server's folder if it is missing")
	fl.BoolVar(&f.readOnly, "read-only", false, "refuse every write")
	set.BoolVar(&f.presence, "presence", false, "show other users of a server which note an agent edits, as \"AUTHOR (agent)\"")
	f.registerState(e, cmd)
	f.log.register(fl, set)
	registerValues(cmd, map[string][]string{
		"mode": {"suggest", "direct"}, "view": {"accepted", "original", "raw"}, "structure": {"propose", "direct", "deny"},
		"log-level": {"debug", "info", "warn", "error"},
	})
}

// registerClient adds the settings of commands that use a running owner or, without an owner, open the workspace
// themselves.
func (f *workspaceFlags) registerClient(e *env, cmd *cobra.Command) {
	f.registerState(e, cmd)
	f.log.register(e.settings(cmd), e.settings(cmd))
}

func (f *workspaceFlags) registerState(e *env, cmd *cobra.Command) {
	registerState(e, cmd, &f.state)
	e.settings(cmd).StringArrayVar(&f.hide, "hide", nil, "globs of paths hidden from agents, such as Private or **/Diary")
	e.settings(cmd).StringArrayVar(&f.lock, "lock", nil, "globs of paths that agents can read but not change")
	e.settings(cmd).StringSliceVar(&f.agents, "agents", fusefs.DefaultAgents, "names of programs that count as agents, or none")
	e.settings(cmd).StringVar(&f.audience, "server-audience", "", "audience of tokens made with $RELAYFS_SERVER_KEY: the url in the server's configuration (default: its address)")
}

func registerState(e *env, cmd *cobra.Command, state *string) {
	e.settings(cmd).StringVar(state, "state", "", "the state folder (default in $XDG_STATE_HOME)")
}

// vaultArgs returns the arguments that select the same vault in another command line: the sources and --config.
func vaultArgs(cmd *cobra.Command, sources []string) []string {
	if flag := cmd.Flag("config"); flag.Changed {
		return append(slices.Clone(sources), "--config", flag.Value.String())
	}
	return sources
}

const authorEnv = "RELAYFS_AUTHOR"

func defaultAuthor() string {
	if name := os.Getenv(authorEnv); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "agent"
}

func (f *workspaceFlags) search() serving.Search {
	return serving.Search{State: f.state, Agent: f.inAgent(), Near: f.near}
}

// session returns the options of a session. Its error joins the errors of all flags.
func (f *workspaceFlags) session(log *slog.Logger) (o serving.Options, err error) {
	o.Workspace.ReadOnly, o.Workspace.Logger, o.Workspace.Hide, o.Workspace.Lock = f.readOnly, log, f.hide, f.lock
	var errs [8]error
	o.Workspace.Mode, errs[0] = bridge.ParseMode(f.mode)
	o.Workspace.View, errs[1] = diffwrap.ParseView(f.view)
	o.Workspace.Dialect, errs[2] = diffwrap.ParseDialect(f.dialect)
	o.Workspace.FrontMatter, errs[3] = diffwrap.ParseFrontMatterPolicy(f.frontMatter)
	o.Workspace.Structure, errs[4] = bridge.ParseStructurePolicy(f.structure)
	o.History, errs[5] = parseRetention(f.history)
	errs[6] = bridge.CheckRules(f.hide, f.lock)
	if o.SyncBefore = f.sync == "before"; !o.SyncBefore && f.sync != "auto" {
		errs[7] = fmt.Errorf("sync %q is not one of auto, before", f.sync)
	}
	for i, err := range errs {
		if err != nil {
			errs[i] = cli.Usage(err)
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return o, err
	}
	o.About, o.Audience, o.NewFolder = owner.Info{Version: version()}, f.audience, f.newFolder
	if f.presence {
		o.Presence = f.author
	}
	o.Base, err = source.StateDir(f.state)
	return o, err
}

// checkGlobs returns an error if a glob of hide or lock is a path on this machine: globs match paths in the vault.
func (f *workspaceFlags) checkGlobs(sources []source.Source) error {
	for _, glob := range slices.Concat(f.hide, f.lock) {
		for _, s := range sources {
			if path := source.ExpandHome(glob); filepath.IsAbs(path) && s.ShowsPath(path) {
				return cli.WithHint(cli.Usagef("%q in hide or lock is a path on this machine, which matches no note", glob),
					"write the path in the vault, such as Private or **/Diary")
			}
		}
	}
	return nil
}

// ask calls do with a client of the running owner. If there is no owner, it opens a workspace and calls do with a
// client of that workspace.
func (f *workspaceFlags) ask(ctx context.Context, e *env, sources []string, do func(*api.Client) error) error {
	c, err := f.search().Find(ctx, sources)
	if err != nil {
		return err
	}
	if c != nil {
		return do(api.NewClient(c))
	}
	err = f.withSession(ctx, e, sources, func(s *serving.Session) error {
		c, end := s.Client(mcpDefaults(s), f.inAgent())
		defer end()
		return do(c)
	})
	if serving.OwnerInError(err) != nil { // it has started in the meantime
		if c, findErr := f.search().Find(ctx, sources); c != nil && findErr == nil {
			return do(api.NewClient(c))
		}
	}
	return err
}

func mcpDefaults(s *serving.Session) mcpserver.Options {
	return mcpserver.Options{Author: defaultAuthor(), Version: version(), Logger: s.Log}
}

// withSession opens the workspace of the sources itself and calls do. Most options have their defaults. There must be
// no owner.
func (f *workspaceFlags) withSession(ctx context.Context, e *env, args []string, do func(*serving.Session) error) error {
	if args = e.config.SourcesOr(args); len(args) == 0 {
		args = source.VaultAround(f.near)
	}
	if len(args) == 0 {
		return cli.WithHint(fmt.Errorf("no relayfs is running, and no vault is named"), "name the vault after the command or, for cat, ls, grep and edit, with --source; 'relayfs init' writes it to the configuration")
	}
	log, err := f.log.logger(e.stderr)
	if err != nil {
		return err
	}
	sources, err := source.Parse(args, f.state)
	if err != nil {
		return err
	}
	if err := f.checkGlobs(sources); err != nil {
		return err
	}
	base, err := source.StateDir(f.state)
	if err != nil {
		return err
	}
	o := serving.Options{Base: base, About: owner.Info{Version: version()}, Audience: f.audience, DropEmptyState: true}
	o.Workspace.Logger, o.Workspace.Hide, o.Workspace.Lock = log, f.hide, f.lock
	s, err := serving.Open(ctx, sources, o)
	if err != nil {
		return err
	}
	return cmp.Or(do(s), s.Close())
}
