package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/review"
	"github.com/relayfs/relayfs/mcpserver/internal/search"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/claude"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

func (s *Server) addPrompts() {
	path := mcp.WithArgument("path", mcp.ArgumentDescription("A folder or a note; all notes if it is left out"))
	s.mcp.AddPrompt(mcp.NewPrompt("summarize-suggestions",
		mcp.WithPromptDescription("Summarise the suggestions that wait for review"), path), s.summarize)
	s.mcp.AddPrompt(mcp.NewPrompt("answer-comments",
		mcp.WithPromptDescription("Work through the comments that reviewers left in notes"), path), s.answerComments)
}

func (s *Server) summarize(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	c := s.session(ctx).client
	under, err := c.Names.Place(ctx, req.Params.Arguments["path"])
	if err != nil {
		return nil, err
	}
	list := claude.Suggestions(ctx, c, under)
	if list.Err != nil {
		return nil, list.Err
	}
	return prompt("Summarise these pending suggestions for the person who will accept or reject them. "+
		"Group them by note, say in a few words what each group changes and why it may matter, "+
		"and name those that deserve a close look. Do not change anything.", strings.Join(list.Text, "\n")), nil
}

func (s *Server) answerComments(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	c := s.session(ctx).client
	under, err := c.Names.Place(ctx, req.Params.Arguments["path"])
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

// comments returns the open comments of the notes at and below under, as path:line: text.
func (s *Server) comments(ctx context.Context, under model.Path) ([]string, error) {
	notes, err := s.index.Below(ctx, under)
	if err != nil {
		return nil, err
	}
	var lines []string
	err = search.Scan(ctx, s.index, notes, trigram.NewQuery([]grep.Clause{{Any: []string{"{>>"}}}), func(p model.Path, v *model.Version) []string {
		return review.CommentsIn(p, v.Marked())
	}, func(found []string) bool {
		lines = append(lines, found...)
		return true
	})
	return lines, err
}
