package content

import (
	"cmp"
	"context"

	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const defaultMatches = 20

const contextLines = 3

type searchContentArgs struct {
	Pattern      string        `arg:"pattern" need:"true" max:"10000" doc:"Regular expression to search for, in RE2 syntax"`
	EntityType   filetype.Type `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"Type of the documents to search: notes (Markdown), canvases (JSON Canvas) or bases (YAML)"`
	Path         string        `arg:"path" is:"path" doc:"Document to search in. Leave it out to search all"`
	Folder       string        `arg:"folder" is:"path" doc:"Folder to search in"`
	ContextLines *int          `arg:"context_lines" min:"0" def:"3" doc:"Lines to show before and after each match"`
	MaxResults   int           `arg:"max_results" is:"bound" min:"1" def:"20" doc:"Maximum number of matches per answer"`
	result.Listing
}

type searchContentResult struct {
	Matches      []contentMatch `json:"matches"`
	TotalMatches int            `json:"total_matches" doc:"Number of matching lines, including those in other answers"`
	Truncated    bool           `json:"truncated" doc:"Whether there are more"`
	Skipped      string         `json:"skipped,omitempty" doc:"Files that were not searched, and why"`
	result.Page
}

type contentMatch struct {
	Path          string   `json:"path"`
	LineNumber    int      `json:"line_number"`
	Match         string   `json:"match" doc:"The line"`
	ContextBefore []string `json:"context_before" doc:"Lines before the match, each as NUMBER: TEXT"`
	ContextAfter  []string `json:"context_after"`
}

func searchContent(ctx context.Context, c *tool.Client, a searchContentArgs) (searchContentResult, error) {
	under, err := searchedPlace(ctx, c, a)
	if err != nil {
		return searchContentResult{}, err
	}
	pattern, err := grep.Compile(a.Pattern, grep.Options{})
	if err != nil {
		return searchContentResult{}, search.NamedPattern("pattern", search.ByLine, err)
	}
	around := *cmp.Or(a.ContextLines, new(contextLines))
	job := search.LineSearch{Pattern: pattern, Under: under, All: true, Wanted: func(p model.Path) bool { return filetype.TypeOf(string(p)) == a.EntityType }}
	return search.Structured(ctx, c.Index, c.Session, job, a.Listing, cmp.Or(a.MaxResults, defaultMatches), func(f search.FoundLine) contentMatch {
		before, after := f.Context(around, numberedLine)
		return contentMatch{string(f.Path), f.Number, f.Text, before, after}
	}, func(matches []contentMatch, total int, more bool, skipped string, page result.Page) searchContentResult {
		return searchContentResult{Matches: matches, TotalMatches: total, Truncated: more, Page: page, Skipped: skipped}
	})
}

func searchedPlace(ctx context.Context, c *tool.Client, a searchContentArgs) (model.Path, error) {
	folder, err := c.Resolver.Folder(ctx, "folder", a.Folder, "")
	if err != nil || a.Path == "" {
		return folder, err
	}
	p, err := find(ctx, c, a.EntityType, a.Path)
	if err == nil && !folder.Contains(p) {
		err = result.InvalidArgument("The argument \"path\" is %q, which is not in the folder %q.", string(p), string(folder))
	}
	return p, err
}
