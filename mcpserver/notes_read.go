package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

type readNoteArgs struct {
	Path      string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
	StartLine int    `arg:"start_line" min:"1" doc:"First line to read, counted from 1"`
	EndLine   *int   `arg:"end_line" min:"1" doc:"Last line to read, that one included"`
	Column    int    `arg:"column" min:"1" doc:"Character of start_line to begin at, counted from 1, where that is too long to read at once"`
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
	d := document{path: p, text: v.Text(), version: v}
	last, err := lastLine(a.StartLine, a.EndLine, countLines(d.text))
	if err != nil {
		return readNoteResult{}, err
	}
	w, err := d.window(position{a.StartLine, a.Column}, last, 0)
	if err != nil {
		return readNoteResult{}, err
	}
	s.show(d, w.place)
	res := readNoteResult{Path: string(p), Content: w.content(), TotalLines: w.total, LinesReturned: len(w.lines)}
	if w.next != (position{}) && w.next.line <= last {
		res.Notice = w.notice(func(at position) string { return nextCall("read_note", at) })
	}
	return res, nil
}

// window is a window of d for a structured result, in which each line has so many
// characters more.
func (d document) window(begin position, last, margin int) (window, error) {
	limit := answer.Max - answer.Envelope - answer.BothCost(string(d.path)) - 1400
	return windowOf(d.text, begin, last, limit, func(s string) int { return answer.BothCost(s) + 2*margin })
}

// content is the text of the window. The break of its last line is left out, unless
// it ends the whole text.
func (w window) content() string {
	content := strings.Join(w.lines, "\n")
	if w.ended && w.begin.line+len(w.lines) > w.total {
		content += "\n"
	}
	return content
}

// nextCall is the call of a tool that goes on at a position.
func nextCall(tool string, at position) string {
	call := fmt.Sprintf("%s with start_line: %d", tool, at.line)
	if at.column > 1 {
		call += fmt.Sprintf(", column: %d", at.column)
	}
	return call
}

// lastLine is the number of the last line that is wanted of total ones, from start
// to end.
func lastLine(start int, end *int, total int) (int, error) {
	switch {
	case end != nil && *end < start:
		return 0, answer.WrongArgument("The argument \"end_line\" (%d) must not be less than \"start_line\" (%d).", *end, start)
	case start > 1 && start > total:
		return 0, answer.WrongArgument("The argument \"start_line\" is %d, and the document has %s.", start, answer.Count(total, "line"))
	case end != nil:
		return min(*end, total), nil
	}
	return total, nil
}

type readMetadataArgs struct {
	Path string `arg:"path" is:"path" need:"true" doc:"Path of the note"`
}

type readMetadataResult struct {
	Path        string                 `json:"path"`
	FrontMatter frontmatter.Properties `json:"frontmatter"`
	Stats       noteStats              `json:"stats"`
	Modified    string                 `json:"modified" doc:"When the note last changed (RFC 3339)"`
	Error       string                 `json:"frontmatter_error,omitempty" doc:"Why the front matter cannot be read; it is then told as empty"`
	Notice      string                 `json:"notice,omitempty" doc:"What was cut, and how to get the rest"`
	TooDeep     string                 `json:"body_error,omitempty" doc:"Why a part of the body was read as plain text"`
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
	properties, notice := propertiesThatFit(n, answer.Max-4000-answer.BothCost(string(p)))
	res := readMetadataResult{
		Path: string(p), FrontMatter: properties, Notice: notice, Modified: timestamp(n.ModTime),
		Stats: noteStats{n.Words, n.Chars, len(n.Headings), n.CodeBlocks, n.Wikilinks},
	}
	if n.Invalid != nil {
		res.Error = n.Invalid.Error()
	}
	if n.TooDeep != nil {
		res.TooDeep = n.TooDeep.Error()
	}
	return res, nil
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
