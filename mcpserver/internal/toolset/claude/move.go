package claude

import (
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type moveArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document to move or rename"`
	NewPath  string `arg:"new_path" is:"path" need:"true" doc:"Path it is to have, in the same top-level folder"`
}

func move(ctx context.Context, c *tool.Client, a moveArgs) answer.Result {
	from, err := c.Names.ResolveName(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	info, err := c.Workspace.Stat(ctx, from)
	if err != nil {
		return failure(err)
	}
	to, err := c.Names.NewPath(a.NewPath, info.Kind == model.KindNote)
	switch {
	case err != nil:
		return failure(err)
	case from == to:
		return answer.Refuse("No move to make: file_path and new_path are the same.")
	case from.Contains(to):
		return answer.Refuse("%q cannot be moved into itself. Choose another new_path.", string(from))
	}
	res, err := c.Changes.Move(ctx, from, to)
	if err != nil {
		return moveFailure(err, to)
	}
	return answer.Text(movedText(c, from, to, res))
}

func movedText(c *tool.Client, from, to model.Path, res bridge.Restructured) string {
	out := "Moved " + answer.Shown(from) + " to " + answer.Shown(to) + "."
	if res.Proposal != "" {
		out = "Proposed to move " + answer.Shown(from) + " to " + answer.Shown(to) + "; it is shown there, and people have it at the old path until a person accepts [" + res.Proposal + "]."
	}
	if warning := links.NameWarning(to.Base()); warning != "" && to.Base() != from.Base() {
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

// moveFailure names the path that is taken; the error names the one that was to be moved.
func moveFailure(err error, to model.Path) answer.Result {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, model.ErrConflict) {
		return answer.Refuse("%q exists already. Choose another new_path.", string(to))
	}
	return failure(err)
}

type deleteArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document, or of an empty folder, to delete"`
	Confirm  *bool  `arg:"confirm" doc:"The person has agreed. Needed only where the server asks for approval and cannot ask by itself"`
}

func deleteNote(ctx context.Context, c *tool.Client, a deleteArgs) answer.Result {
	p, err := c.Names.ResolveName(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	info, err := c.Workspace.Stat(ctx, p)
	if err != nil {
		return failure(err)
	}
	kind := map[model.Kind]string{model.KindDir: "folder", model.KindNote: "note", model.KindFile: "file", model.KindLink: "link"}[info.Kind]
	linking := c.Changes.Linking(ctx, p)
	res, err := c.Changes.Remove(ctx, p, kind, linking, a.Confirm)
	if err != nil {
		return failure(err)
	}
	out := "Deleted " + answer.Shown(p) + "."
	if res.Proposal != "" {
		out = "Proposed to delete " + answer.Shown(p) + "; it is not shown any more, and people have it until a person accepts [" + res.Proposal + "]."
	}
	if linking > 0 {
		out += " Warning: " + answer.Count(linking, "document") + " linked to it."
	}
	return answer.Text(out)
}
