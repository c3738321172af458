package notes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type listNotesArgs struct {
	Folder      string `arg:"folder" is:"path" doc:"Folder to list. Leave it out for all"`
	FrontMatter bool   `arg:"include_frontmatter" def:"false" doc:"Also return each note's front matter"`
	Recursive   *bool  `arg:"recursive" def:"true" doc:"Also list the contents of subfolders"`
	result.Listing
}

type listNotesResult struct {
	Folder string       `json:"folder"`
	Notes  []listedNote `json:"notes"`
	Count  int          `json:"count" doc:"Number of notes, including those in other answers"`
	result.Page
}

type listedNote struct {
	Path        string                  `json:"path"`
	Name        string                  `json:"name"`
	WordCount   int                     `json:"word_count"`
	Modified    string                  `json:"modified"`
	FrontMatter *frontmatter.Properties `json:"frontmatter,omitempty"`
	Notice      string                  `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
}

func listNotes(ctx context.Context, c *tool.Client, a listNotesArgs) (listNotesResult, error) {
	under, err := c.Resolver.Folder(ctx, "folder", a.Folder, "")
	if err != nil {
		return listNotesResult{}, err
	}
	notes, err := c.Workspace.Notes(ctx, under)
	if err != nil {
		return listNotesResult{}, err
	}
	if a.Recursive != nil && !*a.Recursive {
		notes = slices.DeleteFunc(slices.Clone(notes), func(n *index.NoteInfo) bool { return n.Path.Dir() != under })
	}
	describe := func(n *index.NoteInfo) listedNote { return describeNote(n, a.FrontMatter) }
	res, listed, err := result.List(a.Listing, notes, pathOf, cmp.Compare, len(notes), describe, func(shown []listedNote, page result.Page) listNotesResult {
		return listNotesResult{Folder: string(under), Notes: shown, Count: len(notes), Page: page}
	})
	for i, n := range listed {
		if a.FrontMatter && res.Notes[i].Notice == "" {
			showProperties(ctx, c, n)
		}
	}
	return res, err
}

func pathOf(n *index.NoteInfo) model.Path { return n.Path }

func describeNote(n *index.NoteInfo, properties bool) listedNote {
	l := listedNote{
		Path: string(n.Path), Name: strings.TrimSuffix(n.Path.Base(), model.NoteExt), WordCount: n.Words, Modified: timestamp(n.ModTime),
	}
	if properties {
		fit, notice := thatFit(n.Properties, maxProperties)
		l.FrontMatter, l.Notice = &fit, notice
	}
	return l
}

const defaultMatches = 20

type propertySearchArgs struct {
	Properties frontmatter.Properties `arg:"properties" need:"true" max:"1000" doc:"Properties that a note must have, all of them, for example {\"status\": \"open\", \"tags\": [\"work\", \"home\"]}; a list means any of its items. An object compares: {\"priority\": {\">=\": 2}, \"due\": {\"<\": \"2026-02-01\"}, \"status\": {\"!=\": \"done\"}, \"aliases\": {\"exists\": true}}"`
	Folder     string                 `arg:"folder" is:"path" doc:"Folder of the notes. Default: all notes"`
	Limit      int                    `arg:"limit" is:"bound" min:"1" def:"20" doc:"Maximum number of notes per answer"`
	result.Listing
}

type propertySearchResult struct {
	Properties frontmatter.Properties `json:"properties"`
	Matches    []propertyMatch        `json:"matches"`
	Count      int                    `json:"count" doc:"Number of matching notes, including those in other answers"`
	result.Page
}

type propertyMatch struct {
	Path        string                 `json:"path"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	WordCount   int                    `json:"word_count"`
	Notice      string                 `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
}

func propertySearch(ctx context.Context, c *tool.Client, a propertySearchArgs) (propertySearchResult, error) {
	if len(a.Properties) == 0 {
		return propertySearchResult{}, result.InvalidArgument("The argument \"properties\" is empty. Give at least one property, or call list_notes for all notes.")
	}
	under, err := c.Resolver.Folder(ctx, "folder", a.Folder, "")
	if err != nil {
		return propertySearchResult{}, err
	}
	notes, err := c.Workspace.NotesWith(ctx, a.Properties)
	if err != nil {
		return propertySearchResult{}, err
	}
	notes = slices.DeleteFunc(notes, func(n *index.NoteInfo) bool { return !under.Contains(n.Path) })
	match := func(n *index.NoteInfo) propertyMatch {
		fit, notice := thatFit(n.Properties, maxProperties)
		return propertyMatch{string(n.Path), fit, n.Words, notice}
	}
	res, listed, err := result.List(a.Listing, notes, pathOf, cmp.Compare, cmp.Or(a.Limit, defaultMatches), match, func(matches []propertyMatch, page result.Page) propertySearchResult {
		return propertySearchResult{Properties: a.Properties, Matches: matches, Count: len(notes), Page: page}
	})
	for i, n := range listed {
		if res.Matches[i].Notice == "" {
			showProperties(ctx, c, n)
		}
	}
	return res, err
}
