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
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type oneMove struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document"`
	NewPath  string `arg:"new_path" is:"path" need:"true" doc:"New path, in the same top-level folder"`
}

type moveArgs struct {
	oneMove
	Moves  []oneMove `arg:"moves" for:"file_path,new_path" doc:"Several moves instead of one, in order"`
	DryRun bool      `arg:"dry_run" def:"false" doc:"Change nothing; tell what it would do"`
}

func move(ctx context.Context, c *tool.Client, a moveArgs) (answer.Result, error) {
	list := a.Moves
	switch {
	case a.FilePath != "" && list != nil:
		return answer.Result{}, answer.WrongArgument("Give file_path and new_path for one move, or moves for several, and not both.")
	case list == nil && !a.DryRun:
		said, err := moveOne(ctx, c, a.oneMove)
		return answer.Text(said), err
	case list == nil:
		list = []oneMove{a.oneMove}
	}
	tried := new(places)
	try := func(m oneMove) (string, error) { return tried.move(ctx, c, m) }
	if a.DryRun {
		return trials(c, list, try), nil
	}
	return several(ctx, c, list, try, moveOne, func(m oneMove) string { return fmt.Sprintf("move %s to %s", m.FilePath, m.NewPath) })
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

// paths returns what is to be moved, and where to.
func (a oneMove) paths(ctx context.Context, c *tool.Client) (from, to model.Path, err error) {
	if from, err = c.Names.ResolveName(ctx, a.FilePath); err != nil {
		return "", "", err
	}
	info, err := c.Workspace.Stat(ctx, from)
	if err == nil {
		to, err = a.target(c, from, info.Kind)
	}
	return from, to, err
}

// target returns where to what is at from is to be moved.
func (a oneMove) target(c *tool.Client, from model.Path, kind model.NodeKind) (model.Path, error) {
	to, err := c.Names.NewPath(a.NewPath, kind == model.KindNote)
	switch {
	case err != nil:
	case kind == model.KindNote && !to.IsNote(), kind == model.KindFile && to.IsNote():
		err = &model.Error{Op: "rename", Path: to, Err: model.ErrNotNote}
	case from == to:
		err = answer.WrongArgument("No move to make: file_path and new_path are the same.")
	case from.Contains(to):
		err = answer.WrongArgument("%q cannot be moved into itself. Choose another new_path.", string(from))
	}
	return to, err
}

// variantOf returns another document than from whose path differs from to in case or Unicode form alone, "" if there is
// none. On many disks both would be one.
func variantOf(c *tool.Client, from, to model.Path) model.Path {
	p, err := c.Workspace.Resolve(string(to))
	if err != nil || p == to || from.Contains(p) || p.Dir() != to.Dir() {
		return ""
	}
	return p
}

// places are moves that are only tried, in order.
type places []step

type step struct{ from, to model.Path }

// now returns where that is at present which the moves would bring to p: "" if they would leave nothing there, or a
// folder that is above what they bring, and made if need be.
func (t places) now(p model.Path) (now model.Path, folder bool) {
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

// kind returns what the moves would leave at p, and whether that is something.
func (t places) kind(ctx context.Context, c *tool.Client, p model.Path) (kind model.NodeKind, there bool) {
	now, folder := t.now(p)
	if folder || now == "" {
		return model.KindDir, folder
	}
	info, err := c.Workspace.Stat(ctx, now)
	return info.Kind, err == nil
}

// source returns the path of what a move is of, after those that were tried, and what that is.
func (t places) source(ctx context.Context, c *tool.Client, m oneMove) (model.Path, model.NodeKind, error) {
	for _, note := range []bool{false, true} { // with the ending that may be left out
		p, err := c.Names.NewPath(m.FilePath, note)
		if err != nil {
			break
		}
		if kind, there := t.kind(ctx, c, p); there {
			return p, kind, nil
		}
	}
	from, err := c.Names.ResolveName(ctx, m.FilePath)
	if err != nil {
		return "", 0, err
	}
	kind, there := t.kind(ctx, c, from)
	if !there {
		err = &document.MissingError{Name: m.FilePath, Err: fs.ErrNotExist}
	}
	return from, kind, err
}

// move tries a move after those that were tried before.
func (t *places) move(ctx context.Context, c *tool.Client, m oneMove) (string, error) {
	from, kind, err := t.source(ctx, c, m)
	if err != nil {
		return "", err
	}
	to, err := m.target(c, from, kind)
	if err == nil {
		err = c.Changes.MayMove(from, to)
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
	out := "Would move " + answer.Shown(from) + " to " + answer.Shown(to) + "."
	if warning := newNameWarning(from, to); warning != "" {
		out += " Warning: " + warning + "."
	}
	if n := len(c.Changes.Linking(ctx, now)); n > 0 {
		out += " " + change.LinkTo(n) + " to it."
	}
	return out, nil
}

func movedText(c *tool.Client, from, to model.Path, res bridge.ChangeResult) string {
	out := "Moved " + answer.Shown(from) + " to " + answer.Shown(to) + "."
	if res.Proposal != "" {
		out = "Proposed to move " + answer.Shown(from) + " to " + answer.Shown(to) + "; it is shown there, and people have it at the old path until a person accepts [" + res.Proposal + "]."
	}
	if warning := newNameWarning(from, to); warning != "" {
		out += " Warning: " + warning + "."
	}
	if res.Links == 0 {
		return out + " No link elsewhere had to be rewritten."
	}
	out += " " + answer.Count(res.Links, "link") + " in " + answer.Count(res.Notes, "document") + " rewritten"
	if c.Workspace.Options().Mode != bridge.Direct {
		out += ", as suggestions"
	}
	return out + "."
}

// newNameWarning returns a sentence on what is wrong with a name of to that from has not, "" if nothing is.
func newNameWarning(from, to model.Path) string {
	have := strings.Split(string(from), "/")
	for name := range strings.SplitSeq(string(to), "/") {
		if warning := links.NameWarning(name); warning != "" && !slices.Contains(have, name) {
			return warning
		}
	}
	return ""
}

// moveFailure names the path that is taken; the error names the one that was to be moved.
func moveFailure(err error, to model.Path) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, model.ErrConflict) {
		return answer.WrongArgument("%q exists already. Choose another new_path.", string(to))
	}
	return err
}

type deleteArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document or empty folder"`
	Confirm  *bool  `arg:"confirm" doc:"The person has agreed; needed only if the answer says so"`
}

func deleteNote(ctx context.Context, c *tool.Client, a deleteArgs) (answer.Result, error) {
	p, err := c.Names.ResolveName(ctx, a.FilePath)
	if err != nil {
		return answer.Result{}, err
	}
	res, err := c.Changes.Remove(ctx, p, a.Confirm)
	if err != nil {
		return answer.Result{}, err
	}
	out := "Deleted " + answer.Shown(p) + "."
	if res.Proposal != "" {
		out = "Proposed to delete " + answer.Shown(p) + "; it is not shown any more, and people have it until a person accepts [" + res.Proposal + "]."
	}
	if losers := change.Losers(res.Linking); losers != "" {
		out += " Warning: " + losers
	}
	return answer.Text(out), nil
}
