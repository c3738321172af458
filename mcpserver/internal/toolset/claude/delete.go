package claude

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

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
