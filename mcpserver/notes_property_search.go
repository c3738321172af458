package mcpserver

import (
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// defaultMatches is how many matches the searches of notes return.
const defaultMatches = 20

type propertySearchArgs struct {
	Properties frontmatter.Properties `arg:"properties" need:"true" doc:"Properties that a note must have, all of them, for example {\"status\": \"open\", \"tags\": [\"work\", \"home\"]}; a list means any of its items"`
	Limit      int                    `arg:"limit" min:"1" def:"20" doc:"Return at most so many notes"`
}

type propertySearchResult struct {
	Properties frontmatter.Properties `json:"properties"`
	Matches    []propertyMatch        `json:"matches"`
	Count      int                    `json:"count" doc:"How many notes match, those beyond the limit included"`
	Notice     string                 `json:"notice,omitempty" doc:"What was cut, and how to get the rest"`
}

type propertyMatch struct {
	Path        string                 `json:"path"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	WordCount   int                    `json:"word_count"`
}

func propertySearch(ctx context.Context, s *Session, a propertySearchArgs) (propertySearchResult, error) {
	if len(a.Properties) == 0 {
		return propertySearchResult{}, wrongArgument("The argument \"properties\" is empty. Give at least one property, or call list_notes for all notes.")
	}
	notes, err := s.server.ws.NotesWith(reporting(ctx), a.Properties)
	if err != nil {
		return propertySearchResult{}, err
	}
	res := propertySearchResult{Properties: a.Properties, Matches: []propertyMatch{}, Count: len(notes)}
	for _, n := range notes[:min(orNumber(a.Limit, defaultMatches), len(notes))] {
		res.Matches = append(res.Matches, propertyMatch{string(n.Path), n.Properties, n.Words})
	}
	if res.Matches = fitting(res.Matches); len(res.Matches) < res.Count {
		res.Notice = fmt.Sprintf("Showing %d of %d notes. Raise limit, or give more properties, to see the rest.", len(res.Matches), res.Count)
	}
	return res, nil
}

// orNumber is n, or def if n was not given.
func orNumber(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}
