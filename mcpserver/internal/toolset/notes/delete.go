package notes

import (
	"context"

	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type deleteNoteArgs struct {
	Path    string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
	Confirm *bool  `arg:"confirm" doc:"The person has agreed. Needed only where the server asks for approval and cannot ask by itself"`
}

type deleteNoteResult struct {
	Path          string `json:"path"`
	Status        string `json:"status" doc:"deleted, or proposed if it waits for a person"`
	HadBacklinks  bool   `json:"had_backlinks"`
	BacklinkCount int    `json:"backlink_count" doc:"How many other notes link to it"`
	Warning       string `json:"warning,omitempty"`
}

func deleteOneNote(ctx context.Context, c *tool.Client, a deleteNoteArgs) (deleteNoteResult, error) {
	var none deleteNoteResult
	p, err := c.Names.ResolveName(ctx, a.Path)
	if err == nil {
		_, err = c.Workspace.Open(ctx, p)
	}
	if err != nil {
		return none, err
	}
	linking := c.Changes.Linking(ctx, p)
	done, err := c.Changes.Remove(ctx, p, "note", linking, a.Confirm)
	if err != nil {
		return none, err
	}
	res := deleteNoteResult{Path: string(p), Status: "deleted", HadBacklinks: linking > 0, BacklinkCount: linking}
	if done.Proposal != "" {
		res.Status = "proposed"
	}
	if linking > 0 {
		res.Warning = change.LinkTo(linking) + " to it; those links lead nowhere without it."
	}
	return res, nil
}
