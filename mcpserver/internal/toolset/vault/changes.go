package vault

import (
	"cmp"
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type changesArgs struct {
	Path string `arg:"path" is:"path" doc:"Folder or document; all if left out"`
}

// maxDecisions is how many of the newest decisions are looked through.
const maxDecisions = 1000

func changes(ctx context.Context, c *tool.Client, a changesArgs) (answer.Result, error) {
	under, err := c.Names.Place(ctx, a.Path)
	if err != nil {
		return answer.Result{}, err
	}
	since := c.Session.Looked()
	list, last, whole := c.Workspace.Since(since.Number)
	lines := told(list, c.Session.ID(), under)
	journal, err := c.Workspace.Journal(maxDecisions)
	if err != nil {
		return answer.Result{}, err
	}
	var decided []string
	for _, e := range journal {
		if e.Time.Before(since.Time) {
			break
		}
		if e.Decision != nil && under.Contains(e.Path) {
			decided = append(decided, answer.Decision(e)...)
		}
	}
	out := answer.JoinOrSay(append(decided, lines...), answer.Max-answer.Envelope-6000, "\n(%d more; give a path to see those of a folder)")
	if a.Path == "" { // else what happened elsewhere is still to be told
		c.Session.Look(last)
	}
	if out == "" {
		return answer.Text("Nothing has changed since you last looked"), nil
	}
	if !whole {
		out = "[Older changes are not remembered any more.]\n" + out
	}
	return answer.Text(out), nil
}

// told returns a line for each document that others changed, in the order in which they first did.
func told(list []model.Event, own string, under model.Path) []string {
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
		by := answer.Shown(cmp.Or(ch.By.Name, "a person or another program"))
		what := ch.Kind.String()
		if ch.Dir {
			what += " (a folder)"
		}
		if ch.Kind == model.EventRenamed {
			what = "renamed from " + answer.Shown(ch.OldPath)
		}
		text := fmt.Sprintf("%s: %s by %s", answer.Shown(ch.Path), what, by)
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

func getURL(ctx context.Context, c *tool.Client, a getURLArgs) (answer.Result, error) {
	p, err := c.Names.Resolve(ctx, a.Path)
	if err != nil {
		return answer.Result{}, err
	}
	people, err := c.Workspace.SourcePath(p)
	if err != nil {
		return answer.Result{}, err
	}
	o := c.Workspace.Options()
	address := o.ObsidianURL(people)
	if folder, _ := people.Split(); address == "" {
		return answer.Result{}, answer.WrongArgument("%q is a folder of a server. In which vault the person has it is not known here: give them the path instead.", folder)
	}
	return answer.Text(address), nil
}
