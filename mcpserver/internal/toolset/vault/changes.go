package vault

import (
	"cmp"
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type changesArgs struct {
	Path string `arg:"path" is:"path" doc:"Folder or document; all if left out"`
}

const maxDecisions = 1000

func changes(ctx context.Context, c *tool.Client, a changesArgs) (result.Result, error) {
	under, err := c.Resolver.Place(ctx, a.Path)
	if err != nil {
		return result.Result{}, err
	}
	since := c.Session.ChangeCursor()
	list, last, whole := c.Workspace.Since(since.Number)
	lines := changeLines(list, c.Session.ID(), under)
	order := c.Workspace.LastOrder() // the journal, which is read next, has all decisions up to order
	journal, err := c.Workspace.Journal(maxDecisions)
	if err != nil {
		return result.Result{}, err
	}
	var decided []string
	for _, e := range journal {
		if e.Order <= since.Order {
			break
		}
		if e.Decision != nil && under.Contains(e.Path) {
			decided = append(decided, result.DecisionLines(e)...)
		}
	}
	out := result.JoinTruncated(append(decided, lines...), result.Max-result.ProtocolOverhead-6000, "\n(%d more; give a path to see only the changes in a folder)")
	if a.Path == "" { // a call for one path leaves other changes unreported
		c.Session.SetChangeCursor(last, order)
	}
	if out == "" {
		return result.Text("Nothing has changed since your last call"), nil
	}
	if !whole {
		out = "[Older changes are no longer recorded.]\n" + out
	}
	return result.Text(out), nil
}

// changeLines returns one line for each kind of change by each author to a document. It omits the session's own
// changes.
func changeLines(list []model.Event, own string, under model.Path) []string {
	times := make(map[string]int)
	var order []string
	for _, ch := range list {
		switch ch.Kind {
		case model.EventCreated, model.EventRemoved, model.EventRenamed:
		case model.EventChanged:
			if !ch.ViewChanged {
				continue
			}
		default:
			continue
		}
		if ch.By.Session == own || !under.Contains(ch.Path) && !under.Contains(ch.OldPath) {
			continue
		}
		author := result.Escape(cmp.Or(ch.By.Name, "a user or another program"))
		what := ch.Kind.String()
		if ch.Dir {
			what += " (a folder)"
		}
		if ch.Kind == model.EventRenamed {
			what = "renamed from " + result.Escape(ch.OldPath)
		}
		text := fmt.Sprintf("%s: %s by %s", result.Escape(ch.Path), what, author)
		if times[text]++; times[text] == 1 {
			order = append(order, text)
		}
	}
	for i, text := range order {
		if n := times[text]; n > 1 {
			order[i] += fmt.Sprintf(", %d times", n)
		}
	}
	return order
}

type getURLArgs struct {
	Path string `arg:"path" is:"path" need:"true" doc:"Path of the document"`
}

func getURL(ctx context.Context, c *tool.Client, a getURLArgs) (result.Result, error) {
	p, err := c.Resolver.Resolve(ctx, a.Path)
	if err != nil {
		return result.Result{}, err
	}
	people, err := c.Workspace.SourcePath(p)
	if err != nil {
		return result.Result{}, err
	}
	o := c.Workspace.Options()
	address := o.ObsidianURL(people)
	if folder, _ := people.Split(); address == "" {
		return result.Result{}, result.InvalidArgument("%q is a folder of a server. relayfs does not know in which vault the user keeps it; give the user the path instead.", folder)
	}
	return result.Text(address), nil
}
