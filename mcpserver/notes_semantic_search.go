package mcpserver

import (
	"context"
	"math"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// defaultHits is how many notes semantic_search returns.
const defaultHits = 10

type semanticSearchArgs struct {
	Query   string                 `arg:"query" need:"true" doc:"What the notes are to be about, in a few words or a sentence"`
	Filters frontmatter.Properties `arg:"filters" doc:"Properties that a note must have, as for property_search"`
	Limit   int                    `arg:"limit" min:"1" def:"10" doc:"Return at most so many notes"`
}

type semanticSearchResult struct {
	Query   string        `json:"query"`
	Results []semanticHit `json:"results" doc:"The notes that fit best, best first"`
	Count   int           `json:"count"`
}

type semanticHit struct {
	Path        string                 `json:"path"`
	Score       float64                `json:"score" doc:"How well the note fits, from 0 to 1"`
	Snippet     string                 `json:"snippet" doc:"The passage of it that fits best"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	WordCount   int                    `json:"word_count"`
}

func semanticSearch(ctx context.Context, s *Session, a semanticSearchArgs) (semanticSearchResult, error) {
	res := semanticSearchResult{Query: a.Query, Results: []semanticHit{}}
	if a.Query == "" {
		return res, wrongArgument("The argument \"query\" is empty. Say what the notes are to be about.")
	}
	hits, err := s.server.semantic.SearchIn(reporting(ctx), s.server.ws, a.Query, a.Filters, orNumber(a.Limit, defaultHits))
	if err != nil {
		return res, err
	}
	for _, h := range hits {
		res.Results = append(res.Results, semanticHit{string(h.Path), math.Round(h.Score*1e4) / 1e4, h.Snippet, h.Properties, h.Words})
	}
	res.Results = fitting(res.Results)
	res.Count = len(res.Results)
	return res, nil
}
