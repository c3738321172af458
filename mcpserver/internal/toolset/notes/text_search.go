package notes

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/cursor"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// aroundMatch is how many lines text_search shows before and after a match.
const aroundMatch = 2

// patternPrefix makes a query of text_search a regular expression.
const patternPrefix = "regex:"

type textSearchArgs struct {
	Query      string `arg:"query" need:"true" max:"1000" doc:"Text to find within a line, or regex: and a regular expression in RE2 syntax"`
	Folder     string `arg:"folder" is:"path" doc:"Folder to search in. Leave it out to search everywhere"`
	IgnoreCase *bool  `arg:"case_insensitive" def:"true" doc:"Ignore case"`
	Limit      int    `arg:"limit" min:"1" def:"20" doc:"Return at most so many matches at a time"`
	Cursor     string `arg:"cursor" doc:"next_cursor of the answer before, to go on after it"`
}

type textSearchResult struct {
	Query     string      `json:"query"`
	Matches   []textMatch `json:"matches"`
	Count     int         `json:"count" doc:"How many matches are returned"`
	Truncated bool        `json:"truncated" doc:"There are more"`
	cursor.Page
}

type textMatch struct {
	Path          string   `json:"path"`
	LineNumber    int      `json:"line_number"`
	LineContent   string   `json:"line_content"`
	ContextBefore []string `json:"context_before"`
	ContextAfter  []string `json:"context_after"`
}

func textSearch(ctx context.Context, c *tool.Client, a textSearchArgs) (textSearchResult, error) {
	res := textSearchResult{Query: a.Query, Matches: []textMatch{}}
	if a.Query == "" || a.Query == patternPrefix {
		return res, answer.WrongArgument("The argument \"query\" is empty. Give the text to find.")
	}
	under, err := c.Names.NoteFolder(ctx, a.Folder)
	if err != nil {
		return res, err
	}
	pattern, err := compileQuery(a)
	if err != nil {
		return res, err
	}
	of := a
	of.Cursor, of.Limit = "", 0
	l := cursor.Of("text_search", of)
	limit := min(cmp.Or(a.Limit, defaultMatches), answer.Max/20)
	job := search.LineSearch{Pattern: pattern, Under: under, Keep: limit + 1}
	if job.After, err = l.Reached(a.Cursor); err != nil {
		return res, err
	}
	found, _, err := job.Notes(ctx, c.Index)
	if err != nil {
		return res, err
	}
	matches := search.WhileTheyFit(found, limit, func(f search.FoundLine) textMatch {
		before, after := f.Context(aroundMatch, plainLine)
		return textMatch{string(f.Path), f.Number, f.Text, before, after}
	})
	build := func(n int) textSearchResult {
		res := textSearchResult{Query: a.Query, Matches: matches[:n], Count: n, Truncated: n < len(found)}
		if res.Truncated {
			res.NextCursor = l.Cursor(found[n-1].Reached())
		}
		return res
	}
	return build(answer.MostThatFit(len(matches), func(n int) any { return build(n) })), nil
}

func compileQuery(a textSearchArgs) (*grep.Pattern, error) {
	pattern, isPattern := strings.CutPrefix(a.Query, patternPrefix)
	if !isPattern {
		pattern = regexp.QuoteMeta(a.Query)
	}
	p, err := grep.Compile(pattern, grep.Options{IgnoreCase: a.IgnoreCase == nil || *a.IgnoreCase})
	return p, search.NamedPattern("query", err)
}

// plainLine shows a line of context as it is.
func plainLine(_ int, line string) string { return line }
