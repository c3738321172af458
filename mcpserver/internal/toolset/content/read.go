package content

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const defaultSpan = 100

type readContentLinesArgs struct {
	documentArgs
	StartLine int  `arg:"start_line" min:"1" def:"1" doc:"First line to read, counted from 1"`
	EndLine   *int `arg:"end_line" min:"1" doc:"Last line to read (inclusive); start_line + 100 if it is left out"`
	Column    int  `arg:"column" min:"1" doc:"Character of start_line to begin at, counted from 1, for lines that are too long for one answer"`
}

type readContentLinesResult struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines int    `json:"total_lines"`
	Content    string `json:"content" doc:"The lines, each as NUMBER: TEXT"`
	Notice     string `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
}

func readContentLines(ctx context.Context, c *tool.Client, a readContentLinesArgs) (readContentLinesResult, error) {
	d, err := a.open(ctx, c)
	if err != nil {
		return readContentLinesResult{}, err
	}
	start := cmp.Or(a.StartLine, 1)
	const margin = 12 // cost of the line number
	w, notice, err := c.Show(d, textrange.Position{Line: start, Column: a.Column}, a.EndLine, defaultSpan, margin, "read_content_lines")
	if err != nil {
		return readContentLinesResult{}, err
	}
	lines := make([]string, len(w.Lines))
	for i, l := range w.Lines {
		lines[i] = numberedLine(start+i, l)
	}
	return readContentLinesResult{
		Path: string(d.Path), StartLine: start, EndLine: start + len(lines) - 1, TotalLines: w.Total, Content: strings.Join(lines, "\n"), Notice: notice,
	}, nil
}

func numberedLine(n int, line string) string { return strconv.Itoa(n) + ": " + line }

type getContentResult struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	TotalLines int    `json:"total_lines"`
	Notice     string `json:"notice,omitempty" doc:"Omitted parts, and how to get them"`
}

func getContent(ctx context.Context, c *tool.Client, a documentArgs) (getContentResult, error) {
	d, err := a.open(ctx, c)
	if err != nil {
		return getContentResult{}, err
	}
	w, notice, err := c.Show(d, textrange.Position{}, nil, math.MaxInt, 0, "read_content_lines")
	if err != nil {
		return getContentResult{}, err
	}
	return getContentResult{Path: string(d.Path), Content: w.Content(), TotalLines: w.Total, Notice: notice}, nil
}
