package notes

import (
	"context"

	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
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

func readNote(ctx context.Context, c *tool.Client, a readNoteArgs) (readNoteResult, error) {
	p, v, err := c.Names.Note(ctx, a.Path)
	if err != nil {
		return readNoteResult{}, err
	}
	d := session.Document{Path: p, Text: v.Text(), Version: v}
	last, err := passage.LastLine(a.StartLine, a.EndLine, passage.CountLines(d.Text))
	if err != nil {
		return readNoteResult{}, err
	}
	w, err := passage.ForResult(string(d.Path), d.Text, passage.Position{Line: a.StartLine, Column: a.Column}, last, 0)
	if err != nil {
		return readNoteResult{}, err
	}
	c.Session.Show(d, w.Place)
	res := readNoteResult{Path: string(p), Content: w.Content(), TotalLines: w.Total, LinesReturned: len(w.Lines)}
	if w.Next != (passage.Position{}) && w.Next.Line <= last {
		res.Notice = w.Notice(func(at passage.Position) string { return "read_note with " + at.Arguments("start_line") })
	}
	return res, nil
}
