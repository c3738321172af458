package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

type readNoteArgs struct {
	Path      string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
	StartLine int    `arg:"start_line" min:"1" doc:"First line to read, counted from 1"`
	EndLine   *int   `arg:"end_line" min:"1" doc:"Last line to read, that one included"`
}

type readNoteResult struct {
	Path          string `json:"path"`
	Content       string `json:"content"`
	TotalLines    int    `json:"total_lines"`
	LinesReturned int    `json:"lines_returned"`
	Notice        string `json:"notice,omitempty" doc:"What was cut, and how to get the rest"`
}

func readNote(ctx context.Context, s *Session, a readNoteArgs) (readNoteResult, error) {
	p, v, err := s.note(ctx, a.Path)
	if err != nil {
		return readNoteResult{}, err
	}
	lines := splitLines(v.Text())
	from, to, err := lineRange(a.StartLine, a.EndLine, len(lines))
	if err != nil {
		return readNoteResult{}, err
	}
	part := linesThatFit(lines[from:to])
	s.show(p, v)
	res := readNoteResult{Path: string(p), Content: joinLines(part), TotalLines: len(lines), LinesReturned: len(part)}
	if from+len(part) == len(lines) && len(part) > 0 && strings.HasSuffix(v.Text(), "\n") {
		res.Content += "\n"
	}
	if len(part) < to-from {
		res.Notice = fmt.Sprintf("Lines %d-%d of %d. Call read_note with start_line: %d to see more.", from+1, from+len(part), len(lines), from+len(part)+1)
	}
	return res, nil
}

// lineRange turns 1-based, inclusive line numbers into a slice's bounds.
func lineRange(start int, end *int, total int) (from, to int, err error) {
	from, to = max(start, 1)-1, total
	if end != nil {
		to = min(*end, total)
		if *end < start {
			return 0, 0, wrongArgument("The argument \"end_line\" (%d) must not be less than \"start_line\" (%d).", *end, start)
		}
	}
	if from > 0 && from >= total {
		return 0, 0, wrongArgument("The argument \"start_line\" is %d, and the document has %s.", start, count(total, "line"))
	}
	return from, max(from, to), nil
}

// linesThatFit are the first of lines, as many as fit into a result. A line that
// is too long by itself is cut.
func linesThatFit(lines []string) []string {
	size := 0
	for i, l := range lines {
		if size += jsonLength(l); size <= maxList {
			continue
		}
		if i > 0 {
			return lines[:i]
		}
		short, _ := cutLine(l)
		return []string{short}
	}
	return lines
}

func joinLines(lines []string) string { return strings.Join(lines, "\n") }

type readMetadataArgs struct {
	Path string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
}

type readMetadataResult struct {
	Path        string                 `json:"path"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	Stats       noteStats              `json:"stats"`
	Modified    string                 `json:"modified" doc:"When the note last changed (RFC 3339)"`
	Error       string                 `json:"frontmatter_error,omitempty" doc:"Why the front matter cannot be read; it is then told as empty"`
}

type noteStats struct {
	WordCount      int `json:"word_count"`
	CharCount      int `json:"char_count"`
	HeadingCount   int `json:"heading_count"`
	CodeBlockCount int `json:"code_block_count"`
	WikilinkCount  int `json:"wikilink_count"`
}

func readMetadata(ctx context.Context, s *Session, a readMetadataArgs) (readMetadataResult, error) {
	p, err := s.resolve(ctx, a.Path)
	if err != nil {
		return readMetadataResult{}, err
	}
	n, err := s.server.ws.NoteInfo(reporting(ctx), p)
	if err != nil {
		return readMetadataResult{}, err
	}
	res := readMetadataResult{
		Path: string(p), FrontMatter: n.Properties, Modified: timestamp(n.ModTime),
		Stats: noteStats{n.Words, n.Chars, len(n.Headings), n.CodeBlocks, n.Wikilinks},
	}
	if n.Invalid != nil {
		res.Error = n.Invalid.Error()
	}
	return res, nil
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
