package claude

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// applyEach applies items in order as one batch. Each item succeeds or fails separately. The user approves them
// together, except items that try rejects; what describes an item as a verb phrase.
func applyEach[T any](ctx context.Context, c *tool.Client, items []T, try func(T) (string, error), do func(context.Context, *tool.Client, T) (string, error), what func(T) string) (result.Result, error) {
	ctx, err := c.Changes.ApproveAll(ctx, func() (whats []string) {
		for _, item := range items {
			if _, err := try(item); err == nil {
				whats = append(whats, what(item))
			}
		}
		return whats
	})
	if err != nil {
		return result.Result{}, err
	}
	c = c.Batched()
	return inLines(c, items, func(item T) (string, error) { return do(ctx, c, item) },
		"%d of %d done.", " %d failed, and changed nothing; do not repeat the others."), nil
}

func tryEach[T any](c *tool.Client, items []T, try func(T) (string, error)) result.Result {
	return inLines(c, items, try, "Nothing was changed. %d of %d would succeed.", " %d would fail.")
}

func inLines[T any](c *tool.Client, items []T, do func(T) (string, error), succeeded, fail string) result.Result {
	lines := make([]string, len(items))
	var failed []int
	for i, item := range items {
		answer, err := do(item)
		if err != nil {
			answer = "[error] " + tool.ErrorText(err, c.Phrases)
			failed = append(failed, i)
		}
		lines[i] = fmt.Sprintf("%d. %s", i+1, answer)
	}
	head := fmt.Sprintf(succeeded, len(items)-len(failed), len(items))
	if len(failed) > 0 && len(failed) < len(items) {
		head += fmt.Sprintf(fail, len(failed))
	}
	const limit = result.Max / 2
	out, n := result.JoinBounded(lines, limit)
	if n < len(lines) {
		// List failures first.
		var first []string
		for _, i := range failed {
			first = append(first, lines[i])
		}
		out, n = result.JoinBounded(first, limit)
		head += fmt.Sprintf(" Only %d of those that failed are listed.", n)
	}
	return result.Result{Text: []string{strings.TrimSuffix(head+"\n"+out, "\n")}, IsError: len(failed) == len(items)}
}

type drafts map[model.Path]*draft

type draft struct {
	before *model.Version     // nil for a file other than a note
	text   string             // the view after the edits
	seen   textrange.RangeSet // ranges of text that the session would have read
	after  *model.Version     // the note as it would be stored
}

func (d drafts) edit(ctx context.Context, c *tool.Client, e oneEdit) (string, error) {
	job, err := newEdit(ctx, c, e)
	if err == nil {
		err = c.Changes.CheckWrite(job.path)
	}
	if err != nil {
		return "", err
	}
	at := d[job.path]
	if at == nil {
		doc, err := c.Resolver.Document(ctx, job.path)
		if err != nil {
			return "", err
		}
		at = &draft{before: doc.Version, text: doc.Text, seen: job.known.RangesIn(doc.Text)}
	}
	edits, err := job.edits(at.text, at.seen)
	if err != nil {
		return "", err
	}
	text := diffwrap.Apply(at.text, edits)
	var after *model.Version
	if at.before != nil {
		after, err = c.Workspace.Preview(ctx, job.path, text, c.Session.Author())
	} else {
		err = change.CheckFile(job.path, text)
	}
	if err != nil {
		return "", err
	}
	d[job.path] = &draft{at.before, text, at.seen.AfterEdits(edits, true), after}
	return fmt.Sprintf("Would edit %s: replace %s.", result.Escape(job.path), result.Count(job.replaced, "occurrence")), nil
}

func (d drafts) marks(c *tool.Client) []string {
	var lines []string
	for _, p := range slices.Sorted(maps.Keys(d)) {
		at := d[p]
		lines = append(lines, "[Would be in "+result.Escape(p)+"]")
		if at.before == nil {
			lines = append(lines, "  the file as a whole")
			continue
		}
		oldEnd, _ := diffwrap.FrontMatter(at.before.Raw())
		newEnd, _ := diffwrap.FrontMatter(at.after.Raw())
		if at.before.Raw()[:oldEnd] != at.after.Raw()[:newEnd] {
			lines = append(lines, "  front matter, at once: "+result.OneLine(at.after.Raw()[:newEnd]))
		}
		for _, m := range session.Added(at.before, at.after) {
			lines = append(lines, fmt.Sprintf("  L%d: %s", m.Line, result.OldAndNew(m)))
		}
		if o := c.Workspace.Options(); o.Mode == bridge.Direct || o.View == diffwrap.RawView {
			lines = append(lines, "  the text itself, without marks")
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []string{result.JoinTruncated(lines, result.Max/2-4000, "\n(%d more lines left out; try fewer edits at a time to see them)")}
}
