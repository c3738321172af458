package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/diffwrap"
)

// workspaceFlags are what mount and mcp share.
type workspaceFlags struct {
	mode, view, author, dialect string
	frontMatter, structure      string
	state                       string
	folders                     []string // of a server
	readOnly, presence          bool
	log                         logFlags
}

func (f *workspaceFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", "suggest", "what a write becomes: suggest or direct")
	fl.StringVar(&f.view, "view", "accepted", "what readers see: accepted, original or raw")
	fl.StringVar(&f.author, "author", defaultAuthor(), "the name that suggestions carry")
	fl.StringVar(&f.dialect, "dialect", "plain", "how suggestions are written: plain, commentator or relay-comments")
	fl.StringVar(&f.frontMatter, "frontmatter", "direct", "changes of front matter: direct or refuse")
	fl.StringVar(&f.structure, "structure", "propose", "renames and deletions: propose (shown here, done when a person accepts), direct or deny")
	fl.BoolVar(&f.readOnly, "read-only", false, "refuse every write")
	fl.BoolVar(&f.presence, "presence", false, "show people on a server who edits which note, as \"AUTHOR (agent)\"")
	f.registerState(cmd)
	f.log.register(cmd)
	for flag, values := range map[string][]string{
		"mode": {"suggest", "direct"}, "view": {"accepted", "original", "raw"}, "frontmatter": {"direct", "refuse"},
		"dialect": {"plain", "commentator", "relay-comments"}, "structure": {"propose", "direct", "deny"},
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

func (f *workspaceFlags) registerState(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.folders, "folder", nil, "a folder of a server as NAME=ID, once for each")
	cmd.Flags().StringVar(&f.state, "state", "", "folder for what is not kept in the vault (default $XDG_STATE_HOME/relayfs)")
}

func defaultAuthor() string {
	if name := os.Getenv("RELAYFS_AUTHOR"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "agent"
}

// options turns the flags into the workspace's, checked.
func (f *workspaceFlags) options(log *slog.Logger) (bridge.Options, error) {
	o := bridge.Options{ReadOnly: f.readOnly, Logger: log}
	var errs [5]error
	o.Mode, errs[0] = bridge.ParseMode(f.mode)
	o.View, errs[1] = diffwrap.ParseView(f.view)
	o.Dialect, errs[2] = diffwrap.ParseDialect(f.dialect)
	o.FrontMatter, errs[3] = diffwrap.ParseFrontMatterPolicy(f.frontMatter)
	o.Structure, errs[4] = bridge.ParseStructurePolicy(f.structure)
	if err := errors.Join(errs[:]...); err != nil {
		return o, clierr.Usage(err)
	}
	return o, nil
}

// session is a workspace that this process owns.
type session struct {
	ws      *bridge.Workspace
	owner   *owner.Owner
	sources []source.Source
	state   string // of the first vault
	closers []func() error
	log     *slog.Logger
}

// openSession locks the vaults, opens their stores and lists their notes.
func openSession(ctx context.Context, sources []source.Source, f *workspaceFlags, log *slog.Logger) (_ *session, err error) {
	o, err := f.options(log)
	if err != nil {
		return nil, err
	}
	base, err := source.StateDir(f.state)
	if err != nil {
		return nil, err
	}
	s := &session{sources: sources, state: sources[0].State(base), log: log}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	claims := make([]owner.Claim, len(sources))
	for i, src := range sources {
		claims[i] = owner.Claim{Vault: src.Dir, Name: src.Place(), State: src.State(base)}
	}
	if s.owner, err = owner.Acquire(claims); err != nil {
		return nil, err
	}
	for _, sentence := range s.owner.Told() {
		log.Warn(sentence)
	}
	for i, src := range sources {
		folder, err := s.openFolder(src, claims[i].State, f)
		if err != nil {
			return nil, err
		}
		o.Folders = append(o.Folders, folder)
	}
	if s.ws, err = bridge.New(o); err != nil {
		return nil, clierr.Usage(err)
	}
	return s, s.ws.Start(ctx)
}

func (s *session) openFolder(src source.Source, state string, f *workspaceFlags) (bridge.FolderSource, error) {
	if src.Server != nil {
		return s.openServer(src, state, f)
	}
	st, err := store.Open(filepath.Join(state, "store.db"), store.Options{Logger: s.log})
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, st.Close)
	v, err := vault.New(src.Dir, vault.Options{Logger: s.log, ReadOnly: f.readOnly, Spares: filepath.Join(state, "spare")})
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, v.Close)
	return bridge.FolderSource{Name: src.Name, Source: v, Store: st}, nil
}

// logFile is where a daemon logs: beside the state of its first vault.
func (s *session) logFile() string { return filepath.Join(s.state, "relayfs.log") }

// close releases everything; what was acknowledged is on disk by then.
func (s *session) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	if s.owner != nil {
		s.owner.Release()
	}
	return errors.Join(errs...)
}

// serve follows the vaults and answers on the owner's socket while work runs.
// When work is done or ctx ends, those who ask from outside get their last answers
// before the workspace ends.
func (s *session) serve(ctx context.Context, c *control, command string, work func(context.Context) error) error {
	l, socket, err := owner.Listen()
	if err != nil {
		return err
	}
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A vault that cannot be followed, or a port that fails, ends the work.
	workspace := newCrew(ctx, cancel)
	workspace.start(s.ws.Run)
	front := newCrew(ctx, cancel)
	front.start(func(ctx context.Context) error { return c.serve(ctx, l) })
	if c.semantic != nil {
		front.start(c.semantic.Run)
	}
	if c.http != nil {
		front.start(func(ctx context.Context) error { return c.http.Serve(ctx, c.mcp, s.log) })
	}
	if c.yjs != nil {
		workspace.start(c.yjs.Host.Run)
		front.start(c.yjs.Serve)
	}
	err = s.owner.Announce(s.info(command, socket, c))
	if err == nil {
		err = work(wctx)
	}
	return errors.Join(err, front.stop(), workspace.stop())
}

// crew are goroutines that end together, and not with the context they began in.
type crew struct {
	ctx    context.Context
	cancel context.CancelFunc
	failed func() // called when one ends with an error
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

// stop ends them and returns the first error.
func (c *crew) stop() error {
	c.cancel()
	return c.group.Wait()
}

func (s *session) info(command, socket string, c *control) owner.Info {
	info := owner.Info{
		PID: os.Getpid(), Command: command, Mountpoint: s.ws.Mountpoint(), Socket: socket,
		Started: time.Now().UTC().Truncate(time.Second), Version: version(),
	}
	if h := c.http; h != nil {
		info.HTTP = &owner.HTTP{URL: h.URL(), TokenFile: h.TokenFile}
	}
	if c.yjs != nil {
		info.Yjs = &c.yjs.Info
	}
	for _, src := range s.sources {
		info.Sources = append(info.Sources, src.String())
	}
	return info
}
