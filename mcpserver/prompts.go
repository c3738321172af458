package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// addPrompts offers the two jobs that people repeat.
func (s *Server) addPrompts() {
	path := mcp.WithArgument("path", mcp.ArgumentDescription("A folder or a note; all notes if it is left out"))
	s.mcp.AddPrompt(mcp.NewPrompt("summarize-suggestions",
		mcp.WithPromptDescription("Summarise the suggestions that wait for review"), path), s.summarize)
	s.mcp.AddPrompt(mcp.NewPrompt("answer-comments",
		mcp.WithPromptDescription("Work through the comments that reviewers left in notes"), path), s.answerComments)
}

func (s *Server) summarize(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	sess := s.session(ctx)
	under, err := sess.folder(ctx, req.Params.Arguments["path"], true)
	if err != nil {
		return nil, err
	}
	list := listSuggestions(ctx, sess, listSuggestionsArgs{Path: string(under)})
	if list.Err != nil {
		return nil, list.Err
	}
	return prompt("Summarise these pending suggestions for the person who will accept or reject them. "+
		"Group them by note, say in a few words what each group changes and why it may matter, "+
		"and name those that deserve a close look. Do not change anything.", strings.Join(list.Text, "\n")), nil
}

func (s *Server) answerComments(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	sess := s.session(ctx)
	under, err := sess.folder(ctx, req.Params.Arguments["path"], true)
	if err != nil {
		return nil, err
	}
	lines, err := s.comments(ctx, under)
	if err != nil {
		return nil, err
	}
	list, n := answer.JoinBounded(lines, answer.Max-2000)
	switch {
	case len(lines) == 0:
		list = "There are no open comments."
	case n < len(lines):
		list += fmt.Sprintf("\n(%d more; give the path of a note to see its own, and ask again when these are answered)", len(lines)-n)
	}
	return prompt("Reviewers left these comments. Take them one by one: read the note around the comment, "+
		"then make the change that it asks for with edit, or answer it with comment, right after the passage it is about. "+
		"Leave the reviewers' comments where they are.", list), nil
}

func prompt(task, material string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{
		{Role: mcp.RoleUser, Content: mcp.NewTextContent(task + "\n\n" + material)},
	}}
}

// comments lists the open comments of the notes at and below under, as
// path:line: text.
func (s *Server) comments(ctx context.Context, under bridge.Path) ([]string, error) {
	notes, err := s.index.Below(ctx, under)
	if err != nil {
		return nil, err
	}
	var lines []string
	err = search.Scan(ctx, s.index, notes, trigram.NewQuery([]grep.Clause{{Any: []string{"{>>"}}}), func(p bridge.Path, v *bridge.Version) []string {
		return commentsIn(p, v.Marked())
	}, func(found []string) bool {
		lines = append(lines, found...)
		return true
	})
	return lines, err
}

// commentsIn lists the open comments of one note.
func commentsIn(p bridge.Path, raw string) []string {
	if !strings.Contains(raw, "{>>") {
		return nil
	}
	var lines []string
	add := func(line int, comment, about string) {
		lines = append(lines, fmt.Sprintf("%s:%d: %s%s", answer.Shown(p), line, remark(comment), about))
	}
	for _, a := range diffwrap.Annotations(raw) {
		if a.Kind == diffwrap.Comment {
			add(a.Line, a.New, "")
		}
		for _, c := range a.Comments {
			add(a.Line, c, fmt.Sprintf(" (about %q)", answer.OneLine(a.New)))
		}
	}
	for _, sg := range diffwrap.Suggestions(raw) {
		for _, c := range sg.Comments {
			add(sg.Line, c, " (about a suggestion)")
		}
	}
	return lines
}
