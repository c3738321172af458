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
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/claude"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

func (s *Server) addPrompts() {
	s.addPrompt("summarize-suggestions", "Summarise the suggestions that wait for review",
		"Summarise these pending suggestions for the person who will accept or reject them. "+
			"Group them by note, say in a few words what each group changes and why it may matter, "+
			"and name those that deserve a close look. Do not change anything.",
		func(ctx context.Context, c *tool.Client, under model.Path) (string, error) {
			list := claude.Suggestions(ctx, c, under)
			return strings.Join(list.Text, "\n"), list.Err
		})
	s.addPrompt("answer-comments", "Work through the comments that reviewers left in notes",
		"Reviewers left these comments. Take them one by one: read the note around the comment, "+
			"then make the change that it asks for with edit, or answer it with comment, right after the passage it is about. "+
			"Leave the reviewers' comments where they are.",
		s.comments)
}

// addPrompt adds a prompt of a task and what list returns for the folder or note in the argument path.
func (s *Server) addPrompt(name, description, task string, list func(context.Context, *tool.Client, model.Path) (string, error)) {
	path := mcp.WithArgument("path", mcp.ArgumentDescription("A folder or a note; all notes if it is left out"))
	prompt := mcp.NewPrompt(name, mcp.WithPromptDescription(description), path)
	s.mcp.AddPrompt(prompt, func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		c := s.session(ctx).client
		under, err := c.Names.Place(ctx, req.Params.Arguments["path"])
		if err != nil {
			return nil, err
		}
		text, err := list(ctx, c, under)
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(task + "\n\n" + text)}}}, nil
	})
}

// comments returns the open comments of the notes at and below under, as path:line: text.
func (s *Server) comments(ctx context.Context, _ *tool.Client, under model.Path) (string, error) {
	notes, err := s.index.Below(ctx, under)
	if err != nil {
		return "", err
	}
	var lines []string
	err = search.Scan(ctx, s.index, notes, trigram.NewQuery([]grep.Clause{{Any: []string{"{>>"}}}), func(p model.Path, v *model.Version) []string {
		return review.CommentsIn(p, v.Marked())
	}, func(found []string) bool {
		lines = append(lines, found...)
		return true
	})
	if len(lines) == 0 {
		return "There are no open comments.", err
	}
	text, n := answer.JoinBounded(lines, answer.Max-2000)
	if n < len(lines) {
		text += fmt.Sprintf("\n(%d more; give the path of a note to see its own, and ask again when these are answered)", len(lines)-n)
	}
	return text, err
}
