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
	Path   string `arg:"path" doc:"Folder or document. Leave it out for all"`
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
	if a.Author != "" {
		list = slices.DeleteFunc(list, func(sg bridge.Suggestion) bool { return !strings.EqualFold(sg.Author, a.Author) })
	}
	if len(list) == 0 {
		return text("No pending suggestions")
	}
	limit := a.Limit
	if limit == 0 {
		limit = defaultSuggestions
	}
	var lines []string
	for _, sg := range list[:min(limit, len(list))] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s [%s]", shown(sg.Path), sg.Line, describe(sg), sg.ID))
	}
	out, n := joinBounded(lines, maxOutput)
	if n < len(list) {
		out += fmt.Sprintf("\n(Showing %d of %d suggestions. Raise limit, or give a path or an author, to see the rest.)", n, len(list))
	}
	return text(out)
}
