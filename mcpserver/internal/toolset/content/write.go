package content

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
	"github.com/relayfs/relayfs/mcpserver/internal/names"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/refusal"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type patchContentArgs struct {
	document
	OldString string `arg:"old_string" need:"true" doc:"Text to replace, exactly as it stands in the document. It must occur once"`
	NewString string `arg:"new_string" need:"true" doc:"Text to put in its place"`
}

type patchContentResult struct {
	Success        bool            `json:"success"`
	Path           string          `json:"path,omitempty"`
	LinesChanged   int             `json:"lines_changed,omitempty"`
	Error          string          `json:"error,omitempty" doc:"Why nothing was changed"`
	MatchLocations []matchLocation `json:"match_locations,omitempty" doc:"Where old_string occurs, if it does more than once"`
	Notice         string          `json:"notice,omitempty" doc:"What else there is to know of the change"`
}

type matchLocation struct {
	Line    int    `json:"line"`
	Preview string `json:"preview"`
}

// Failed makes the answer an error.
func (r patchContentResult) Failed() bool { return !r.Success }

// patchContent reports every failure in its result.
func patchContent(ctx context.Context, c *tool.Client, a patchContentArgs) (patchContentResult, error) {
	res, err := a.run(ctx, c)
	var several *severalError
	if errors.As(err, &several) {
		return patchContentResult{Path: several.path, Error: several.Error(), MatchLocations: several.at}, nil
	}
	if said, ok := sentence(c, err); ok {
		return patchContentResult{Path: a.Path, Error: said}, nil
	}
	return res, err
}

// sentence returns what a model is told for err, if the model can act on it.
func sentence(c *tool.Client, err error) (string, bool) {
	var ask *approval.AskError
	if err == nil || errors.As(err, &ask) {
		return "", false
	}
	res := refusal.Of(err, c.Words)
	if res.Err != nil {
		return "", false
	}
	return strings.Join(res.Text, "\n"), true
}

func (a patchContentArgs) run(ctx context.Context, c *tool.Client) (patchContentResult, error) {
	p, err := find(ctx, c, a.EntityType, a.Path)
	switch {
	case err != nil:
		return patchContentResult{}, err
	case a.OldString == a.NewString:
		return patchContentResult{}, answer.WrongArgument("No changes to make: old_string and new_string are exactly the same.")
	case a.OldString == "":
		return patchContentResult{}, answer.WrongArgument("The argument \"old_string\" is empty. Give the text to replace, or call replace_content for the whole document.")
	}
	lines := func(s string) int { return 1 + strings.Count(strings.TrimSuffix(s, "\n"), "\n") }
	res := patchContentResult{Success: true, Path: string(p), LinesChanged: max(lines(a.OldString), lines(a.NewString))}
	if a.EntityType == entity.Note {
		res.Notice, err = a.patchNote(ctx, c, p)
	} else {
		res.Notice, err = a.patchFile(ctx, c, p)
	}
	return res, err
}

func (a patchContentArgs) patchNote(ctx context.Context, c *tool.Client, p model.Path) (string, error) {
	view := c.Workspace.Options().View
	_, res, err := c.Changes.Update(ctx, p, "change the note "+string(p), func(cur *model.Version) ([]diffwrap.Edit, error) {
		edits, at, err := a.patch(p, cur.Text())
		if err != nil {
			return nil, err
		}
		return edits, match.CheckMarkup("new_string", view, cur.Text(), diffwrap.Apply(cur.Text(), edits), at)
	})
	return change.Notice(res), err
}

// maxPatches bounds how often a patch of a file is computed because another call was faster.
const maxPatches = 8

func (a patchContentArgs) patchFile(ctx context.Context, c *tool.Client, p model.Path) (notice string, err error) {
	for range maxPatches {
		text, err := c.ReadText(ctx, p)
		if err != nil {
			return "", err
		}
		edits, _, err := a.patch(p, text)
		if err != nil {
			return "", err
		}
		known, _ := c.Session.Known(p)
		notice, err = c.Changes.WriteFile(ctx, change.File{
			Kind: a.EntityType, Path: p, Text: diffwrap.Apply(text, edits), Base: change.SumOf(text), Seen: known.In(text).Through(edits, true),
			Operation: approval.Update, What: "change " + string(p),
		})
		if !errors.Is(err, model.ErrConflict) {
			return notice, err
		}
	}
	return "", &model.Error{Op: "write", Path: p, Err: model.ErrConflict}
}

// patch returns the edits of text, and where they begin. Quoting a text that occurs once proves knowing it.
func (a patchContentArgs) patch(p model.Path, text string) (edits []diffwrap.Edit, at int, err error) {
	places := match.Find(text, a.OldString)
	switch len(places) {
	case 0:
		return nil, 0, answer.WrongArgument("old_string not found in %s. Make sure it matches exactly.", p)
	case 1:
		return match.Replace(text, places, a.OldString, a.NewString), places[0].Start, nil
	}
	several := &severalError{path: string(p), count: len(places)}
	for _, place := range places[:min(len(places), passage.MaxNamed)] {
		line := strings.TrimSuffix(passage.LineAround(text, place.Start), "\r")
		several.at = append(several.at, matchLocation{passage.LineOf(text, place.Start), answer.OneLine(line)})
	}
	return nil, 0, several
}

// severalError says that a text occurs more than once.
type severalError struct {
	path  string
	count int
	at    []matchLocation
}

func (e *severalError) Error() string {
	s := "old_string is not unique in " + e.path + " (" + answer.Count(e.count, "occurrence") + " found). Include more surrounding context to make it unique."
	if len(e.at) < e.count {
		s += " match_locations has the first " + strconv.Itoa(len(e.at)) + "."
	}
	return s
}

type replaceContentArgs struct {
	EntityType entity.Type `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"What the path is: a note (Markdown), a canvas (JSON Canvas) or a base (YAML)"`
	Path       string      `arg:"path" is:"path" need:"true" doc:"Path of the document, new or existing"`
	Content    string      `arg:"content" need:"true" doc:"The whole content that it is to have"`
}

type replaceContentResult struct {
	Success    bool        `json:"success"`
	Path       string      `json:"path,omitempty"`
	EntityType entity.Type `json:"entity_type,omitempty"`
	Created    bool        `json:"created"`
	Error      string      `json:"error,omitempty" doc:"Why nothing was changed"`
	Notice     string      `json:"notice,omitempty" doc:"What else there is to know of the change"`
}

// Failed makes the answer an error.
func (r replaceContentResult) Failed() bool { return !r.Success }

// replaceContent reports every failure in its result.
func replaceContent(ctx context.Context, c *tool.Client, a replaceContentArgs) (replaceContentResult, error) {
	res, err := a.run(ctx, c)
	if said, ok := sentence(c, err); ok {
		return replaceContentResult{Path: a.Path, EntityType: a.EntityType, Error: said}, nil
	}
	return res, err
}

func (a replaceContentArgs) run(ctx context.Context, c *tool.Client) (replaceContentResult, error) {
	kind := a.EntityType
	p, err := find(ctx, c, kind, a.Path)
	var missing *names.MissingError
	created := errors.As(err, &missing)
	if created {
		p, err = a.newPath(c)
	}
	if err != nil {
		return replaceContentResult{}, err
	}
	res := replaceContentResult{Success: true, Path: string(p), EntityType: a.EntityType, Created: created}
	switch {
	case kind == entity.Note:
		var done bridge.Result
		if created {
			done, err = c.Changes.Create(ctx, p, a.Content, "content")
		} else {
			done, err = c.Changes.Rewrite(ctx, p, a.Content, c.NoteReader, "replacing")
		}
		res.Notice = change.Notice(done)
	case created:
		res.Notice, err = c.Changes.WriteFile(ctx, change.File{Kind: kind, Path: p, Text: a.Content, Seen: passage.All(a.Content), Operation: approval.Create, What: "create " + string(p)})
	default:
		res.Notice, err = a.replaceFile(ctx, c, p)
	}
	return res, err
}

// newPath returns the path of a new document, with the extension of its type.
func (a replaceContentArgs) newPath(c *tool.Client) (model.Path, error) {
	name := a.Path
	if !strings.Contains(model.Path(name).Base(), ".") {
		name += a.EntityType.Ext()
	}
	p, err := c.Names.NewPath(name, true)
	if err != nil {
		return "", err
	}
	return p, checkType(a.EntityType, p)
}

// replaceFile replaces the content of a file, if that is still what the session was shown.
func (a replaceContentArgs) replaceFile(ctx context.Context, c *tool.Client, p model.Path) (string, error) {
	if err := a.EntityType.Check(a.Content); err != nil {
		return "", answer.WrongArgument("%s was left as it is: %v.", p, err)
	}
	known, err := c.Changes.MustKnow(ctx, p, Reader, "replacing")
	if err != nil {
		return "", err
	}
	edits := diffwrap.Diff(known.Text, a.Content)
	if err := c.Changes.MayTake(p, known, edits, Reader); err != nil {
		return "", err
	}
	notice, err := c.Changes.WriteFile(ctx, change.File{
		Kind: a.EntityType, Path: p, Text: a.Content, Base: change.SumOf(known.Text), Seen: known.Seen.Through(edits, true),
		Operation: approval.Update, What: "replace the content of " + string(p),
	})
	if errors.Is(err, model.ErrConflict) {
		err = answer.WrongArgument("%s has changed since you read it. Call %s again before replacing it.", p, Reader.Call(p, passage.Position{}))
	}
	return notice, err
}
