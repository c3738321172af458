package mcpserver

import (
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge"
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

func deleteOneNote(ctx context.Context, s *Session, a deleteNoteArgs) (deleteNoteResult, error) {
	var none deleteNoteResult
	p, _, err := s.note(ctx, a.Path)
	if err != nil {
		return none, err
	}
	linking := s.linking(ctx, p)
	question := fmt.Sprintf("delete the note %s", p)
	if linking > 0 {
		question += " (" + linkTo(linking) + " to it)"
	}
	if err := s.approve(ctx, opDelete, question, a.Confirm); err != nil {
		return none, err
	}
	done, err := s.server.ws.Remove(ctx, p, bridge.Restructure{By: s.author(), Origin: s})
	if err != nil {
		return none, err
	}
	s.forget(p)
	res := deleteNoteResult{Path: string(p), Status: "deleted", HadBacklinks: linking > 0, BacklinkCount: linking}
	if done.Proposal != "" {
		res.Status = "proposed"
	}
	if linking > 0 {
		res.Warning = linkTo(linking) + " to it; those links lead nowhere without it."
	}
	return res, nil
}

// linkTo is "1 other note links", "2 other notes link".
func linkTo(n int) string {
	if n == 1 {
		return "1 other note links"
	}
	return count(n, "other note") + " link"
}
