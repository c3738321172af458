package notes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type outlineResult struct {
	Path        string                 `json:"path"`
	TotalLines  int                    `json:"total_lines"`
	WordCount   int                    `json:"word_count"`
	SizeBytes   int                    `json:"size_bytes"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	Tags        []string               `json:"tags"`
	Lines       []outlineLine          `json:"lines" doc:"Headings and tasks, as written in the note"`
	Links       []string               `json:"links" doc:"Documents that the note links to"`
	Backlinks   []string               `json:"backlinks" doc:"Documents that link to it"`
	Unresolved  []string               `json:"unresolved" doc:"Broken links"`
	Notice      string                 `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
}

type outlineLine struct {
	Line int    `json:"line"`
	Kind string `json:"kind" doc:"heading or task"`
	Text string `json:"text" doc:"The whole line"`
}

// maxOutlined is the maximum number of lines in a result, and also of links of each kind.
const maxOutlined = 400

func outlineNote(ctx context.Context, c *tool.Client, a noteArgs) (outlineResult, error) {
	p, v, err := c.Resolver.Note(ctx, a.Path)
	if err != nil {
		return outlineResult{}, err
	}
	links, err := c.Workspace.Links(ctx, p)
	if err != nil {
		return outlineResult{}, err
	}
	text, _ := v.Decoded()
	info := index.NewNoteInfo(p, v)
	properties, notice := thatFit(info.Properties, maxProperties)
	all := outlineResult{
		Path: string(p), TotalLines: textrange.CountLines(text), WordCount: info.Words, SizeBytes: int(info.Size), FrontMatter: properties,
		Tags: append([]string{}, info.Tags...), Lines: outlineLines(info, text),
		Links: result.Strings(links.Forward), Backlinks: result.Strings(links.Backlinks), Unresolved: append([]string{}, links.Unresolved...), Notice: notice,
	}
	res := result.Fit(maxOutlined, func(n int) outlineResult { return all.first(n, a.Path) })
	if notice == "" {
		showProperties(ctx, c, info)
	}
	text = strings.TrimPrefix(text, textrange.BOM)
	places := textrange.Lines(text)
	var shown []session.Passage
	for _, l := range res.Lines {
		if at := places[l.Line-1]; strings.TrimRight(text[at.Start:at.End], "\r\n") == l.Text {
			shown = append(shown, session.Passage{Path: p, Version: v, Range: at})
		}
	}
	session.RecordFound(c.Session, shown)
	return res, nil
}

func outlineLines(info *index.NoteInfo, text string) []outlineLine {
	lines := textrange.SplitLines(text)
	out := []outlineLine{}
	add := func(line int, kind string) {
		text, cut := result.Truncate(lines[line-1], result.MaxLine)
		if cut {
			text += "... [line cut]"
		}
		out = append(out, outlineLine{line, kind, text})
	}
	for _, h := range info.Headings {
		if h.Line > 0 {
			add(h.Line, "heading")
		}
	}
	for _, t := range info.Tasks {
		add(t.Line, "task")
	}
	slices.SortStableFunc(out, func(a, b outlineLine) int { return a.Line - b.Line })
	return out
}

func (r outlineResult) first(n int, path string) outlineResult {
	cut := 0
	for _, list := range []*[]string{&r.Tags, &r.Links, &r.Backlinks, &r.Unresolved} {
		cut += max(0, len(*list)-n)
		*list = (*list)[:min(n, len(*list))]
	}
	if left := len(r.Lines) - n; left > 0 {
		r.Lines = r.Lines[:n]
		r.Notice = strings.TrimSpace(fmt.Sprintf("%s %s left out: search for \"regex:^(#|\\s*[-*+] \\[)\" with text_search in %q.", r.Notice, result.Count(left, "line"), path))
	}
	if cut > 0 {
		r.Notice = strings.TrimSpace(fmt.Sprintf("%s %s left out.", r.Notice, result.Count(cut, "tag or link")))
	}
	return r
}

type appendArgs struct {
	Path    string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
	Content string `arg:"content" need:"true" doc:"What to add, as plain Markdown"`
	Section string `arg:"section" doc:"Heading (## Plan, or Project::Plan below another) or block id (^id) at whose end the text is added. A missing heading is created. Leave it out for the end of the note"`
}

type appendResult struct {
	Path   string `json:"path"`
	Status string `json:"status" doc:"updated"`
	Notice string `json:"notice,omitempty" doc:"More information about the change"`
}

func appendNote(ctx context.Context, c *tool.Client, a appendArgs) (appendResult, error) {
	if strings.TrimSpace(a.Content) == "" {
		return appendResult{}, result.InvalidArgument("The argument \"content\" is empty. Give the text to add.")
	}
	p, err := c.Resolver.Resolve(ctx, a.Path)
	if err != nil {
		return appendResult{}, err
	}
	res, made, err := c.Changes.Append(ctx, p, a.Section, a.Content, "content")
	if err != nil {
		return appendResult{}, err
	}
	notice := res.Notice()
	if made != "" {
		notice = strings.TrimSpace(fmt.Sprintf("There was no section %q: the heading %q was added. %s", result.OneLine(a.Section), result.OneLine(made), notice))
	}
	return appendResult{Path: string(p), Status: "updated", Notice: notice}, nil
}
