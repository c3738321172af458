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

// An MCP process on stdio serves the vaults for its own client, and for clients that attach to it. A
// process that can do more, a mount or a server on a port, asks for the vaults: the MCP process answers
// the requests so far, releases the vaults and becomes a client of the new owner.

// handoverPatience is how long a process that hands over may take to finish the calls under way.
const handoverPatience = 30 * time.Second

// handover is how an owner hands over; see LetHandOver.
type handover struct {
	may   func(HandoverRequest) error
	begin func() error
}

// HandoverRequest is sent by a process that asks for the vaults.
type HandoverRequest struct {
	Sources []string `json:"sources"` // NAME=DIR of each vault that it will serve
}

// answerHandover hands the vaults over to the process that asks.
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
	// From here on the next owner answers the client. The socket closes with what follows, but only after
	// this request has its answer.
	_ = c.handOver.begin() // a pipe's, which cannot fail
	fmt.Fprintln(w, "{}")
}

// Take is Open for a process that serves others. It asks a process that serves the vaults only for its
// own client to hand them over.
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

// MCPCommand is the command of an owner that serves only MCP.
const MCPCommand = "mcp"
