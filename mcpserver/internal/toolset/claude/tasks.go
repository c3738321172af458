package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/textrange"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

const (
	statusDone = "done"
	statusAll  = "all"
)

type tasksArgs struct {
	Path   string   `arg:"path" is:"path" doc:"Folder or document; all if left out"`
	Status string   `arg:"status" enum:"open|done|all" def:"\"open\"" doc:"Which tasks"`
	Tag    string   `arg:"tag" max:"1000" doc:"Only tasks with this tag, in the task or in the properties of its document"`
	CopyTo string   `arg:"copy_to" is:"path" doc:"Append the tasks to this document instead of listing them, each with a link"`
	Toggle []string `arg:"toggle" doc:"Check or uncheck these tasks instead: lines of the list, or path:line"`
	result.Listing
}

func tasks(ctx context.Context, c *tool.Client, a tasksArgs) (result.Result, error) {
	if a.Toggle != nil && a.CopyTo != "" {
		return result.Result{}, result.InvalidArgument("Give toggle to check tasks off, or copy_to to copy them, and not both: call tasks twice.")
	}
	if a.Toggle != nil {
		return toggleTasks(ctx, c, a.Toggle)
	}
	under, err := c.Resolver.Place(ctx, a.Path)
	if err != nil {
		return result.Result{}, err
	}
	notes, err := c.Workspace.Notes(ctx, under)
	if err != nil {
		return result.Result{}, err
	}
	if a.CopyTo != "" {
		return a.copy(ctx, c, notes)
	}
	return a.list(ctx, c, notes)
}

func (a tasksArgs) of(o *outline.Outline) (wanted []outline.Task) {
	for _, t := range o.Tasks {
		if (a.Status == statusAll || t.Done == (a.Status == statusDone)) && (a.Tag == "" || o.TaskHas(t, a.Tag)) {
			wanted = append(wanted, t)
		}
	}
	return wanted
}

// list returns the list of tasks, and records the listed lines as read.
func (a tasksArgs) list(ctx context.Context, c *tool.Client, notes []*index.NoteInfo) (result.Result, error) {
	after, err := a.SearchPos()
	if err != nil {
		return result.Result{}, err
	}
	total, left := 0, result.Max-result.ProtocolOverhead-6000
	var lines []string
	var shown []session.Passage
	var last result.SearchPos
	full := false
	for _, n := range notes {
		wanted := len(a.of(&n.Outline))
		total += wanted
		if full || wanted == 0 || after != nil && string(n.Path) < after.Path {
			continue
		}
		v, err := c.Workspace.Open(ctx, n.Path)
		if ctx.Err() != nil {
			return result.Result{}, ctx.Err()
		}
		if err != nil { // one unreadable note does not hide the others
			continue
		}
		whole, _ := v.Decoded()
		text := strings.TrimPrefix(whole, textrange.BOM)
		from := 0
		if after != nil && string(n.Path) == after.Path {
			from = after.Pos.In(text)
		}
		now := &n.Outline
		if !n.ModTime.Equal(v.ModTime()) || n.Size != int64(len(v.Text())) {
			now = new(outline.Of(whole)) // the note has changed since it was indexed
		}
		places := textrange.Lines(text)
		for _, t := range a.of(now) {
			at := places[t.Line-1]
			if at.Start < from {
				continue
			}
			line, cut := result.Truncate(strings.TrimRight(text[at.Start:at.End], "\r\n"), result.MaxLine)
			line = fmt.Sprintf("%s:%d: %s", result.Escape(n.Path), t.Line, line)
			if left -= result.TextCost(line) + 2; left < 0 {
				full = true
				break
			}
			if lines = append(lines, line); !cut {
				shown = append(shown, session.Passage{Path: n.Path, Version: v, Range: at})
			}
			last = result.SearchPosAt(n.Path, text, at.End)
		}
	}
	session.RecordFound(c.Session, shown)
	switch {
	case len(lines) == 0 && after != nil:
		return result.Text("No more tasks"), nil
	case len(lines) == 0:
		return result.Text("No tasks found"), nil
	}
	res := result.Text(strings.Join(lines, "\n"))
	if full {
		a.Continue(&res, last, fmt.Sprintf("Showing %d of %s.", len(lines), result.Count(total, "task")))
	}
	return res, nil
}

// copy appends the tasks to the document copy_to. It creates the document if needed.
func (a tasksArgs) copy(ctx context.Context, c *tool.Client, notes []*index.NoteInfo) (result.Result, error) {
	to, err := c.Resolver.LookUp(a.CopyTo)
	create := errors.Is(err, fs.ErrNotExist)
	if create {
		to, err = c.Resolver.NewPath(a.CopyTo, true)
	}
	if err == nil && !to.IsNote() {
		err = &model.Error{Op: "write", Path: to, Err: model.ErrNotNote}
	}
	if err != nil {
		return result.Result{}, err
	}
	var lines []string
	sources := 0
	for _, n := range notes {
		wanted := a.of(&n.Outline)
		if n.Path == to || len(wanted) == 0 {
			continue
		}
		sources++
		for _, t := range wanted {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("- [%s] %s", t.Box, t.Text))+" ("+linkTo(n.Path, to)+")")
		}
	}
	if len(lines) == 0 {
		return result.Text("No tasks found"), nil
	}
	content := strings.Join(lines, "\n") + "\n"
	var res change.Result
	if create {
		res, err = c.Changes.Create(ctx, to, content, "copy_to")
	} else {
		res, _, err = c.Changes.Append(ctx, to, "", content, "copy_to")
	}
	if err != nil {
		return result.Result{}, err
	}
	return result.Text(fmt.Sprintf("Copied %s of %s to %s%s", result.Count(len(lines), "task"), result.Count(sources, "document"), result.Escape(to), outcome(c, res))), nil
}

// linkTo returns a link to p for use in another note (from). If p is in another root or cannot be written as a link,
// linkTo returns only the name of p.
func linkTo(p, from model.Path) string {
	folder, rel := p.Split()
	name := strings.TrimSuffix(p.Base(), model.NoteExt)
	if other, _ := from.Split(); other != folder || strings.ContainsAny(rel, "[]|#^") {
		return name
	}
	if rel = strings.TrimSuffix(rel, model.NoteExt); rel == name {
		return "[[" + name + "]]"
	}
	return "[[" + rel + "|" + name + "]]"
}

func toggleTasks(ctx context.Context, c *tool.Client, list []string) (result.Result, error) {
	shown := make(readStates)
	return applyEach(ctx, c, list, shown.toggle, func(at string) string { return "check or uncheck the task " + result.OneLine(at) })
}

// recurrence matches the rule of a recurring task, in either of the two formats of the plugin Tasks. The rule ends
// before the next field.
var recurrence = regexp.MustCompile(`🔁\s*([A-Za-z0-9, !]+)|[\[(]repeat::\s*([^\])]+)[\])]`)

// listedTask matches a line of the list of tasks. The text after the line number is optional.
var listedTask = regexp.MustCompile(`^(.+?):([0-9]+)(?:: (.*))?$`)

type readStates map[model.Path]session.ReadState

// toggle checks or unchecks a task. The line number refers to the text that the session had read before this call.
func (shown readStates) toggle(ctx context.Context, c *tool.Client, at string) (string, error) {
	m := listedTask.FindStringSubmatch(at)
	if m == nil {
		return "", result.InvalidArgument("%q is not a task. Give path:line as in the list of tasks.", result.OneLine(at))
	}
	p, err := c.Resolver.Resolve(ctx, m[1])
	if err != nil {
		return "", err
	}
	known, ok := shown[p]
	if !ok {
		if known, err = c.Changes.RequireRead(ctx, p, "editing"); err != nil {
			return "", err
		}
		shown[p] = known
	}
	tasks := outline.Of(known.Text).Tasks
	k := slices.IndexFunc(tasks, func(t outline.Task) bool { return strconv.Itoa(t.Line) == m[2] })
	if k < 0 {
		return "", result.InvalidArgument("There is no task on line %s of %s. Call tasks with it as the path to list them.", m[2], result.Escape(p))
	}
	task := tasks[k]
	place := textrange.Lines(known.Text)[task.Line-1]
	if part, missing := known.ReadRanges.FirstMissing(place); missing {
		return "", c.Changes.NotReadError(p, known.Text, part)
	}
	changed := result.InvalidArgument("Line %d of %s has changed since you were shown it. Call tasks again.", task.Line, result.Escape(p))
	if m[3] != "" && m[3] != strings.TrimRight(known.Text[place.Start:place.End], "\r\n") {
		return "", changed
	}
	mark, did := "x", "Checked"
	if task.Done {
		mark, did = " ", "Unchecked"
	}
	res, err := c.Changes.Edit(ctx, p, func(text string, _ textrange.RangeSet) ([]diffwrap.Edit, error) {
		now := textrange.RangeSet{place}.Rebase(known.Text, text)
		if len(now) != 1 || now[0].End-now[0].Start != place.End-place.Start {
			return nil, changed
		}
		box := now[0].Start + strings.IndexByte(text[now[0].Start:], '[') + 1
		_, size := utf8.DecodeRuneInString(text[box:])
		return []diffwrap.Edit{{Off: box, Len: size, New: mark}}, nil
	})
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("%s the task on line %d of %s%s", did, task.Line, result.Escape(p), outcome(c, res))
	if rule := recurrence.FindStringSubmatch(task.Text); rule != nil && !task.Done {
		out += fmt.Sprintf(" It recurs (%s): the Tasks plugin creates the next one only when the user checks it off in Obsidian, so add it yourself if the user wants it.", result.OneLine(strings.TrimSpace(rule[1]+rule[2])))
	}
	if textrange.CountLines(res.Before) != textrange.CountLines(known.Text) {
		out += " Its lines have moved since you read them: call tasks again before you toggle others in it."
	}
	return out, nil
}
