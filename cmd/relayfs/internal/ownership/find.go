package ownership

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// newClient is a client of an owner that reaches the sources and nothing else, or
// everything if none are named.
func newClient(info owner.Info, sources []source.Source) *owner.Client {
	places := make([]string, len(sources))
	for i, s := range sources {
		places[i] = s.Place()
	}
	return owner.NewClient(info, places...)
}

// Attach connects to an owner as an MCP client of it that reaches the sources. Without an
// author its writes carry the owner's.
func Attach(ctx context.Context, info owner.Info, sources []source.Source, author string, readOnly bool) (io.ReadWriteCloser, error) {
	query := url.Values{}
	if author != "" {
		query.Set("author", author)
	}
	if readOnly {
		query.Set("read-only", "true")
	}
	stream, err := newClient(info, sources).Stream(ctx, mcpPath, query)
	if err != nil {
		return nil, err // not a stream that is nil
	}
	return stream, nil
}

// Status asks an owner for the state of its workspace.
func Status(ctx context.Context, c *owner.Client) (st bridge.Status, err error) {
	err = c.Get(ctx, statusPath, url.Values{}, &st)
	return st, err
}

// Search is where to look for owners.
type Search struct {
	State   string   // the flag, "" for the default
	Folders []string // of a server, NAME=ID each
}

// Find finds who serves the sources that args name, or, if they name none, the
// only owner that runs. It is nil if nobody serves them.
func (s Search) Find(ctx context.Context, args []string) (*owner.Client, error) {
	c, err := s.look(args)
	if c == nil || err != nil {
		return nil, err
	}
	if output.Stderr.TakesLines() {
		c.Waits = func(d time.Duration) { output.Stderr.Show(waitingLine(c.Info(), d), false) }
	}
	return c, c.Alive(ctx)
}

// Follow is find for a process that goes on with the next owner when that
// one has ended.
func (s Search) Follow(ctx context.Context, args []string) (*owner.Client, error) {
	c, err := s.look(args)
	if c == nil || err != nil {
		return nil, err
	}
	base, err := source.StateDir(s.State)
	if err != nil {
		return nil, err
	}
	sources, err := s.Sources(c, args)
	if err != nil {
		return nil, err
	}
	c.Next = func() (*owner.Info, error) {
		if len(args) > 0 {
			return ownerOf(base, sources)
		}
		for _, src := range sources { // all that it serves, even if that is not the same
			if info, err := ownerOf(base, []source.Source{src}); info != nil || err != nil {
				return info, err
			}
		}
		return nil, nil
	}
	return c, c.Alive(ctx)
}

// Sources are the sources that args name, or else all that an owner serves.
func (s Search) Sources(c *owner.Client, args []string) ([]source.Source, error) {
	if len(args) > 0 {
		return source.Parse(args, s.Folders)
	}
	return source.Parse(c.Info().Sources, nil)
}

// look is find without a look whether the owner answers.
func (s Search) look(args []string) (*owner.Client, error) {
	base, err := source.StateDir(s.State)
	if err != nil {
		return nil, err
	}
	sources, err := source.Parse(args, s.Folders)
	if err != nil {
		return nil, err
	}
	var info *owner.Info
	if len(sources) > 0 {
		info, err = ownerOf(base, sources)
	} else {
		info, err = onlyOwner(base)
	}
	if info == nil || err != nil {
		return nil, err
	}
	return newClient(*info, sources), nil
}

// waitingLine says on a terminal that an answer takes its time; "" when it has come.
func waitingLine(info owner.Info, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%v works on it, %s so far (Ctrl-C to leave it)", info, d.Round(time.Second))
}

// ownerOf is the one owner of all sources; nil if nobody serves any of them.
func ownerOf(base string, sources []source.Source) (*owner.Info, error) {
	var first *owner.Info
	for i, src := range sources {
		info, err := owner.Read(src.State(base))
		if err != nil || !owner.Answers(*info) {
			info = nil
		}
		if i == 0 {
			first = info
		}
		if (info == nil) != (first == nil) || info != nil && info.Socket != first.Socket {
			return nil, clierr.WithHint(
				fmt.Errorf("%s is %s, and %s is %s", sources[0].Place(), servedBy(first), src.Place(), servedBy(info)),
				HintSources)
		}
	}
	return first, nil
}

// HintSources is what to do where no one process serves what a command names.
const HintSources = "name what one process serves, or start one that serves all of them"

func servedBy(info *owner.Info) string {
	if info == nil {
		return "served by nobody"
	}
	return "served by " + info.String()
}

// onlyOwner is the owner that runs; nil if none does.
func onlyOwner(base string) (*owner.Info, error) {
	live, err := owner.Live(source.VaultsDir(base))
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
		return nil, clierr.Usagef("several relayfs processes run (%s): name the vault", strings.Join(names, ", "))
	}
	return nil, nil
}

// Answering is the owner that err names, if it is there; else nil.
func Answering(err error) *owner.Info {
	var owned *owner.OwnedError
	if errors.As(err, &owned) && owned.Owner != nil && owner.Answers(*owned.Owner) {
		return owned.Owner
	}
	return nil
}

// Poll is how often an owner that is on its way is looked for.
const Poll = 20 * time.Millisecond
