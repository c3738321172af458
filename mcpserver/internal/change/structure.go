package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
)

// Move moves a note, file or folder, and creates the folders above to.
func (c Changes) Move(ctx context.Context, from, to model.Path) (bridge.Restructured, error) {
	how := bridge.Restructure{By: c.Session.Author(), Origin: c.Session}
	for _, p := range []model.Path{from, to} {
		if err := c.Workspace.MayRestructure(p, how); err != nil {
			return bridge.Restructured{}, err
		}
	}
	if err := c.approve(ctx, approval.Update, fmt.Sprintf("move %s to %s", from, to), nil); err != nil {
		return bridge.Restructured{}, err
	}
	if err := c.makeParents(ctx, to); err != nil {
		return bridge.Restructured{}, err
	}
	res, err := c.Workspace.Rename(ctx, from, to, how)
	if err == nil {
		c.Session.Moved(from, to)
	}
	return res, err
}

// Remove deletes what is at p. linking is how many other notes link to it.
func (c Changes) Remove(ctx context.Context, p model.Path, kind string, linking int, confirm *bool) (bridge.Restructured, error) {
	what := fmt.Sprintf("delete the %s %s", kind, p)
	if linking > 0 {
		what += " (" + LinkTo(linking) + " to it)"
	}
	how := bridge.Restructure{By: c.Session.Author(), Origin: c.Session}
	if err := c.Workspace.MayRestructure(p, how); err != nil {
		return bridge.Restructured{}, err
	}
	if err := c.approve(ctx, approval.Delete, what, confirm); err != nil {
		return bridge.Restructured{}, err
	}
	res, err := c.Workspace.Remove(ctx, p, how)
	if err == nil {
		c.Session.Forget(p)
	}
	return res, err
}

// LinkTo returns "1 other note links" or "2 other notes link".
func LinkTo(n int) string {
	if n == 1 {
		return "1 other note links"
	}
	return answer.Count(n, "other note") + " link"
}

func (c Changes) makeParents(ctx context.Context, to model.Path) error {
	if c.Workspace.Options().Structure == bridge.StructureDeny {
		return nil
	}
	var missing []model.Path
	for dir := to.Dir(); dir != ""; dir = dir.Dir() {
		_, err := c.Workspace.Stat(ctx, dir)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		missing = append(missing, dir)
	}
	for _, dir := range slices.Backward(missing) {
		if err := c.Workspace.Mkdir(ctx, dir, bridge.Restructure{By: c.Session.Author(), Origin: c.Session}); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Linking returns how many other documents link to the document at p, 0 if there is none.
func (c Changes) Linking(ctx context.Context, p model.Path) int {
	links, err := c.Workspace.Links(ctx, p)
	if err != nil {
		return 0
	}
	return len(slices.DeleteFunc(slices.Clone(links.Backlinks), func(from model.Path) bool { return from == p }))
}
