package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/fusefs/program"
	"github.com/relayfs/relayfs/mcpserver"
)

// workspaceFlags are the flags for opening a workspace. Some commands have only a part of them.
type workspaceFlags struct {
	mode, view, author, dialect string
	frontMatter, structure      string
	sync, state, history        string
	audience                    string        // of tokens for a server
	retention                   time.Duration // what history says, for a workspace that is opened for one call
	agents                      []string      // the programs that are agents
	readOnly, presence          bool
	newFolder                   bool
	log                         logFlags
}

func (f *workspaceFlags) register(e *env, cmd *cobra.Command) {
	fl, set := cmd.Flags(), e.settings(cmd)
	fl.StringVar(&f.mode, "mode", "suggest", "suggest changes, or direct")
	fl.StringVar(&f.view, "view", "accepted", "accepted, original or raw")
	fl.StringVar(&f.author, "author", defaultAuthor(), "the name that suggestions carry")
	set.StringVar(&f.dialect, "dialect", "plain", "how suggestions are written: plain, commentator or relay-comments")
	set.StringVar(&f.frontMatter, "frontmatter", "direct", "changes of front matter: direct or refuse")
	fl.StringVar(&f.structure, "structure", "propose", "renames: propose, direct or deny")
	set.StringVar(&f.sync, "sync", "auto", "when a note's new content is synced: before the note has it, or auto (right after, if the disk keeps names in order)")
	fl.StringVar(&f.history, "history", "90d", "how long to keep history, 0 for ever")
	fl.BoolVar(&f.newFolder, "new-folder", false, "make the folder if the server has none of its id")
	fl.BoolVar(&f.readOnly, "read-only", false, "refuse every write")
	set.BoolVar(&f.presence, "presence", false, "show people on a server who edits which note, as \"AUTHOR (agent)\"")
	f.registerState(e, cmd)
	f.log.register(fl, set)
	registerValues(cmd, map[string][]string{
		"mode": {"suggest", "direct"}, "view": {"accepted", "original", "raw"}, "structure": {"propose", "direct", "deny"},
	})
}

// registerClient adds the settings of commands that ask a running owner, or open the workspace themselves.
func (f *workspaceFlags) registerClient(e *env, cmd *cobra.Command) {
	f.registerState(e, cmd)
	f.log.register(e.settings(cmd), e.settings(cmd))
}

func (f *workspaceFlags) registerState(e *env, cmd *cobra.Command) {
	registerState(e, cmd, &f.state)
	e.settings(cmd).StringSliceVar(&f.agents, "agents", program.Agents, "the programs that are agents, by the names of their processes; none for no program")
	e.settings(cmd).StringVar(&f.audience, "server-audience", "", "what tokens of $RELAYFS_SERVER_KEY name as their audience: the url in the server's configuration (default: the address)")
}

func registerState(e *env, cmd *cobra.Command, state *string) {
	e.settings(cmd).StringVar(state, "state", "", "the state folder (default in $XDG_STATE_HOME)")
}

// vaultArgs returns what the command line has to name a vault: its sources, and the configuration.
func vaultArgs(cmd *cobra.Command, sources []string) []string {
	if flag := cmd.Flag("config"); flag.Changed {
		return append(slices.Clone(sources), "--config", flag.Value.String())
	}
	return sources
}

// authorEnv names the author of what is written.
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
	return serving.Search{State: f.state}
}

// session checks the flags and returns them as the options of a session. Its error joins what is wrong with each.
func (f *workspaceFlags) session(log *slog.Logger) (o serving.Options, err error) {
	o.Workspace.ReadOnly, o.Workspace.Logger = f.readOnly, log
	var errs [7]error
	o.Workspace.Mode, errs[0] = bridge.ParseMode(f.mode)
	o.Workspace.View, errs[1] = diffwrap.ParseView(f.view)
	o.Workspace.Dialect, errs[2] = diffwrap.ParseDialect(f.dialect)
	o.Workspace.FrontMatter, errs[3] = diffwrap.ParseFrontMatterPolicy(f.frontMatter)
	o.Workspace.Structure, errs[4] = bridge.ParseStructurePolicy(f.structure)
	o.History, errs[5] = parseRetention(f.history)
	if o.SyncBefore = f.sync == "before"; !o.SyncBefore && f.sync != "auto" {
		errs[6] = fmt.Errorf("sync %q is none of %q", f.sync, []string{"auto", "before"})
	}
	for i, err := range errs {
		if err != nil {
			errs[i] = cli.Usage(err)
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return o, err
	}
	o.Version, o.Audience, o.NewFolder = version(), f.audience, f.newFolder
	if f.presence {
		o.Presence = f.author
	}
	o.Base, err = source.StateDir(f.state)
	return o, err
}

// ask calls do with a client of the running owner, or of a workspace that it opens.
func (f *workspaceFlags) ask(ctx context.Context, e *env, sources []string, do func(*api.Client) error) error {
	c, err := f.search().Find(ctx, sources)
	if err != nil {
		return err
	}
	if c != nil {
		return do(api.NewClient(c))
	}
	return f.withSession(ctx, e, sources, func(s *serving.Session) error {
		c, end := s.Client(mcpDefaults(s))
		defer end()
		return do(c)
	})
}

// mcpDefaults are for a workspace that is opened for one command.
func mcpDefaults(s *serving.Session) mcpserver.Options {
	return mcpserver.Options{Author: defaultAuthor(), Version: version(), Logger: s.Log}
}

// withSession calls do with the workspace of the sources, which no process owns. Its options are the defaults of the
// flags, which are zero.
func (f *workspaceFlags) withSession(ctx context.Context, e *env, args []string, do func(*serving.Session) error) error {
	if args = e.config.SourcesOr(args); len(args) == 0 {
		args = source.CurrentVault()
	}
	if len(args) == 0 {
		return cli.WithHint(fmt.Errorf("no relayfs is running, and no vault is named"), "name it: behind the command, or for cat, ls, grep and edit with --source; 'relayfs init' does so for good")
	}
	log, err := f.log.logger(e.stderr)
	if err != nil {
		return err
	}
	sources, err := source.Parse(args, f.state)
	if err != nil {
		return err
	}
	base, err := source.StateDir(f.state)
	if err != nil {
		return err
	}
	o := serving.Options{Base: base, Version: version(), Audience: f.audience, History: f.retention, DropEmptyState: true}
	o.Workspace.Logger = log
	s, err := serving.Open(ctx, sources, o)
	if err != nil {
		return err
	}
	return cmp.Or(do(s), s.Close())
}
