package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// NewClient returns a client of an owner that can reach only the given sources. If no sources are given, the client can
// reach all sources.
func NewClient(info owner.Info, sources []source.Source) *owner.Client {
	places := make([]string, len(sources))
	for i, s := range sources {
		places[i] = s.Place()
	}
	return owner.NewClient(info, places...)
}

type Search struct {
	State string // the setting state; "" means the default
	Agent bool   // whether an agent has started this process
	Near  string // path that an owner among several must serve; "" means the current folder
}

// Find returns a client of the owner of the sources in args. If args is empty, Find uses the only running owner or, if
// there are several, the only one that serves Near. The client is nil if there is no owner.
func (s Search) Find(ctx context.Context, args []string) (*owner.Client, error) {
	c, _, _, err := s.search(args)
	if c == nil || err != nil {
		return nil, err
	}
	c.Waits = func(d time.Duration) { cli.Stderr.Show(waitMessage(c.Info(), d), false) }
	return running(ctx, c)
}

// running returns c, or nil if the owner of c has ended. Only a response proves that the owner runs, because a child
// process that was just started can hold the socket of a killed owner for a short time.
func running(ctx context.Context, c *owner.Client) (*owner.Client, error) {
	err := c.Alive(ctx)
	if _, ended := errors.AsType[*owner.EndedError](err); ended {
		return nil, nil
	}
	return c, err
}

// Follow does the same as Find for a client that continues with the next owner when the current owner ends. state is
// the state folder of the first source.
func (s Search) Follow(ctx context.Context, args []string) (_ *owner.Client, state owner.Folder, _ error) {
	c, base, sources, err := s.search(args)
	if c == nil || err != nil {
		return nil, "", err
	}
	if len(args) == 0 {
		if sources, err = source.Parse(c.Info().Sources, s.State); err != nil {
			return nil, "", err
		}
	}
	c.Next = func() (*owner.Info, error) {
		if len(args) > 0 {
			return ownerOf(base, sources)
		}
		for _, src := range sources { // the sources may have different owners now
			if info, err := ownerOf(base, []source.Source{src}); info != nil || err != nil {
				return info, err
			}
		}
		return nil, nil
	}
	c, err = running(ctx, c)
	return c, owner.Folder(sources[0].State(base)), err
}

// search does the same as Find, but does not check that the owner responds. It also returns the state folder and the
// sources in args.
func (s Search) search(args []string) (c *owner.Client, base string, sources []source.Source, err error) {
	if base, err = source.StateDir(s.State); err != nil {
		return nil, "", nil, err
	}
	if sources, err = source.Parse(args, s.State); err != nil {
		return nil, "", nil, err
	}
	var info *owner.Info
	if len(sources) > 0 {
		info, err = ownerOf(base, sources)
	} else {
		info, err = s.onlyOwner(base)
	}
	if info == nil || err != nil {
		return nil, "", nil, err
	}
	c = NewClient(*info, sources)
	c.Agent = s.Agent
	return c, base, sources, nil
}

func waitMessage(info owner.Info, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("waiting for %v, %s so far (Ctrl-C to stop waiting)", info, d.Round(time.Second))
}

func ownerOf(base string, sources []source.Source) (*owner.Info, error) {
	var first *owner.Info
	for i, src := range sources {
		info, err := owner.Read(src.State(base))
		if err != nil || !owner.IsReachable(*info) {
			info = nil
		}
		if i == 0 {
			first = info
		}
		if (info == nil) != (first == nil) || info != nil && info.Socket != first.Socket {
			return nil, cli.WithHint(
				fmt.Errorf("%s is %s, and %s is %s", sources[0].Place(), servedBy(first), src.Place(), servedBy(info)),
				hintSources)
		}
	}
	return first, nil
}

const hintSources = "name sources that one process serves, or start a process that serves all of them"

func servedBy(info *owner.Info) string {
	if info == nil {
		return "not served"
	}
	return "served by " + info.String()
}

func (s Search) onlyOwner(base string) (*owner.Info, error) {
	live, err := owner.Running(source.VaultsDir(base))
	if err != nil {
		return nil, err
	}
	if len(live) > 1 {
		spellings := spellingsOf(s.Near)
		if near := slices.DeleteFunc(slices.Clone(live), func(info owner.Info) bool { return !serves(info, spellings) }); len(near) > 0 {
			live = near
		}
	}
	switch {
	case len(live) == 1:
		return &live[0], nil
	case len(live) > 1:
		names := make([]string, len(live))
		for i, l := range live {
			names[i] = l.String()
		}
		return nil, cli.Usagef("several relayfs processes are running (%s): name the vault", strings.Join(names, ", "))
	}
	return nil, nil
}

// Owners returns the running owners. Owners that serve the current folder come first. If State is not set, it returns
// all owners of this user.
func (s Search) Owners(ctx context.Context) ([]owner.Info, error) {
	base, err := source.StateDir(s.State)
	if err != nil {
		return nil, err
	}
	owners, err := owner.Running(source.VaultsDir(base))
	if err != nil {
		return nil, err
	}
	if s.State == "" {
		for _, info := range owner.All(ctx) {
			if !slices.ContainsFunc(owners, func(known owner.Info) bool { return known.Socket == info.Socket }) {
				owners = append(owners, info)
			}
		}
	}
	here := spellingsOf("")
	slices.SortStableFunc(owners, func(a, b owner.Info) int {
		switch ofHere := serves(a, here); {
		case ofHere == serves(b, here):
			return 0
		case ofHere:
			return -1
		}
		return 1
	})
	return owners, nil
}

func serves(info owner.Info, spellings []string) bool {
	_, ok := pathIn(info, spellings)
	return ok
}

// spellingsOf returns the absolute paths of a file or folder: the given one, and the one without symbolic links in its
// folder.
func spellingsOf(path string) []string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return []string{abs}
	}
	return []string{abs, filepath.Join(dir, filepath.Base(abs))}
}

// pathIn maps the path of a file or folder, given by its spellings, to a path in an owner's workspace. ok is false if the
// file is neither on the owner's mount nor in one of its vaults.
func pathIn(info owner.Info, spellings []string) (p model.Path, ok bool) {
	for _, at := range spellings {
		if info.Mountpoint != "" && owner.IsWithin(info.Mountpoint, at) {
			return within(info.Mountpoint, at), true
		}
		for _, src := range info.Sources {
			if name, dir := source.Split(src); dir != "" && owner.IsWithin(dir, at) {
				return model.Path(path.Join(name, string(within(dir, at)))), true
			}
		}
	}
	return "", false
}

// PathIn returns the path in an owner's workspace that a user means by path: that of an existing file or folder on the
// owner's mount or in one of its vaults, and path itself for all others.
func PathIn(info owner.Info, path string) string {
	if _, err := os.Lstat(path); err == nil {
		if p, ok := pathIn(info, spellingsOf(path)); ok {
			return string(p)
		}
	}
	return path
}

func within(dir, path string) model.Path {
	return model.Path(strings.Trim(strings.TrimPrefix(path, dir), "/"))
}

// ServesFolder reports whether p is in one of the owner's roots. It also returns true if p is "", the whole workspace.
func ServesFolder(info owner.Info, p model.Path) bool {
	folder, _ := p.Split()
	return p == "" || slices.ContainsFunc(info.Sources, func(src string) bool {
		name, _ := source.Split(src)
		return name == folder
	})
}

// At returns a client of the owner of the file or folder at path, and the path of that file or folder in the workspace.
// If no process serves path, At uses the owner that Find returns without args, or the user's only owner, and interprets
// path as a path in the workspace of that owner. The client is nil if there is no owner.
func (s Search) At(ctx context.Context, path string) (*owner.Client, model.Path, error) {
	all, spellings := owner.All(ctx), spellingsOf(path)
	for _, info := range all {
		if p, ok := pathIn(info, spellings); ok {
			c := owner.NewClient(info)
			return c, p, c.Alive(ctx)
		}
	}
	c, err := s.Find(ctx, nil)
	if c == nil && err == nil && s.State == "" && len(all) == 1 { // the owner may have another state folder
		c = owner.NewClient(all[0])
	}
	return c, model.Path(strings.Trim(path, "/.")), err
}

// OwnerInError returns the owner in an owner.AlreadyServedError. It returns nil if err is another error, or if the
// owner is unknown or does not respond.
func OwnerInError(err error) *owner.Info {
	if owned, ok := errors.AsType[*owner.AlreadyServedError](err); ok && owned.Owner != nil && owner.IsReachable(*owned.Owner) {
		return owned.Owner
	}
	return nil
}

const poll = 20 * time.Millisecond

// exitTimeout is the maximum wait for the end of an unmounted process, which serves open files for a few more seconds.
const exitTimeout = 15 * time.Second

func AwaitEnd(ctx context.Context, info owner.Info) error {
	timeout := time.After(exitTimeout)
	for !owner.Ended(info.PID) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout:
			return cli.WithHint(
				fmt.Errorf("%v is unmounted, but has not ended yet", info),
				fmt.Sprintf("close programs that have notes open and containers that use the mount, or end the process with `kill %d`", info.PID))
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
