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
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type oneMove struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	NewPath  string `arg:"new_path" is:"path" need:"true" doc:"New path, in the same top-level folder"`
}

type moveArgs struct {
	oneMove
	Moves  []oneMove `arg:"moves" for:"file_path,new_path" doc:"Several moves instead of one, in order"`
	DryRun bool      `arg:"dry_run" def:"false" doc:"Change nothing; report what it would do"`
}

func move(ctx context.Context, c *tool.Client, a moveArgs) (result.Result, error) {
	list := a.Moves
	switch {
	case a.FilePath != "" && list != nil:
		return result.Result{}, result.InvalidArgument("Give file_path and new_path for one move, or moves for several, and not both.")
	case list == nil && !a.DryRun:
		answer, err := moveOne(ctx, c, a.oneMove)
		return result.Text(answer), err
	case list == nil:
		list = []oneMove{a.oneMove}
	}
	tried := new(plannedMoves)
	try := func(m oneMove) (string, error) { return tried.move(ctx, c, m) }
	if a.DryRun {
		return tryEach(c, list, try), nil
	}
	return applyEach(ctx, c, list, try, moveOne, func(m oneMove) string { return fmt.Sprintf("move %s to %s", m.FilePath, m.NewPath) })
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
	if err == nil {
		to, err = a.target(c, from, info.Kind)
	}
	return from, to, err
}

func (a oneMove) target(c *tool.Client, from model.Path, kind model.NodeKind) (model.Path, error) {
	to, err := c.Resolver.NewPath(a.NewPath, kind == model.KindNote)
	switch {
	case err != nil:
	case kind == model.KindNote && !to.IsNote(), kind == model.KindFile && to.IsNote():
		err = &model.Error{Op: "rename", Path: to, Err: model.ErrNotNote}
	case from == to:
		err = result.InvalidArgument("No move to make: file_path and new_path are the same.")
	case from.Contains(to):
		err = result.InvalidArgument("%q cannot be moved into itself. Choose another new_path.", string(from))
	}
	return to, err
}

// variantOf returns another document whose path differs from to only in case or Unicode form, or "": on many disks both
// are one file.
func variantOf(c *tool.Client, from, to model.Path) model.Path {
	p, err := c.Workspace.Resolve(string(to))
	if err != nil || p == to || from.Contains(p) || p.Dir() != to.Dir() {
		return ""
	}
	return p
}

// plannedMoves lists the moves of a dry run, in order.
type plannedMoves []step

type step struct{ from, to model.Path }

// now returns the current path of the document that the moves put at p. It is "" if there is none, or for a folder that
// they create.
func (t plannedMoves) now(p model.Path) (now model.Path, folder bool) {
	for _, s := range slices.Backward(t) {
		switch {
		case s.to.Contains(p):
			p = s.from + p[len(s.to):]
		case p.Contains(s.to):
			return "", true
		case s.from.Contains(p):
			return "", false
		}
	}
	return p, false
}

func (t plannedMoves) kind(ctx context.Context, c *tool.Client, p model.Path) (kind model.NodeKind, there bool) {
	now, folder := t.now(p)
	if folder || now == "" {
		return model.KindDir, folder
	}
	info, err := c.Workspace.Stat(ctx, now)
	return info.Kind, err == nil
}

// source resolves the source of m after the earlier moves.
func (t plannedMoves) source(ctx context.Context, c *tool.Client, m oneMove) (model.Path, model.NodeKind, error) {
	for _, note := range []bool{false, true} { // the extension may be omitted
		p, err := c.Resolver.NewPath(m.FilePath, note)
		if err != nil {
			break
		}
		if kind, there := t.kind(ctx, c, p); there {
			return p, kind, nil
		}
	}
	from, err := c.Resolver.ResolveName(ctx, m.FilePath)
	if err != nil {
		return "", 0, err
	}
	kind, there := t.kind(ctx, c, from)
	if !there {
		err = &document.MissingError{Name: m.FilePath, Err: fs.ErrNotExist}
	}
	return from, kind, err
}

func (t *plannedMoves) move(ctx context.Context, c *tool.Client, m oneMove) (string, error) {
	from, kind, err := t.source(ctx, c, m)
	if err != nil {
		return "", err
	}
	to, err := m.target(c, from, kind)
	if err == nil {
		err = c.Changes.CheckMove(from, to)
	}
	if err != nil {
		return "", err
	}
	for _, p := range []model.Path{to, variantOf(c, from, to)} {
		if _, there := t.kind(ctx, c, p); there && p != "" {
			return "", moveFailure(fs.ErrExist, p)
		}
	}
	now, _ := t.now(from)
	*t = append(*t, step{from, to})
	out := "Would move " + result.Escape(from) + " to " + result.Escape(to) + "."
	if warning := newNameWarning(from, to); warning != "" {
		out += " Warning: " + warning + "."
	}
	if n := len(c.Changes.Linking(ctx, now)); n > 0 {
		out += " " + change.LinkTo(n) + " to it."
	}
	return out, nil
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

// newNameWarning returns a warning about a new name that links cannot express, or "".
func newNameWarning(from, to model.Path) string {
	have := strings.Split(string(from), "/")
	for name := range strings.SplitSeq(string(to), "/") {
		if warning := links.NameWarning(name); warning != "" && !slices.Contains(have, name) {
			return warning
		}
	}
	return ""
}

// moveFailure names the destination, since err names only the source.
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
