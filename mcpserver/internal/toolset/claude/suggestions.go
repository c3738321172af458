package claude

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const defaultSuggestions = 100

type listSuggestionsArgs struct {
	Path   string `arg:"path" is:"path" doc:"Folder or document; all if left out"`
	Author string `arg:"author" doc:"Only of this author"`
	Limit  int    `arg:"limit" is:"bound" min:"1" def:"100" doc:"Maximum number"`
	ID     string `arg:"id" doc:"Show this suggestion in full"`
	result.Listing
}

type pendingItem struct {
	path  model.Path // "" for a proposal
	id    string
	order uint64 // Order of the proposal; 0 for other items
	text  func(whole bool) string
}

// suggestionCursor is the last listed item. It may be decided before the next call.
type suggestionCursor struct {
	ID, Path string
	Order    uint64
	Off      int // offset in the text of a single suggestion
}

func Suggestions(ctx context.Context, c *tool.Client, under model.Path) (result.Result, error) {
	a := listSuggestionsArgs{Path: string(under)}
	a.SetCall("list_suggestions", a)
	return listSuggestions(ctx, c, a)
}

func listSuggestions(ctx context.Context, c *tool.Client, a listSuggestionsArgs) (result.Result, error) {
	under, err := c.Resolver.Place(ctx, a.Path)
	if err != nil {
		return result.Result{}, err
	}
	list, noList := c.Workspace.Suggestions(ctx, under)
	proposals, noProposals := c.Workspace.Proposals(ctx, under)
	threads, noThreads := c.Workspace.Threads(ctx, under)
	if err := cmp.Or(noList, noProposals, noThreads); err != nil {
		return result.Result{}, err
	}
	if a.Author != "" {
		list = slices.DeleteFunc(list, func(sg model.Suggestion) bool { return !strings.EqualFold(sg.Author, a.Author) })
		proposals = slices.DeleteFunc(proposals, func(p model.Proposal) bool { return !strings.EqualFold(p.Author, a.Author) })
	}
	var all []pendingItem
	for _, p := range proposals {
		all = append(all, pendingItem{id: p.ID, order: p.Order, text: func(bool) string { return result.DescribeProposal(p) }})
	}
	for _, sg := range list {
		all = append(all, pendingItem{path: sg.Path, id: sg.ID, text: func(whole bool) string {
			what := result.Describe(sg)
			if whole {
				what = result.DescribeWhole(sg)
			}
			return fmt.Sprintf("%s:%d: %s [%s]", result.Escape(sg.Path), sg.Line, what, sg.ID)
		}})
	}
	for _, t := range threads {
		if result.HasWritten(t) && t.Suggestion == "" && a.Author == "" {
			all = append(all, pendingItem{path: t.Path, id: t.ID, text: func(bool) string { return result.DescribeThread(t) + " [" + t.ID + "]" }})
		}
	}
	var after suggestionCursor
	given, err := a.Decode(&after)
	if err != nil {
		return result.Result{}, err
	}
	if a.ID != "" {
		return showSuggestion(all, a, after.Off)
	}
	rest := all
	if given {
		rest = after.rest(all)
	}
	if len(rest) == 0 {
		return result.Text("No pending suggestions"), nil
	}
	lines := make([]string, min(cmp.Or(a.Limit, defaultSuggestions), len(rest), result.Max/20))
	for i := range lines {
		lines[i] = rest[i].text(false)
	}
	out, n := result.JoinBounded(lines, result.Max-result.ProtocolOverhead-8000)
	res := result.Text(out)
	if strings.Contains(out, result.Ellipsis) {
		res.Text = append(res.Text, "["+result.Ellipsis+" stands for text left out. Give an id to see that suggestion in full.]")
	}
	if n < len(rest) {
		last := rest[n-1]
		a.Continue(&res, suggestionCursor{ID: last.id, Path: string(last.path), Order: last.order}, fmt.Sprintf("Showing %d of %d suggestions.", n, len(all)))
	}
	return res, nil
}

// rest returns the items after the cursor. If the item of the cursor no longer exists, rest continues after its place
// among the proposals, or repeats the items from the cursor's document on.
func (at suggestionCursor) rest(all []pendingItem) []pendingItem {
	i := slices.IndexFunc(all, func(w pendingItem) bool { return w.id == at.ID })
	if i >= 0 {
		return all[i+1:]
	}
	i = slices.IndexFunc(all, func(w pendingItem) bool {
		if at.Path == "" {
			return w.path != "" || w.order > at.Order
		}
		return string(w.path) >= at.Path
	})
	if i < 0 {
		return nil
	}
	return all[i:]
}

func showSuggestion(all []pendingItem, a listSuggestionsArgs, off int) (result.Result, error) {
	id := strings.Trim(a.ID, "[]")
	i := slices.IndexFunc(all, func(w pendingItem) bool { return w.id == id })
	if i < 0 {
		return result.Result{}, result.InvalidArgument("No pending suggestion has the id %q. Call list_suggestions without id to list them.", id)
	}
	whole := all[i].text(true)
	off = min(off, len(whole))
	part, cut := result.Truncate(whole[off:], result.Max-result.ProtocolOverhead-2000)
	res := result.Text(part)
	if cut {
		off += len(part)
		a.Continue(&res, suggestionCursor{ID: id, Off: off}, fmt.Sprintf("Showing %d of %d bytes.", off, len(whole)))
	}
	return res, nil
}
