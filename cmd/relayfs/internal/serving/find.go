package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// NewClient returns a client of an owner that reaches only the sources, or everything if there are none.
func NewClient(info owner.Info, sources []source.Source) *owner.Client {
	places := make([]string, len(sources))
	for i, s := range sources {
		places[i] = s.Place()
	}
	return owner.NewClient(info, places...)
}

// Search is where to look for owners.
type Search struct {
	State string // the setting, "" for the default
}

// Find returns a client of the process that serves the sources in args, or, if args is empty, of the only
// owner that runs. It is nil if no process serves them.
func (s Search) Find(ctx context.Context, args []string) (*owner.Client, error) {
	c, _, _, err := s.look(args)
	if c == nil || err != nil {
		return nil, err
	}
	c.Waits = func(d time.Duration) { cli.Stderr.Show(waitingLine(c.Info(), d), false) }
	return running(ctx, c)
}

// running returns c, or nil if its owner has ended. That may show only when it is asked: a process that was killed
// while it started another one leaves that its socket for a moment.
func running(ctx context.Context, c *owner.Client) (*owner.Client, error) {
	err := c.Alive(ctx)
	if _, gone := errors.AsType[*owner.EndedError](err); gone {
		return nil, nil
	}
	return c, err
}

// Follow is Find for a client that continues with the next owner when the present one has ended. state is the
// state folder of the first source.
func (s Search) Follow(ctx context.Context, args []string) (_ *owner.Client, state owner.Folder, _ error) {
	c, base, sources, err := s.look(args)
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
		for _, src := range sources { // they may have different owners now
			if info, err := ownerOf(base, []source.Source{src}); info != nil || err != nil {
				return info, err
			}
		}
		return nil, nil
	}
	c, err = running(ctx, c)
	return c, owner.Folder(sources[0].State(base)), err
}

// look is Find without a check that the owner answers. sources are those in args, base has their state folders.
func (s Search) look(args []string) (c *owner.Client, base string, sources []source.Source, err error) {
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
		info, err = onlyOwner(base)
	}
	if info == nil || err != nil {
		return nil, "", nil, err
	}
	return NewClient(*info, sources), base, sources, nil
}

// waitingLine is the progress line while an owner works on an answer, "" at the end.
func waitingLine(info owner.Info, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%v works on it, %s so far (Ctrl-C to leave it)", info, d.Round(time.Second))
}

// ownerOf returns the one owner of all sources, nil if no process serves any of them.
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

// hintSources is the hint for sources that no single process serves.
const hintSources = "name what one process serves, or start one that serves all of them"

func servedBy(info *owner.Info) string {
	if info == nil {
		return "served by nobody"
	}
	return "served by " + info.String()
}

func onlyOwner(base string) (*owner.Info, error) {
	live, err := owner.Running(source.VaultsDir(base))
	if err != nil {
		return nil, err
	}
	if len(live) > 1 {
		if here, err := os.Getwd(); err == nil {
			live = serving(live, here)
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
		return nil, cli.Usagef("several relayfs processes run (%s): name the vault", strings.Join(names, ", "))
	}
	return nil, nil
}

// Owners returns the owners that run, those first that serve the current folder. Without a state folder in the
// search they are all of this user.
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
	if here, err := os.Getwd(); err == nil {
		rank := func(info owner.Info) int {
			if _, ok := pathIn(info, here); ok {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(owners, func(a, b owner.Info) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return owners, nil
}

// serving returns the owners that serve what is at path, on a mount or in a vault; all if none does.
func serving(owners []owner.Info, path string) []owner.Info {
	var found []owner.Info
	for _, info := range owners {
		if _, ok := pathIn(info, path); ok {
			found = append(found, info)
		}
	}
	if found == nil {
		return owners
	}
	return found
}

// pathIn returns what an absolute path on its mount, or in one of its vaults, is in the workspace of an owner.
func pathIn(info owner.Info, path string) (p model.Path, ok bool) {
	if info.Mountpoint != "" && owner.IsWithin(info.Mountpoint, path) {
		return within(info.Mountpoint, path), true
	}
	for _, src := range info.Sources {
		name, dir, named := strings.Cut(src, "=")
		if named && filepath.IsAbs(dir) && owner.IsWithin(dir, path) {
			return model.Path(name).Join(string(within(dir, path))), true
		}
	}
	return "", false
}

// within returns the path of what lies in dir, from there, "" for dir itself.
func within(dir, path string) model.Path {
	return model.Path(strings.Trim(strings.TrimPrefix(path, dir), "/"))
}

// Holds reports whether a path in the workspace of an owner can name something: it is in one of its Folders, or is all of it.
func Holds(info owner.Info, p model.Path) bool {
	folder, _ := p.Split()
	return p == "" || slices.ContainsFunc(info.Sources, func(src string) bool {
		if address, named, ok := strings.Cut(src, "#"); ok && strings.Contains(address, "://") {
			src = named
		}
		name, _, _ := strings.Cut(src, "=")
		return name == folder
	})
}

// At returns a client of the process that serves the file or folder at path, whatever its state folder, and
// what that is in its workspace. Where nobody does, it returns the only owner that runs, and path as a path
// in its workspace; and no client if none runs.
func (s Search) At(ctx context.Context, path string) (*owner.Client, model.Path, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	real := abs
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		real = filepath.Join(dir, filepath.Base(abs))
	}
	all := owner.All(ctx)
	for _, info := range all {
		for _, at := range []string{abs, real} {
			if p, ok := pathIn(info, at); ok {
				c := owner.NewClient(info)
				return c, p, c.Alive(ctx)
			}
		}
	}
	c, err := s.Find(ctx, nil)
	if c == nil && err == nil && s.State == "" && len(all) == 1 { // with a state folder of its own
		c = owner.NewClient(all[0])
	}
	return c, model.Path(strings.Trim(path, "/.")), err
}

// Answering returns the owner that err names, nil if that does not answer.
func Answering(err error) *owner.Info {
	if owned, ok := errors.AsType[*owner.AlreadyServedError](err); ok && owned.Owner != nil && owner.IsReachable(*owned.Owner) {
		return owned.Owner
	}
	return nil
}

// Poll is how often to look for an owner that is starting.
const Poll = 20 * time.Millisecond

// MountedBy returns the process that serves the mount at dir, nil if none is known.
func MountedBy(dir, state string) *owner.Info {
	base, err := source.StateDir(state)
	if err != nil {
		return nil
	}
	live, err := owner.Running(source.VaultsDir(base))
	if err != nil {
		return nil
	}
	for _, info := range live {
		if info.Mountpoint == dir {
			return &info
		}
	}
	return nil
}

// endPatience bounds the end of an unmounted process, which serves open files for a few more seconds.
const endPatience = 15 * time.Second

// AwaitEnd waits until the process of an owner has ended.
func AwaitEnd(ctx context.Context, info *owner.Info) error {
	if info == nil {
		return nil
	}
	patience, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	for !process.Ended(info.PID) {
		select {
		case <-patience.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return cli.WithHint(
				fmt.Errorf("%v is unmounted, but has not ended yet", *info),
				fmt.Sprintf("a program may still have a note open, or a container the mount; close it, or end the process with `kill %d`", info.PID))

		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
