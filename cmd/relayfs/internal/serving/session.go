// Package serving decides which process serves a vault, and serves it. A session owns vaults and answers
// other processes on a socket, each within the sources that it was given. Clients find it, and it hands its
// vaults over to a process that can do more. The lock on a vault and the socket are in bridge/owner.
//
// Locks: reaches.mu alone.
package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/account"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/metrics"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// Options say how vaults are served.
type Options struct {
	Workspace bridge.Options // without its folders
	Base      string         // the state folder of all vaults
	Presence  string         // the name that people on a server see, "" for none
	Version   string         // of this program
	NewFolder bool           // of a server: made if it has none
	Audience  string         // of the tokens that are minted for a server, "" for its address
	// SyncBefore has each save wait for the disk before the note has its new content.
	SyncBefore bool
	// History is how long it is kept what the notes were; 0 is for ever.
	History time.Duration
	// Passing has Close remove the state folders that Open made, if nothing was stored.
	Passing bool
}

// Session is a workspace that this process owns.
type Session struct {
	Workspace *bridge.Workspace
	owner     *owner.Owner
	account   *account.Account
	sources   []source.Source
	Base      string       // the state folder of all vaults
	State     owner.Folder // of the first vault
	version   string       // of this program
	closers   []func() error
	passing   bool
	kept      []backup.Folder // of each source
	Log       *slog.Logger
}

// Open locks the vaults, opens their stores and lists their notes.
func Open(ctx context.Context, sources []source.Source, o Options) (_ *Session, err error) {
	s := &Session{sources: sources, Base: o.Base, State: owner.Folder(sources[0].State(o.Base)), account: account.Of(o.Base), version: o.Version, Log: o.Workspace.Logger, passing: o.Passing}
	defer func() {
		if err != nil {
			s.passing = true
			s.Close()
		}
	}()
	claims := make([]owner.LockRequest, len(sources))
	for i, src := range sources {
		claims[i] = owner.LockRequest{Vault: src.Dir, Name: src.Place(), State: src.State(o.Base)}
		s.kept = append(s.kept, backup.Folder{Name: src.Name, Place: src.Place(), Source: src.String(), State: owner.Folder(claims[i].State)})
	}
	if s.owner, err = owner.Acquire(claims); err != nil {
		return nil, err
	}
	for _, sentence := range s.owner.Notices {
		s.Log.Warn(sentence)
	}
	if _, why := s.guarded(all); why != "" && !o.Passing {
		s.Log.Warn(why)
	}
	var folders []bridge.FolderSource
	for i, src := range sources {
		folder, err := s.openFolder(src, &s.kept[i], &o)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	o.Workspace.Folders = folders
	if s.Workspace, err = bridge.New(o.Workspace); err != nil {
		return nil, cli.Usage(err)
	}
	return s, s.Workspace.Start(ctx)
}

// guarded returns what of some Folders Relay's plugin shares, too, and what is wrong with that.
func (s *Session) guarded(names func(source.Source) bool) (folders []model.Path, why string) {
	for _, src := range s.sources {
		if names(src) {
			folders = append(folders, src.PluginShares()...)
		}
	}
	if len(folders) > 0 {
		why = source.PluginWarning(folders) + "; " + source.PluginHint
	}
	return folders, why
}

func (s *Session) openFolder(src source.Source, kept *backup.Folder, o *Options) (bridge.FolderSource, error) {
	st, err := store.Open(kept.State.Path("store"), store.Options{Logger: s.Log, History: o.History, FreeSpace: process.FreeSpace})
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers, kept.Store = append(s.closers, st.Close), st
	if src.Server != nil {
		folder, err := s.openServer(src, kept, o)
		return bridge.FolderSource{Name: src.Name, Source: folder, Store: st}, err
	}
	v, err := vault.New(src.Dir, vault.Options{Logger: s.Log, ReadOnly: o.Workspace.ReadOnly, Swap: kept.State.Path("swap"), SyncBefore: o.SyncBefore})
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, v.Close)
	return bridge.FolderSource{Name: src.Name, Vault: filepath.Base(src.Dir), Source: v, Store: st}, nil
}

func all(source.Source) bool { return true }

// LogName is the name of a daemon's log, in the state folder of its first vault.
const LogName = "relayfs.log"

// Client is of a handler that answers about all Folders, in this process. Call end at the end.
func (s *Session) Client(o mcpserver.Options) (c *api.Client, end func()) {
	srv := mcpserver.New(s.Workspace, o)
	c, stop := api.InProcess(api.NewHandler(api.Served{Workspace: s.Workspace, MCP: srv, Kept: s.kept, Guarded: func() ([]model.Path, string) { return s.guarded(all) }}))
	return c, func() {
		stop()
		srv.Close()
	}
}

// keptOf are the stores of the Folders named.
func (s *Session) keptOf(folders []string) []backup.Folder {
	return slices.DeleteFunc(slices.Clone(s.kept), func(f backup.Folder) bool { return !slices.Contains(folders, f.Name) })
}

// Close releases the vaults. What was acknowledged is on disk then.
func (s *Session) Close() error {
	var errs []error
	leave := s.passing && !slices.ContainsFunc(s.kept, func(f backup.Folder) bool { return f.Store != nil && f.Store.Used() })
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	s.closers = nil
	switch {
	case s.owner == nil:
	case leave:
		s.owner.Forget()
	default:
		s.owner.Release()
	}
	return errors.Join(errs...)
}

func (s *Session) openServer(src source.Source, kept *backup.Folder, o *Options) (*remote.Source, error) {
	r := remote.Options{Address: src.Server.Address, Folder: src.Server.Folder, Logger: s.Log, Attachments: kept.State.Sub("attachments"), Author: o.Presence,
		Store: kept.Store, Progress: progressLine(src.Name)}
	r.Address.Audience, r.NewFolder = o.Audience, o.NewFolder
	var err error
	if r.Address.Kind == transport.Relay {
		r.Tokens, err = s.account.Tokens(r.Address, r.Folder)
	} else {
		r.Key, err = source.ServerKey()
	}
	if err != nil {
		return nil, err
	}
	folder, err := remote.Open(r)
	if err == nil {
		s.closers = append(s.closers, folder.Close)
	}
	return folder, err
}

func progressLine(name string) func(remote.Progress) {
	var mu sync.Mutex // protects the following
	var start, shown time.Time
	first, done := 0, false
	return func(p remote.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if start.IsZero() {
			start, first, done = now, p.Fetched, p.Fetched == p.Notes
		}
		finished := p.Fetched == p.Notes
		if done || !finished && now.Sub(shown) < time.Second/4 {
			return
		}
		shown, done = now, finished
		cli.Stderr.Show(progressText(name, p, p.Fetched-first, now.Sub(start)), finished)
	}
}

// progressText says how many notes are present and, from those fetched in a time, when the rest will be.
func progressText(name string, p remote.Progress, fetched int, in time.Duration) string {
	line := fmt.Sprintf("%s: %d of %d notes", name, p.Fetched, p.Notes)
	if fetched <= 0 || in <= 0 {
		return line
	}
	rate := float64(fetched) / in.Seconds()
	line += fmt.Sprintf(", %.0f a second", rate)
	if left := p.Notes - p.Fetched; left > 0 {
		line += fmt.Sprintf(", %s left", time.Duration(math.Ceil(float64(left)/rate))*time.Second)
	}
	return line
}

// Serve follows the vaults and answers on the owner's socket while work runs. At its end, or when ctx
// ends, requests under way get their answers before the workspace ends.
func (c *Control) Serve(ctx context.Context, command string, work func(context.Context) error) error {
	l, socket, err := owner.Listen()
	if err != nil {
		return err
	}
	wctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A vault that cannot be followed, or a port that fails, ends work.
	workspace := newCrew(ctx, cancel)
	workspace.start(c.Workspace.Run)
	c.announced = c.info(command, socket)
	front := newCrew(ctx, cancel)
	front.start(func(ctx context.Context) error { return c.serve(ctx, l) })
	if c.Semantic != nil {
		front.start(c.Semantic.Run)
	}
	if c.HTTP != nil {
		front.start(func(ctx context.Context) error { return c.HTTP.Serve(ctx, c.MCP, c.Workspace.Ready, c.Log) })
	}
	if c.Metrics != nil {
		front.start(func(ctx context.Context) error { return c.Metrics.Serve(ctx, c.measured()) })
	}
	c.announce(front)
	return errors.Join(work(wctx), front.stop(), workspace.stop())
}

// measured is what the metrics are about.
func (c *Control) measured() metrics.Sources {
	m := metrics.Sources{Workspace: c.Workspace, States: make(map[string]owner.Folder), Ports: make(map[string]func() int), Refusals: c.Refusals.Count, Inflight: ports.Budget.Taken, Log: c.Log}
	m.Sessions = map[string]func() int{"stream": func() int { return int(c.clients.Load()) }, "http": c.MCP.Sessions}
	for _, f := range c.kept {
		m.States[f.Name] = f.State
	}
	if c.HTTP != nil {
		m.Ports["http"] = c.HTTP.Connections
	}
	return m
}

// announceAgain is how often an announcement is tried that could not be made.
const announceAgain = time.Second

// announce lets other processes find this one. That it cannot, as on a full disk, is no reason
// not to serve: it goes on trying.
func (c *Control) announce(front *crew) {
	problems := model.NewProblems(c.Log, func(err error) string {
		return fmt.Sprintf("other relayfs commands do not find this process: %v; free space on that disk, or mend what it says; it is tried again by itself", err)
	})
	err := c.owner.Announce(c.announced)
	problems.Record("announcement", err)
	if err == nil {
		return
	}
	front.start(func(ctx context.Context) error {
		for problems.Err("announcement") != nil {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(announceAgain):
			}
			problems.Record("announcement", c.owner.AnnounceAgain())
		}
		return nil
	})
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

func (c *Control) info(command, socket string) owner.Info {
	info := owner.Info{
		PID: os.Getpid(), Command: command, Mountpoint: c.Workspace.Mountpoint(), Socket: socket,
		Started: time.Now().UTC().Truncate(time.Second), Version: c.version,
	}
	if h := c.HTTP; h != nil {
		info.HTTP = &owner.HTTP{URL: h.URL(), TokenFile: h.TokenFile}
	}
	if process.InBackground() {
		info.Log = c.State.Path(LogName)
	}
	for _, src := range c.sources {
		info.Sources = append(info.Sources, src.String())
	}
	return info
}
