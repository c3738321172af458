package notes

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const aroundMatch = 2

const patternPrefix = "regex:"

type textSearchArgs struct {
	Query      string `arg:"query" need:"true" max:"1000" doc:"Text to find within a line, or regex: and a regular expression in RE2 syntax"`
	Folder     string `arg:"folder" is:"path" doc:"Folder to search in. Leave it out to search everywhere"`
	IgnoreCase *bool  `arg:"case_insensitive" def:"true" doc:"Ignore case"`
	Limit      int    `arg:"limit" is:"bound" min:"1" def:"20" doc:"Maximum number of matches per answer"`
	result.Listing
}

type textSearchResult struct {
	Query     string      `json:"query"`
	Matches   []textMatch `json:"matches"`
	Count     int         `json:"count" doc:"Number of returned matches"`
	Truncated bool        `json:"truncated" doc:"Whether there are more"`
	Skipped   string      `json:"skipped,omitempty" doc:"Files that were not searched, and why"`
	result.Page
}

type textMatch struct {
	Path          string   `json:"path"`
	LineNumber    int      `json:"line_number"`
	LineContent   string   `json:"line_content"`
	ContextBefore []string `json:"context_before"`
	ContextAfter  []string `json:"context_after"`
}

func textSearch(ctx context.Context, c *tool.Client, a textSearchArgs) (textSearchResult, error) {
	if a.Query == "" || a.Query == patternPrefix {
		return textSearchResult{}, result.InvalidArgument("The argument \"query\" is empty. Give the text to find.")
	}
	under, err := c.Resolver.Folder(ctx, "folder", a.Folder, "")
	if err != nil {
		return textSearchResult{}, err
	}
	expr, isPattern := strings.CutPrefix(a.Query, patternPrefix)
	if !isPattern {
		expr = regexp.QuoteMeta(a.Query)
	}
	pattern, err := grep.Compile(expr, grep.Options{IgnoreCase: a.IgnoreCase == nil || *a.IgnoreCase})
	if err != nil {
		return textSearchResult{}, search.NamedPattern("query", search.ByLine, err)
	}
	job := search.LineSearch{Pattern: pattern, Under: under, Wanted: model.Path("").Contains}
	return search.Structured(ctx, c.Index, c.Session, job, a.Listing, cmp.Or(a.Limit, defaultMatches), func(f search.FoundLine) textMatch {
		before, after := f.Context(aroundMatch, func(_ int, line string) string { return line })
		return textMatch{string(f.Path), f.Number, f.Text, before, after}
	}, func(matches []textMatch, _ int, more bool, skipped string, page result.Page) textSearchResult {
		return textSearchResult{Query: a.Query, Matches: matches, Count: len(matches), Truncated: more, Page: page, Skipped: skipped}
	})
}

const defaultHits = 10

type semanticSearchArgs struct {
	Query   string                 `arg:"query" need:"true" max:"1000" doc:"Subject of the notes, in a few words or a sentence"`
	Filters frontmatter.Properties `arg:"filters" doc:"Properties that a note must have, as for property_search"`
	Limit   int                    `arg:"limit" is:"bound" min:"1" def:"10" doc:"Maximum number of notes per answer"`
	result.Listing
}

type semanticSearchResult struct {
	Query   string        `json:"query"`
	Results []semanticHit `json:"results" doc:"The most relevant notes, best first"`
	Count   int           `json:"count"`
	result.Page
}

type semanticHit struct {
	Path        string                 `json:"path"`
	Score       float64                `json:"score" doc:"Relevance relative to the other results, from 0 to 1"`
	Snippet     string                 `json:"snippet" doc:"The most relevant part"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	WordCount   int                    `json:"word_count"`
	Notice      string                 `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
}

func semanticSearch(ctx context.Context, c *tool.Client, a semanticSearchArgs) (semanticSearchResult, error) {
	if a.Query == "" {
		return semanticSearchResult{}, result.InvalidArgument("The argument \"query\" is empty. Give the subject of the notes.")
	}
	var after semantic.Place
	if _, err := a.Decode(&after); err != nil {
		return semanticSearchResult{}, err
	}
	limit := min(cmp.Or(a.Limit, defaultHits), result.Max/20)
	found, err := c.Semantic.Find(ctx, c.Workspace, semantic.Query{Text: a.Query, Filter: a.Filters}, after, limit+1)
	if err == nil {
		err = found.Meaning
	}
	if err != nil {
		return semanticSearchResult{}, err
	}
	hits := found.Notes
	place := func(i int) any { return semantic.Place{Path: hits[i].Path, Number: after.Number + i + 1} }
	show := func(f semantic.Found) semanticHit {
		fit, notice := thatFit(f.Properties, maxProperties)
		snippet := strings.Join(strings.Fields(f.Text[f.Start:f.End]), " ")
		return semanticHit{string(f.Path), math.Round(f.Score*1e4) / 1e4, snippet, fit, f.Words, notice}
	}
	return result.FitList(a.Listing, hits, limit, place, show, func(results []semanticHit, page result.Page) semanticSearchResult {
		return semanticSearchResult{Query: a.Query, Results: results, Count: len(results), Page: page}
	}), nil
}
