package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// An MCP process on stdio serves the vaults for its own client, and for those that
// attach to it. A process that can do more, a mount or a server on a port, asks
// for them: the MCP process answers what it has been asked so far, lets go of the
// vaults and becomes a client of the new owner.

// handoverPatience is how long a process that hands its vaults over may take: it
// finishes the calls under way.
const handoverPatience = 30 * time.Second

// handover is how an owner makes way.
type handover struct {
	may   func(HandoverRequest) error // says why not
	begin func() error                // has the owner take no more from its client, and end
}

// HandoverRequest is what a process that wants the vaults says of itself.
type HandoverRequest struct {
	Sources []string `json:"sources"` // NAME=DIR of each vault that it will serve
}

// answerHandover makes way for the process that asks.
func (c *Control) answerHandover(w http.ResponseWriter, r *http.Request) {
	var req HandoverRequest
	err := json.NewDecoder(r.Body).Decode(&req)
	switch {
	case err != nil:
	case c.handOver == nil:
		err = errors.New("it serves others too")
	default:
		err = c.handOver.may(req)
	}
	if err == nil {
		err = c.announceHandover()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	// What the client asks from here on is the next owner's to answer. The socket closes
	// with what follows, but only once this request has its answer.
	_ = c.handOver.begin() // a pipe's, which cannot fail
	fmt.Fprintln(w, "{}")
}

// Take is Open for a process that serves others: one that serves
// the vaults for its own client alone is asked to hand them over.
func Take(ctx context.Context, sources []source.Source, o Options) (*Session, error) {
	for start := time.Now(); ; {
		s, err := Open(ctx, sources, o)
		var owned *owner.OwnedError
		if !errors.As(err, &owned) || owned.Owner == nil || time.Since(start) > handoverPatience {
			return s, err
		}
		if info := *owned.Owner; info.HandedOver.IsZero() {
			if info.Command != MCPCommand || info.HTTP != nil || !owner.Answers(info) {
				return nil, err
			}
			if refused := askForVaults(ctx, info, sources); refused != nil {
				return nil, clierr.WithHint(fmt.Errorf("%w, which does not hand it over: %w", err, refused), "end that process first")
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(Poll):
		}
	}
}

func askForVaults(ctx context.Context, info owner.Info, sources []source.Source) error {
	ctx, cancel := context.WithTimeout(ctx, handoverPatience)
	defer cancel()
	var req HandoverRequest
	for _, src := range sources {
		req.Sources = append(req.Sources, src.String())
	}
	return owner.NewClient(info).Post(ctx, handoverPath, req, new(struct{}))
}

// MCPCommand is what an owner that serves MCP alone calls itself.
const MCPCommand = "mcp"
