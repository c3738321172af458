package review

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// maxSuggestions bounds the block of pending suggestions.
const maxSuggestions = 8000

// Describe is a suggestion in one line, with its author.
func Describe(sg model.Suggestion) string {
	author := sg.Author
	if author == "" {
		author = "unknown"
	}
	return sides(sg.Suggestion) + " (" + answer.Shown(author) + ")"
}

// sides are the old and the new text of a suggestion as they stand in a note.
func sides(sg diffwrap.Suggestion) string {
	if sg.Kind == diffwrap.Comment {
		return "{>>" + answer.OneLine(sg.New) + "<<}"
	}
	var b strings.Builder
	if sg.Old != "" {
		b.WriteString("{--" + answer.OneLine(sg.Old) + "--}")
	}
	if sg.New != "" {
		b.WriteString("{++" + answer.OneLine(sg.New) + "++}")
	}
	return b.String()
}

// DescribeWhole is a suggestion as it stands in the note, with its author.
func DescribeWhole(sg model.Suggestion) string {
	var b strings.Builder
	if sg.Old != "" {
		b.WriteString("{--" + sg.Old + "--}")
	}
	if sg.New != "" {
		b.WriteString("{++" + sg.New + "++}")
	}
	for _, c := range sg.Comments {
		b.WriteString(" {>>" + c + "<<}")
	}
	if sg.Author != "" {
		b.WriteString(" (" + answer.Shown(sg.Author) + ")")
	}
	return b.String()
}

// DescribeProposal tells of a proposal on one line.
func DescribeProposal(p model.Proposal) string {
	line := fmt.Sprintf("%s: %s", p.Path, p.Kind)
	switch {
	case p.Kind == model.ProposedRename:
		line += " to " + string(p.NewPath)
	case p.Kind == model.ProposedFile && p.Old == nil:
		line += ", new"
	}
	if p.Author != "" {
		line += " (" + p.Author + ")"
	}
	if p.Stale {
		line += ", changed since"
	}
	return answer.OneLine(line) + " [" + p.ID + "]"
}

// Pending lists the pending suggestions of the note at p, a line each, or is "".
func Pending(p model.Path, list []model.Suggestion) string {
	if len(list) == 0 {
		return ""
	}
	lines := []string{"[Pending suggestions]"}
	for _, sg := range list {
		lines = append(lines, fmt.Sprintf("  L%d: %s%s", sg.Line, Describe(sg), comments(sg.Comments)))
	}
	block, n := answer.JoinBounded(lines, maxSuggestions)
	if n < len(lines) {
		block += fmt.Sprintf("\n  (%d more; call list_suggestions with path: %q to see them)", len(lines)-n, string(p))
	}
	if strings.Contains(block, answer.LeftOut) {
		block += fmt.Sprintf("\n  (%s stands for text left out; call list_suggestions with path: %q and an id to see it)", answer.LeftOut, string(p))
	}
	return block
}
