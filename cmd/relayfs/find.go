package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/owner"
)

// newClient is a client of an owner that reaches the sources and nothing else, or
// everything if none are named.
func newClient(info owner.Info, sources []source) *owner.Client {
	places := make([]string, len(sources))
	for i, s := range sources {
		places[i] = s.place()
	}
	return owner.NewClient(info, places...)
}

// findOwner finds who serves the sources that args name, or, if they name none, the
// only owner that runs. It is nil if nobody serves them.
func findOwner(ctx context.Context, f *workspaceFlags, args []string) (*owner.Client, error) {
	base, err := stateDir(f.state)
	if err != nil {
		return nil, err
	}
	sources, err := parseSources(args, f.folders)
	if err != nil {
		return nil, err
	}
	find := func() (*owner.Info, error) { return ownerOf(base, sources) }
	if len(sources) == 0 {
		find = func() (*owner.Info, error) { return onlyOwner(base) }
	}
	info, err := find()
	if info == nil || err != nil {
		return nil, err
	}
	c := newClient(*info, sources)
	return c, c.Alive(ctx)
}

// ownerOf is the one owner of all sources; nil if nobody serves any of them.
func ownerOf(base string, sources []source) (*owner.Info, error) {
	var first *owner.Info
	for i, src := range sources {
		info, err := owner.Read(src.state(base))
		if err != nil || !owner.Answers(*info) {
			info = nil
		}
		if i == 0 {
			first = info
		}
		if (info == nil) != (first == nil) || info != nil && info.Socket != first.Socket {
			return nil, &hintError{
				fmt.Errorf("%s is %s, and %s is %s", sources[0].place(), servedBy(first), src.place(), servedBy(info)),
				hintSources,
			}
		}
	}
	return first, nil
}

// hintSources is what to do where no one process serves what a command names.
const hintSources = "name what one process serves, or start one that serves all of them"

func servedBy(info *owner.Info) string {
	if info == nil {
		return "served by nobody"
	}
	return "served by " + info.String()
}

// onlyOwner is the owner that runs; nil if none does.
func onlyOwner(base string) (*owner.Info, error) {
	live, err := owner.Live(vaultsDir(base))
	switch {
	case err != nil:
		return nil, err
	case len(live) == 1:
		return &live[0], nil
	case len(live) > 1:
		names := make([]string, len(live))
		for i, l := range live {
			names[i] = l.String()
		}
		return nil, usagef("several relayfs processes run (%s): name the vault", strings.Join(names, ", "))
	}
	return nil, nil
}
