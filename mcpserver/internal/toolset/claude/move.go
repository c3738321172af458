package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type oneMove struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	NewPath  string `arg:"new_path" is:"path" need:"true" doc:"New path, in the same top-level folder"`
}

type moveArgs struct {
	oneMove
	Moves []oneMove `arg:"moves" for:"file_path,new_path" doc:"Several moves instead of one, in order"`
}

func move(ctx context.Context, c *tool.Client, a moveArgs) (result.Result, error) {
	switch {
	case a.Moves == nil:
		answer, err := moveOne(ctx, c, a.oneMove)
		return result.Text(answer), err
	case a.FilePath != "":
		return result.Result{}, result.InvalidArgument("Give file_path and new_path for one move, or moves for several, and not both.")
	}
	return applyEach(ctx, c, a.Moves, moveOne, func(m oneMove) string { return fmt.Sprintf("move %s to %s", m.FilePath, m.NewPath) })
}

func moveOne(ctx context.Context, c *tool.Client, a oneMove) (string, error) {
	from, to, err := a.paths(ctx, c)
	if err != nil {
		return "", err
	}
	if other := variantOf(c, from, to); other != "" {
		return "", moveFailure(fs.ErrExist, other)
	}
	res, err := c.Changes.Move(ctx, from, to)
	if err != nil {
		return "", moveFailure(err, to)
	}
	return movedText(c, from, to, res), nil
}

func (a oneMove) paths(ctx context.Context, c *tool.Client) (from, to model.Path, err error) {
	if from, err = c.Resolver.ResolveName(ctx, a.FilePath); err != nil {
		return "", "", err
	}
	info, err := c.Workspace.Stat(ctx, from)
	if err != nil {
		return "", "", err
	}
	name := a.NewPath
	if info.Kind == model.KindDir {
		name = strings.TrimSuffix(name, "/")
	} else if folder, ok := folderAt(ctx, c, name); ok {
		return "", "", result.InvalidArgument("%q is a folder. Give the whole new path, for example %q.", string(folder), string(folder.Join(from.Base())))
	}
	to, err = c.Resolver.NewPath(name, info.Kind == model.KindNote)
	switch {
	case err != nil:
	case info.Kind == model.KindNote && !to.IsNote(), info.Kind == model.KindFile && to.IsNote():
		err = &model.Error{Op: "rename", Path: to, Err: model.ErrOtherKind}
	case from == to:
		err = result.InvalidArgument("No move to make: file_path and new_path are the same.")
	case from.Contains(to):
		err = result.InvalidArgument("%q cannot be moved into itself. Choose another new_path.", string(from))
	}
	return from, to, err
}

func folderAt(ctx context.Context, c *tool.Client, name string) (model.Path, bool) {
	p, err := c.Resolver.LookUp(name)
	if err != nil {
		return "", false
	}
	info, err := c.Workspace.Stat(ctx, p)
	return p, err == nil && info.Kind == model.KindDir
}

// variantOf returns another document whose path differs from the new path only in case or Unicode form, or "" if there
// is none. On many disks both paths would be the same file.
func variantOf(c *tool.Client, from, to model.Path) model.Path {
	p, err := c.Workspace.Resolve(string(to))
	if err != nil || p == to || from.Contains(p) || p.Dir() != to.Dir() {
		return ""
	}
	return p
}

func movedText(c *tool.Client, from, to model.Path, res bridge.ChangeResult) string {
	out := "Moved " + result.Escape(from) + " to " + result.Escape(to) + "."
	if res.Proposal != "" {
		out = "Proposed to move " + result.Escape(from) + " to " + result.Escape(to) + "; you see it there; users see it at the old path until one of them accepts [" + res.Proposal + "]."
	}
	if warning := newNameWarning(from, to); warning != "" {
		out += " Warning: " + warning + "."
	}
	if res.Links == 0 {
		return out + " No link elsewhere had to be rewritten."
	}
	out += " " + result.Count(res.Links, "link") + " in " + result.Count(res.Notes, "document") + " rewritten"
	if c.Workspace.Options().Mode != bridge.Direct {
		out += ", as suggestions"
	}
	return out + "."
}

// newNameWarning returns a warning if links cannot express the new name, and otherwise "".
func newNameWarning(from, to model.Path) string {
	have := strings.Split(string(from), "/")
	for name := range strings.SplitSeq(string(to), "/") {
		if warning := links.NameWarning(name); warning != "" && !slices.Contains(have, name) {
			return warning
		}
	}
	return ""
}

// moveFailure replaces an error about an existing destination by an error that names the destination, because err names
// only the source.
func moveFailure(err error, to model.Path) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, model.ErrConflict) {
		return result.InvalidArgument("%q exists already. Choose another new_path.", string(to))
	}
	return err
}

type deleteArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document or empty folder"`
	Confirm  *bool  `arg:"confirm" doc:"The user has agreed; needed only if the answer says so"`
}

func deleteNote(ctx context.Context, c *tool.Client, a deleteArgs) (result.Result, error) {
	p, err := c.Resolver.ResolveName(ctx, a.FilePath)
	if err != nil {
		return result.Result{}, err
	}
	res, err := c.Changes.Remove(ctx, p, a.Confirm)
	if err != nil {
		return result.Result{}, err
	}
	out := "Deleted " + result.Escape(p) + "."
	if res.Proposal != "" {
		out = "Proposed to delete " + result.Escape(p) + "; you no longer see it; users see it until one of them accepts [" + res.Proposal + "]."
	}
	if losers := change.BrokenLinks(res.Linking); losers != "" {
		out += " Warning: " + losers
	}
	return result.Text(out), nil
}
