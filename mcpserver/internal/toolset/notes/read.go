package notes

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type readNoteArgs struct {
	Path      string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
	StartLine int    `arg:"start_line" min:"1" doc:"First line to read, counted from 1"`
	EndLine   *int   `arg:"end_line" min:"1" doc:"Last line to read (inclusive)"`
	Column    int    `arg:"column" min:"1" doc:"Character of start_line to begin at, counted from 1, for lines that are too long for one answer"`
}

type readNoteResult struct {
	Path          string `json:"path"`
	Content       string `json:"content"`
	TotalLines    int    `json:"total_lines"`
	LinesReturned int    `json:"lines_returned"`
	Notice        string `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
}

func readNote(ctx context.Context, c *tool.Client, a readNoteArgs) (readNoteResult, error) {
	p, v, err := c.Resolver.Note(ctx, a.Path)
	if err != nil {
		return readNoteResult{}, err
	}
	begin := textrange.Position{Line: a.StartLine, Column: a.Column}
	w, notice, err := c.Show(document.OfNote(p, v), begin, a.EndLine, math.MaxInt, 0, "read_note")
	if err != nil {
		return readNoteResult{}, err
	}
	return readNoteResult{Path: string(p), Content: w.Content(), TotalLines: w.Total, LinesReturned: len(w.Lines), Notice: notice}, nil
}

type noteArgs struct {
	Path string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
}

type readMetadataResult struct {
	Path        string                 `json:"path"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	Stats       noteStats              `json:"stats"`
	Modified    string                 `json:"modified" doc:"When the note last changed (RFC 3339)"`
	Error       string                 `json:"frontmatter_error,omitempty" doc:"Why the front matter cannot be read; it is then returned as empty"`
	Notice      string                 `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
	TooDeep     string                 `json:"body_error,omitempty" doc:"Why a part of the body was read as plain text"`
}

type noteStats struct {
	WordCount      int `json:"word_count"`
	CharCount      int `json:"char_count"`
	HeadingCount   int `json:"heading_count"`
	CodeBlockCount int `json:"code_block_count"`
	WikilinkCount  int `json:"wikilink_count"`
}

func readMetadata(ctx context.Context, c *tool.Client, a noteArgs) (readMetadataResult, error) {
	p, err := c.Resolver.Resolve(ctx, a.Path)
	if err != nil {
		return readMetadataResult{}, err
	}
	n, err := c.Workspace.NoteInfo(ctx, p)
	if err != nil {
		return readMetadataResult{}, err
	}
	properties, notice := thatFit(n.Properties, result.Max-4000-result.StructuredCost(string(p)))
	res := readMetadataResult{
		Path: string(p), FrontMatter: properties, Notice: notice, Modified: timestamp(n.ModTime),
		Stats: noteStats{n.Words, n.Chars, len(n.Headings), n.CodeBlocks, n.Wikilinks},
	}
	if notice == "" {
		showProperties(ctx, c, n)
	}
	if n.Invalid != nil {
		res.Error = n.Invalid.Error()
	}
	if n.TooDeep != nil {
		res.TooDeep = n.TooDeep.Error()
	}
	return res, nil
}

// showProperties records the front matter of a note as read, except its comments. It does nothing if the front matter
// has changed.
func showProperties(ctx context.Context, c *tool.Client, n *index.NoteInfo) {
	v, err := c.Workspace.Open(ctx, n.Path)
	if err != nil {
		return
	}
	text, _ := v.Decoded()
	_, body, _ := frontmatter.Split(text)
	now, err := frontmatter.Parse(text)
	if err != nil || result.PlainJSON(now) != result.PlainJSON(n.Properties) {
		return
	}
	c.Session.RecordRead(document.OfNote(n.Path, v), besidesComments(text, textrange.Range{Start: 0, End: body})...)
}

func besidesComments(text string, in textrange.Range) (parts []textrange.Range) {
	for _, comment := range frontmatter.Comments(text) {
		if comment.From >= in.Start && comment.From < in.End {
			parts = append(parts, textrange.Range{Start: in.Start, End: comment.From})
			in.Start = comment.To
		}
	}
	return append(parts, in)
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// maxProperties is the maximum cost of the front matter of a note in a list.
const maxProperties = 6000

// thatFit returns the properties that fit into limit, and a notice about the other properties.
func thatFit(all frontmatter.Properties, limit int) (fit frontmatter.Properties, notice string) {
	if result.StructuredCost(all) <= limit {
		return all, ""
	}
	fit = frontmatter.Properties{}
	left := 0
	var names []string
	for _, e := range all {
		if cost := result.StructuredCost(frontmatter.Properties{e}); cost <= limit-400 {
			fit, limit = append(fit, e), limit-cost
			continue
		}
		if left++; left <= 3 && len(e.Key) <= 60 {
			names = append(names, e.Key)
		}
	}
	count := "1 property"
	if left != 1 {
		count = fmt.Sprintf("%d properties", left)
	}
	return fit, fmt.Sprintf("%s left out for length (%s). Read the note to see the rest.", count, strings.Join(append(names, "..."), ", "))
}
