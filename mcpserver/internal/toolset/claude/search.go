package claude

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const (
	defaultHits = 10
	maxHits     = 50
)

type searchArgs struct {
	Query      string                 `arg:"query" need:"true" max:"1000" doc:"A question, or some words"`
	Path       string                 `arg:"path" is:"path" doc:"Folder or document; everywhere if left out"`
	Tag        string                 `arg:"tag" doc:"Tag; work also finds work/urgent"`
	Properties frontmatter.Properties `arg:"properties" doc:"Must match, for example {\"status\": \"open\", \"due\": {\"<\": \"2026-02-01\"}}; also !=, <=, >, >=, exists"`
	Since      string                 `arg:"since" max:"40" doc:"Changed since 2026-01-31 or 2026-01-31T08:00:00Z"`
	Author     string                 `arg:"author" doc:"With pending suggestions of this author"`
	Limit      int                    `arg:"limit" is:"bound" min:"1" def:"10" doc:"Documents at a time, 50 at most"`
	result.Listing
}

func searchNotes(ctx context.Context, c *tool.Client, a searchArgs) (result.Result, error) {
	if strings.TrimSpace(a.Query) == "" {
		return result.Result{}, result.InvalidArgument("The argument \"query\" is empty. Say what the documents are about, or call glob to list them.")
	}
	q, err := a.query(ctx, c)
	if err != nil {
		return result.Result{}, err
	}
	var after semantic.Place
	if _, err := a.Decode(&after); err != nil {
		return result.Result{}, err
	}
	found, err := c.Semantic.Find(ctx, c.Workspace, q, after, min(cmp.Or(a.Limit, defaultHits), maxHits))
	if err != nil {
		return result.Result{}, err
	}
	res := result.Text(passages(c, &found)...)
	res.OneBlock = true
	if len(found.Notes) == 0 {
		res.Text = append(res.Text, nothing(ctx, c, q, after, found))
	} else if len(found.Unknown) > 0 {
		res.Text = append(res.Text, fmt.Sprintf("[No document has the words: %s.]", strings.Join(found.Unknown, ", ")))
	}
	if found.Meaning != nil {
		res.Text = append(res.Text, fmt.Sprintf("[Found by words only, because the search by meaning failed: %v. Tell the user.]", found.Meaning))
	}
	if found.More {
		last := found.Notes[len(found.Notes)-1]
		a.Continue(&res, semantic.Place{Path: last.Path, Number: after.Number + len(found.Notes)}, fmt.Sprintf("Showing %s; there are more.", result.Count(len(found.Notes), "document")))
	}
	return res, nil
}

func (a searchArgs) query(ctx context.Context, c *tool.Client) (q semantic.Query, err error) {
	q = semantic.Query{Text: a.Query, Filter: a.Properties}
	if q.Under, err = c.Resolver.Place(ctx, a.Path); err != nil {
		return q, err
	}
	if a.Tag != "" {
		q.Filter = append(q.Filter[:len(q.Filter):len(q.Filter)], frontmatter.Property{Key: "tags", Value: a.Tag})
	}
	if a.Since != "" {
		if q.Since, err = time.Parse(time.RFC3339, a.Since); err != nil {
			q.Since, err = time.ParseInLocation(time.DateOnly, a.Since, time.Local)
		}
		if err != nil {
			return q, result.InvalidArgument("The argument \"since\" is %q, and must be a date like 2026-01-31 or a time like 2026-01-31T08:00:00Z.", a.Since)
		}
	}
	if a.Author != "" {
		list, err := c.Workspace.Suggestions(ctx, q.Under)
		if err != nil {
			return q, err
		}
		ofOthers := make(map[model.Path]bool)
		for _, s := range list {
			ofOthers[s.Path] = ofOthers[s.Path] || strings.EqualFold(s.Author, a.Author)
		}
		q.Only = func(p model.Path) bool { return ofOthers[p] }
	}
	return q, nil
}

// passages formats as many of the found notes as fit, records their passages as read, and removes the other notes from
// found.
func passages(c *tool.Client, found *semantic.Answer) []string {
	var blocks []string
	var shown []session.Passage
	cost := result.ProtocolOverhead + 6000 // reserved for notices
	for i, f := range found.Notes {
		block := result.Escape(f.Path)
		if title := f.Title(); title != "" {
			block += " (" + result.OneLine(title) + ")"
		}
		block += "\n" + numberedPart(f)
		if cost += result.TextCost(block) + 8; cost > result.Max && i > 0 {
			found.Notes, found.More = found.Notes[:i], true
			break
		}
		blocks = append(blocks, block)
		shown = append(shown, session.Passage{Path: f.Path, Version: f.Version, Range: textrange.Range{Start: f.Start, End: f.End}})
	}
	session.RecordFound(c.Session, shown)
	return blocks
}

// numberedPart formats a passage as the tool read does, and marks omitted parts of lines.
func numberedPart(f semantic.Found) string {
	text := f.Text
	lines := textrange.SplitLines(text[f.Start:f.End])
	if n := len(lines); n > 0 {
		if f.End < len(text) && !strings.HasPrefix(text[f.End:], "\n") && !strings.HasPrefix(text[f.End:], "\r") {
			lines[n-1] += " " + result.Ellipsis
		}
		if f.Start > 0 && text[f.Start-1] != '\n' {
			lines[0] = result.Ellipsis + " " + lines[0]
		}
	}
	first := textrange.LineOf(text, f.Start)
	for i := range lines {
		lines[i] = fmt.Sprintf("%6d\t%s", first+i, lines[i])
	}
	return strings.Join(lines, "\n")
}

// nothing returns a sentence that explains an empty result, with documents that other filters would find.
func nothing(ctx context.Context, c *tool.Client, q semantic.Query, after semantic.Place, a semantic.Answer) string {
	if after != (semantic.Place{}) {
		return "No more documents found"
	}
	say := []string{"No documents found"}
	if len(a.Tried) == 0 {
		return say[0] + ": the query has no words, or only words that most texts contain. Add words, or call grep with the exact words."
	}
	say[0] += fmt.Sprintf(" for the words %s (in any form, in compounds, with one typo) or by meaning, among %s.", strings.Join(a.Tried, ", "), result.Count(a.Among, "document"))
	if all, err := c.Semantic.Find(ctx, c.Workspace, semantic.Query{Text: q.Text}, after, 3); err == nil && len(all.Notes) > 0 {
		var paths []string
		for _, f := range all.Notes {
			paths = append(paths, result.Escape(f.Path))
		}
		say = append(say, "Without path, tag, properties, since and author there are "+strings.Join(paths, ", ")+".")
	}
	return strings.Join(append(say, "Try other words, or call grep for an exact text."), " ")
}
