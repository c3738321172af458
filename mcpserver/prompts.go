package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
	"github.com/relayfs/relayfs/mcpserver/internal/toolset/claude"
)

func (s *Server) addPrompts() {
	s.addPrompt("summarize-suggestions", "Summarise the suggestions that wait for review",
		"Summarise these pending suggestions for the user who will accept or reject them. "+
			"Group them by note, say in a few words what each group changes and why it may matter, "+
			"and name those that deserve a close look. Do not change anything.",
		func(ctx context.Context, c *tool.Client, under model.Path) (string, error) {
			list, err := claude.Suggestions(ctx, c, under)
			return strings.Join(list.Text, "\n"), err
		})
	s.addPrompt("answer-comments", "Work through the comments that reviewers left in notes",
		"Reviewers left these comments. Take them one by one: read the note around the comment, "+
			"then make the change that it asks for with edit, or answer it with comment, right after the passage it is about. "+
			"Leave the reviewers' comments where they are.",
		comments)
	s.addPrompt("address-rejections", "Work through what reviewers rejected",
		"Reviewers rejected these suggestions of yours. Take them one by one: read the note around the place and the reason, "+
			"then propose something better with edit where the reason asks for it, and leave the text as it is where it does not. "+
			"Do not propose the same again. Say at the end what you did about each.",
		rejections)
}

// maxRejections is the maximum number of journal entries that the prompt examines, newest first.
const maxRejections = 1000

func rejections(_ context.Context, c *tool.Client, under model.Path) (string, error) {
	journal, err := c.Workspace.Journal(maxRejections)
	if err != nil {
		return "", err
	}
	undos := model.UndosOf(journal)
	var lines []string
	for _, e := range journal {
		left, ok := undos.Undoable(e)
		if !ok || e.Decision == nil || e.Decision.Verdict != model.Rejected || e.Withdrawn() || !under.Contains(e.Path) {
			continue
		}
		d := *e.Decision
		d.Items, e.Decision = left, &d
		mine := slices.ContainsFunc(d.Items, func(i model.DecidedItem) bool { return i.Author == c.Session.Author().Name })
		if mine || d.Proposal != nil {
			lines = append(lines, result.DecisionLines(e)...)
		}
	}
	if len(lines) == 0 {
		return "Nothing was rejected.", nil
	}
	return result.JoinTruncated(lines, result.Max-2000, "\n(%d more; give the path of a note to see its own)"), nil
}

func (s *Server) addPrompt(name, description, task string, list func(context.Context, *tool.Client, model.Path) (string, error)) {
	path := mcp.WithArgument("path", mcp.ArgumentDescription("A folder or a note; all notes if it is left out"))
	prompt := mcp.NewPrompt(name, mcp.WithPromptDescription(description), path)
	s.mcp.AddPrompt(prompt, func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		c := s.session(ctx).client
		under, err := c.Resolver.Place(ctx, req.Params.Arguments["path"])
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

// comments returns the open comments of a note, or of all notes in a folder (under). A long list is cut.
func comments(ctx context.Context, c *tool.Client, under model.Path) (string, error) {
	threads, err := c.Workspace.Threads(ctx, under)
	var lines []string
	for _, t := range threads {
		if result.HasWritten(t) {
			lines = append(lines, result.DescribeThread(t))
		}
	}
	if len(lines) == 0 {
		return "There are no open comments.", err
	}
	return result.JoinTruncated(lines, result.Max-2000, "\n(%d more; give the path of a note to see its own, and ask again when these are answered)"), err
}
