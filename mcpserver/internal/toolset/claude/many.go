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
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/review"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// several does one thing after another. Each succeeds or fails by itself, and the answer has a line for each.
func several[T any](items []T, do func(T) answer.Result) answer.Result {
	return inLines(items, do, "%d of %d done.", " %d failed, and changed nothing; do not repeat the others.")
}

// trials is several for what is only tried.
func trials[T any](items []T, try func(T) answer.Result) answer.Result {
	return inLines(items, try, "Nothing was changed. %d of %d would succeed.", " %d would fail.")
}

func inLines[T any](items []T, do func(T) answer.Result, succeeded, fail string) answer.Result {
	lines := make([]string, len(items))
	var failed []int
	for i, item := range items {
		res := do(item)
		lines[i] = fmt.Sprintf("%d. %s", i+1, strings.Join(res.Text, " "))
		if res.Err != nil {
			lines[i] = fmt.Sprintf("%d. The server could not do it: %v", i+1, res.Err)
		}
		if res.IsError || res.Err != nil {
			lines[i] = strings.Replace(lines[i], ". ", ". [error] ", 1)
			failed = append(failed, i)
		}
	}
	head := fmt.Sprintf(succeeded, len(items)-len(failed), len(items))
	if len(failed) > 0 && len(failed) < len(items) {
		head += fmt.Sprintf(fail, len(failed))
	}
	const limit = answer.Max / 2
	out, n := answer.JoinBounded(lines, limit)
	if n < len(lines) {
		// What failed matters more.
		var first []string
		for _, i := range failed {
			first = append(first, lines[i])
		}
		out, n = answer.JoinBounded(first, limit)
		head += fmt.Sprintf(" Only %d of those that failed are listed.", n)
	}
	return answer.Result{Text: []string{strings.TrimSuffix(head+"\n"+out, "\n")}, IsError: len(failed) == len(items)}
}

// drafts are notes as they would be after edits that are only tried.
type drafts map[model.Path]*draft

type draft struct {
	before *model.Version
	text   string      // the view after the edits
	seen   passage.Set // what the session would know of text
	raw    string      // what would be stored
}

// edit tries an edit after those that were tried before.
func (d drafts) edit(ctx context.Context, c *tool.Client, e oneEdit) answer.Result {
	job, err := newEdit(ctx, c, e)
	if err == nil {
		err = c.Workspace.MayWrite(job.path)
	}
	if err != nil {
		return failure(err)
	}
	at := d[job.path]
	if at == nil {
		v, err := c.Workspace.Open(ctx, job.path)
		if err != nil {
			return failure(err)
		}
		at = &draft{before: v, text: v.Text(), seen: job.known.In(v.Text()), raw: v.Raw()}
	}
	edits, err := job.edits(at.text, at.seen)
	if err != nil {
		return failure(err)
	}
	text := diffwrap.Apply(at.text, edits)
	raw, err := c.Workspace.Preview(ctx, job.path, text, c.Session.Author())
	if err != nil {
		return failure(err)
	}
	d[job.path] = &draft{at.before, text, at.seen.Through(edits, true), raw}
	return answer.Text(fmt.Sprintf("Would edit %s: replace %s.", answer.Shown(job.path), answer.Count(job.replaced, "occurrence")))
}

// marks tells what would be written into each note: the marks, and the front matter, which has none.
func (d drafts) marks(c *tool.Client) []string {
	var lines []string
	for _, p := range slices.Sorted(maps.Keys(d)) {
		at := d[p]
		lines = append(lines, "[Would be in "+answer.Shown(p)+"]")
		was, _ := diffwrap.FrontMatter(at.before.Raw())
		is, _ := diffwrap.FrontMatter(at.raw)
		if at.before.Raw()[:was] != at.raw[:is] {
			lines = append(lines, "  front matter, at once: "+answer.OneLine(at.raw[:is]))
		}
		for _, m := range session.Added(at.before.Raw(), at.raw) {
			lines = append(lines, fmt.Sprintf("  L%d: %s", m.Line, review.Sides(m)))
		}
		if o := c.Workspace.Options(); o.Mode == bridge.Direct || o.View == diffwrap.RawView {
			lines = append(lines, "  the text itself, without marks")
		}
	}
	if len(lines) == 0 {
		return nil
	}
	out, n := answer.JoinBounded(lines, answer.Max/2-4000)
	if n < len(lines) {
		out += fmt.Sprintf("\n(%d more lines left out; try fewer edits at a time to see them)", len(lines)-n)
	}
	return []string{out}
}
