package mcpserver

import (
	"context"
	"errors"
	"io/fs"
	"slices"

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
	if err := s.makeParents(ctx, to); err != nil {
		return failure(err)
	}
	if _, err := s.server.ws.Rename(ctx, from, to, bridge.Restructure{By: s.author(), Origin: s}); err != nil {
		return moveFailure(err, to)
	}
	s.moved(from, to)
	broken := linking - s.linking(ctx, to)
	return text("Moved " + shown(from) + " to " + shown(to) + "." + brokenLinks(broken))
}

// makeParents makes the folders that the path to needs, if names may be changed
// at all.
func (s *Session) makeParents(ctx context.Context, to bridge.Path) error {
	if s.server.ws.Options().Structure != bridge.StructureDirect {
		return nil
	}
	var missing []bridge.Path
	for dir := to.Dir(); dir != ""; dir = dir.Dir() {
		_, err := s.server.ws.Stat(ctx, dir)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		if err := s.server.ws.Mkdir(ctx, dir, s); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
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
