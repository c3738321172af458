package mcpserver

import (
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge"
)

type moveArgs struct {
	FilePath string `arg:"file_path" need:"true" doc:"Path of the document to move or rename"`
	NewPath  string `arg:"new_path" need:"true" doc:"Path it is to have, in the same top-level folder"`
}

func move(ctx context.Context, s *Session, a moveArgs) Result {
	from, err := s.resolve(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	to, err := s.newPath(a.NewPath)
	if err != nil {
		return failure(err)
	}
	if from == to {
		return refuse("No move to make: file_path and new_path are the same.")
	}
	linking := s.linking(ctx, from)
	if err := s.server.ws.Rename(ctx, from, to, false, s); err != nil {
		return moveFailure(err, to)
	}
	s.moved(from, to)
	broken := linking - s.linking(ctx, to)
	return text("Moved " + string(from) + " to " + string(to) + "." + brokenLinks(broken))
}

// linking is how many other documents link to the one at p; 0 if p is none.
func (s *Session) linking(ctx context.Context, p bridge.Path) int {
	links, err := s.server.ws.Links(ctx, p)
	if err != nil {
		return 0
	}
	n := 0
	for _, from := range links.Backlinks {
		if from != p {
			n++
		}
	}
	return n
}

func brokenLinks(n int) string {
	if n <= 0 {
		return " All links to it still lead there."
	}
	return " Links in " + count(n, "document") + " no longer lead there; call get_links and grep for the old name to mend them."
}

// moveFailure names the place that is taken, which is not the one that was to
// be moved.
func moveFailure(err error, to bridge.Path) Result {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, bridge.ErrConflict) {
		return refuse("%q exists already. Choose another new_path.", string(to))
	}
	return failure(err)
}
