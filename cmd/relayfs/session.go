// Package ownership decides who serves a vault, and serves it: a session owns vaults and
// answers other processes on a socket, each within the sources that it was given; it is
// found by those who want to use it, and hands its vaults over to one that can do more.
// The lock on a vault and the socket itself are bridge/owner's.
//
// Locks: reaches.mu alone.
package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// sessionOptions say how vaults are served.
type sessionOptions struct {
	workspace bridge.Options // without its folders
	base      string         // the state folder of all vaults
	presence  string         // the name that people on a server see, "" for none
	version   string         // of this program
}

// session is a workspace that this process owns.
type session struct {
	ws      *bridge.Workspace
	owner   *owner.Owner
	sources []source.Source
	state   string // of the first vault
	version string // of this program
	closers []func() error
	log     *slog.Logger
}

// openSession locks the vaults, opens their stores and lists their notes.
func openSession(ctx context.Context, sources []source.Source, o sessionOptions) (_ *session, err error) {
	s := &session{sources: sources, state: sources[0].State(o.base), version: o.version, log: o.workspace.Logger}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	claims := make([]owner.Claim, len(sources))
	for i, src := range sources {
		claims[i] = owner.Claim{Vault: src.Dir, Name: src.Place(), State: src.State(o.base)}
	}
	if s.owner, err = owner.Acquire(claims); err != nil {
		return nil, err
	}
	for _, sentence := range s.owner.Told() {
		s.log.Warn(sentence)
	}
	var folders []bridge.FolderSource
	for i, src := range sources {
		folder, err := s.openFolder(src, claims[i].State, &o)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	o.workspace.Folders = folders
	if s.ws, err = bridge.New(o.workspace); err != nil {
		return nil, clierr.Usage(err)
	}
	return s, s.ws.Start(ctx)
}

func (s *session) openFolder(src source.Source, state string, o *sessionOptions) (bridge.FolderSource, error) {
	if src.Server != nil {
		return s.openServer(src, state, o)
	}
	st, err := store.Open(filepath.Join(state, "store.db"), store.Options{Logger: s.log})
	if err != nil {
		return bridge.FolderSource{}, err
	}
	s.closers = append(s.closers, st.Close)
	v, err := vault.New(src.Dir, vault.Options{Logger: s.log, ReadOnly: o.workspace.ReadOnly, Spares: filepath.Join(state, "spare")})
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
