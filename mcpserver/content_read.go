package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// defaultSpan is how many lines read_content_lines reads beyond the first.
const defaultSpan = 100

type readContentLinesArgs struct {
	EntityType string `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"What the path is: a note (Markdown), a canvas (JSON Canvas) or a base (YAML)"`
	Path       string `arg:"path" is:"path" need:"true" doc:"Path of the document"`
	StartLine  int    `arg:"start_line" min:"1" def:"1" doc:"First line to read, counted from 1"`
	EndLine    *int   `arg:"end_line" min:"1" doc:"Last line to read, that one included; start_line + 100 if it is left out"`
}

type readContentLinesResult struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines int    `json:"total_lines"`
	Content    string `json:"content" doc:"The lines, each as NUMBER: TEXT"`
}

func readContentLines(ctx context.Context, s *Session, a readContentLinesArgs) (readContentLinesResult, error) {
	d, err := s.document(ctx, a.EntityType, a.Path)
	if err != nil {
		return readContentLinesResult{}, err
	}
	start := orNumber(a.StartLine, 1)
	if a.EndLine == nil {
		end := start + defaultSpan
		a.EndLine = &end
	}
	lines := splitLines(d.text)
	from, to, err := lineRange(start, a.EndLine, len(lines))
	if err != nil {
		return readContentLinesResult{}, err
	}
	s.shownDocument(d)
	numbered := linesThatFit(withNumbers(lines[from:to], from+1))
	return readContentLinesResult{
		Path: string(d.path), StartLine: start, EndLine: from + len(numbered), TotalLines: len(lines), Content: joinLines(numbered),
	}, nil
}

// withNumbers are lines as "40: text", the first with the number n.
func withNumbers(lines []string, n int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strconv.Itoa(n+i) + ": " + l
	}
	return out
}

type getContentArgs struct {
	EntityType string `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"What the path is: a note (Markdown), a canvas (JSON Canvas) or a base (YAML)"`
	Path       string `arg:"path" is:"path" need:"true" doc:"Path of the document"`
}

type getContentResult struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	TotalLines int    `json:"total_lines"`
	Notice     string `json:"notice,omitempty" doc:"What was cut, and how to get the rest"`
}

func getContent(ctx context.Context, s *Session, a getContentArgs) (getContentResult, error) {
	d, err := s.document(ctx, a.EntityType, a.Path)
	if err != nil {
		return getContentResult{}, err
	}
	s.shownDocument(d)
	lines := splitLines(d.text)
	part := linesThatFit(lines)
	res := getContentResult{Path: string(d.path), Content: joinLines(part), TotalLines: len(lines)}
	if len(part) < len(lines) {
		res.Notice = fmt.Sprintf("Lines 1-%d of %d. Call read_content_lines with start_line: %d to see more.", len(part), len(lines), len(part)+1)
	} else if strings.HasSuffix(d.text, "\n") && len(lines) > 0 {
		res.Content += "\n"
	}
	return res, nil
}
