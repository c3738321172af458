package claude

import (
	"context"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// applyEach applies items in order as one batch, which the user approves as a whole. Each item succeeds or fails
// separately. what describes an item as a verb phrase.
func applyEach[T any](ctx context.Context, c *tool.Client, items []T, do func(context.Context, *tool.Client, T) (string, error), what func(T) string) (result.Result, error) {
	whats := make([]string, len(items))
	for i, item := range items {
		whats[i] = what(item)
	}
	ctx, err := c.Changes.ApproveAll(ctx, whats)
	if err != nil {
		return result.Result{}, err
	}
	c = c.Batched()
	lines := make([]string, len(items))
	var failed []string
	for i, item := range items {
		answer, err := do(ctx, c, item)
		if err != nil {
			answer = "[error] " + tool.ErrorText(err, c.Phrases)
		}
		lines[i] = fmt.Sprintf("%d. %s", i+1, answer)
		if err != nil {
			failed = append(failed, lines[i])
		}
	}
	head := fmt.Sprintf("%d of %d done.", len(items)-len(failed), len(items))
	if len(failed) > 0 && len(failed) < len(items) {
		head += fmt.Sprintf(" %d failed, and changed nothing; do not repeat the others.", len(failed))
	}
	const limit = result.Max / 2
	out, n := result.JoinBounded(lines, limit)
	if n < len(lines) {
		out, n = result.JoinBounded(failed, limit)
		head += fmt.Sprintf(" Only %d of those that failed are listed.", n)
	}
	return result.Result{Text: []string{strings.TrimSuffix(head+"\n"+out, "\n")}, IsError: len(failed) == len(items)}, nil
}
