package mcpserver

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

type moveArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document to move or rename"`
	NewPath  string `arg:"new_path" is:"path" need:"true" doc:"Path it is to have, in the same top-level folder"`
}

func move(ctx context.Context, s *Session, a moveArgs) answer.Result {
	from, err := s.resolveName(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	info, err := s.server.ws.Stat(ctx, from)
	if err != nil {
		return failure(err)
	}
	to, err := s.placeFor(a.NewPath, info.Kind == bridge.KindNote)
	switch {
	case err != nil:
		return failure(err)
	case from == to:
		return answer.Refuse("No move to make: file_path and new_path are the same.")
	case from.Contains(to):
		return answer.Refuse("%q cannot be moved into itself. Choose another new_path.", string(from))
	}
	res, err := s.move(ctx, from, to)
	if err != nil {
		return moveFailure(err, to)
	}
	return answer.Text(s.movedText(from, to, res))
}

// movedText says what came of a move.
func (s *Session) movedText(from, to bridge.Path, res bridge.Restructured) string {
	out := "Moved " + answer.Shown(from) + " to " + answer.Shown(to) + "."
	if res.Proposal != "" {
		out = "Proposed to move " + answer.Shown(from) + " to " + answer.Shown(to) + "; it is shown there, and people have it at the old path until a person accepts [" + res.Proposal + "]."
	}
	if warning := links.NameWarning(to.Base()); warning != "" && to.Base() != from.Base() {
		out += " Warning: " + warning + "."
	}
	switch {
	case res.Links == 0:
		return out + " No link elsewhere had to be rewritten."
	case s.server.ws.Options().Mode == bridge.Direct:
		return out + " " + answer.Count(res.Links, "link") + " in " + answer.Count(res.Notes, "document") + " rewritten."
	}
	return out + " " + answer.Count(res.Links, "link") + " in " + answer.Count(res.Notes, "document") + " rewritten, as suggestions."
}

// makeParents makes the folders that the path to needs, if names may be changed
// at all.
func (s *Session) makeParents(ctx context.Context, to bridge.Path) error {
	if s.server.ws.Options().Structure == bridge.StructureDeny {
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
		if err := s.server.ws.Mkdir(ctx, dir, bridge.Restructure{By: s.author(), Origin: s}); err != nil && !errors.Is(err, fs.ErrExist) {
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

// moveFailure names the place that is taken, which is not the one that was to
// be moved.
func moveFailure(err error, to bridge.Path) answer.Result {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, bridge.ErrConflict) {
		return answer.Refuse("%q exists already. Choose another new_path.", string(to))
	}
	return failure(err)
}
