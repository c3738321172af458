package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
)

// defaultSuggestions is how many suggestions are listed.
const defaultSuggestions = 100

type listSuggestionsArgs struct {
	Path   string `arg:"path" is:"path" doc:"Folder or document. Leave it out for all"`
	Author string `arg:"author" doc:"List only suggestions of this author"`
	Limit  int    `arg:"limit" min:"1" def:"100" doc:"List at most so many"`
}

func listSuggestions(ctx context.Context, s *Session, a listSuggestionsArgs) Result {
	under, err := s.folder(ctx, a.Path, true)
	if err != nil {
		return failure(err)
	}
	list, err := s.server.ws.Suggestions(ctx, under)
	if err != nil {
		return failure(err)
	}
	proposals, err := s.server.ws.Proposals(ctx, under)
	if err != nil {
		return failure(err)
	}
	if a.Author != "" {
		list = slices.DeleteFunc(list, func(sg bridge.Suggestion) bool { return !strings.EqualFold(sg.Author, a.Author) })
		proposals = slices.DeleteFunc(proposals, func(p bridge.Proposal) bool { return !strings.EqualFold(p.Author, a.Author) })
	}
	var lines []string
	for _, p := range proposals {
		lines = append(lines, describeProposal(p))
	}
	for _, sg := range list {
		lines = append(lines, fmt.Sprintf("%s:%d: %s [%s]", shown(sg.Path), sg.Line, describe(sg), sg.ID))
	}
	if len(lines) == 0 {
		return text("No pending suggestions")
	}
	limit := a.Limit
	if limit == 0 {
		limit = defaultSuggestions
	}
	out, n := joinBounded(lines[:min(limit, len(lines))], maxOutput)
	if n < len(lines) {
		out += fmt.Sprintf("\n(Showing %d of %d suggestions. Raise limit, or give a path or an author, to see the rest.)", n, len(lines))
	}
	return text(out)
}

// describeProposal tells of a proposal on one line.
func describeProposal(p bridge.Proposal) string {
	line := fmt.Sprintf("%s: %s", p.Path, p.Kind)
	switch {
	case p.Kind == bridge.ProposedRename:
		line += " to " + string(p.NewPath)
	case p.Kind == bridge.ProposedFile && p.Old == nil:
		line += ", new"
	}
	if p.Author != "" {
		line += " (" + p.Author + ")"
	}
	if p.Stale {
		line += ", changed since"
	}
	return oneLine(line) + " [" + p.ID + "]"
}
