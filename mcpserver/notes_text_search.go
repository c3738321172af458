package mcpserver

import (
	"context"
	"regexp"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
)

// aroundMatch is how many lines text_search shows before and after a match.
const aroundMatch = 2

// patternPrefix makes a query of text_search a regular expression.
const patternPrefix = "regex:"

type textSearchArgs struct {
	Query      string `arg:"query" need:"true" doc:"Text to find within a line, or regex: and a regular expression in RE2 syntax"`
	Folder     string `arg:"folder" is:"path" doc:"Folder to search in. Leave it out to search everywhere"`
	IgnoreCase *bool  `arg:"case_insensitive" def:"true" doc:"Ignore case"`
	Limit      int    `arg:"limit" min:"1" def:"20" doc:"Return at most so many matches"`
}

type textSearchResult struct {
	Query     string      `json:"query"`
	Matches   []textMatch `json:"matches"`
	Count     int         `json:"count" doc:"How many matches are returned"`
	Truncated bool        `json:"truncated" doc:"There are more: raise limit, give a folder, or search for something rarer"`
}

type textMatch struct {
	Path          string   `json:"path"`
	LineNumber    int      `json:"line_number"`
	LineContent   string   `json:"line_content"`
	ContextBefore []string `json:"context_before"`
	ContextAfter  []string `json:"context_after"`
}

func textSearch(ctx context.Context, s *Session, a textSearchArgs) (textSearchResult, error) {
	res := textSearchResult{Query: a.Query, Matches: []textMatch{}}
	if a.Query == "" || a.Query == patternPrefix {
		return res, wrongArgument("The argument \"query\" is empty. Give the text to find.")
	}
	under, err := s.noteFolder(ctx, a.Folder)
	if err != nil {
		return res, err
	}
	pattern, err := compileQuery(a)
	if err != nil {
		return res, err
	}
	limit := orNumber(a.Limit, defaultMatches)
	found, total, err := s.searchLines(ctx, lineSearch{pattern: pattern, under: under, around: aroundMatch, keep: limit, enough: limit + 1})
	if err != nil {
		return res, err
	}
	for _, l := range found {
		res.Matches = append(res.Matches, textMatch{string(l.path), l.number, l.text, l.before, l.after})
	}
	res.Matches = fitting(res.Matches)
	res.Count, res.Truncated = len(res.Matches), len(res.Matches) < total
	return res, nil
}

func compileQuery(a textSearchArgs) (*grep.Pattern, error) {
	pattern, isPattern := strings.CutPrefix(a.Query, patternPrefix)
	if !isPattern {
		pattern = regexp.QuoteMeta(a.Query)
	}
	p, err := grep.Compile(pattern, grep.Options{IgnoreCase: a.IgnoreCase == nil || *a.IgnoreCase})
	return p, namedPattern("query", err)
}
