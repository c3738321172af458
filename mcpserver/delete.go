package mcpserver

import (
	"context"

	"github.com/relayfs/relayfs/bridge"
)

type deleteArgs struct {
	FilePath string `arg:"file_path" is:"path" need:"true" doc:"Path of the document, or of an empty folder, to delete"`
}

func deleteNote(ctx context.Context, s *Session, a deleteArgs) Result {
	p, err := s.resolve(ctx, a.FilePath)
	if err != nil {
		return failure(err)
	}
	linking := s.linking(ctx, p)
	res, err := s.server.ws.Remove(ctx, p, bridge.Restructure{By: s.author(), Origin: s})
	if err != nil {
		return failure(err)
	}
	s.forget(p)
	out := "Deleted " + shown(p) + "."
	if res.Proposal != "" {
		out = "Proposed to delete " + shown(p) + "; it is not shown any more, and people have it until a person accepts [" + res.Proposal + "]."
	}
	if linking > 0 {
		out += " Warning: " + count(linking, "document") + " linked to it."
	}
	return text(out)
}
