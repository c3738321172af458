package content

import (
	"context"
	"errors"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/change"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
	"github.com/relayfs/relayfs/mcpserver/internal/names"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type replaceContentArgs struct {
	EntityType string `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"What the path is: a note (Markdown), a canvas (JSON Canvas) or a base (YAML)"`
	Path       string `arg:"path" is:"path" need:"true" doc:"Path of the document, new or existing"`
	Content    string `arg:"content" need:"true" doc:"The whole content that it is to have"`
}

type replaceContentResult struct {
	Success    bool   `json:"success"`
	Path       string `json:"path,omitempty"`
	EntityType string `json:"entity_type,omitempty"`
	Created    bool   `json:"created"`
	Error      string `json:"error,omitempty" doc:"Why nothing was changed"`
	Notice     string `json:"notice,omitempty" doc:"What else there is to know of the change"`
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
	kind := entity.Type(a.EntityType)
	p, err := find(ctx, c, kind, a.Path)
	var missing *names.MissingError
	created := errors.As(err, &missing)
	if created {
		p, err = a.newPath(c, kind)
	}
	if err != nil {
		return replaceContentResult{}, err
	}
	res := replaceContentResult{Success: true, Path: string(p), EntityType: a.EntityType, Created: created}
	switch {
	case kind == entity.Note && created:
		res.Notice, err = a.createNote(ctx, c, p)
	case kind == entity.Note:
		res.Notice, err = a.replaceNote(ctx, c, p)
	case created:
		res.Notice, err = c.Changes.WriteFile(ctx, change.File{Kind: kind, Path: p, Text: a.Content, Seen: passage.All(a.Content), Operation: approval.Create, What: "create " + string(p)})
	default:
		res.Notice, err = a.replaceFile(ctx, c, kind, p)
	}
	return res, err
}

// newPath returns the path of a new document, with the extension of its type.
func (a replaceContentArgs) newPath(c *tool.Client, kind entity.Type) (model.Path, error) {
	name := a.Path
	if !strings.Contains(model.Path(name).Base(), ".") {
		name += kind.Ext()
	}
	p, err := c.Names.NewPath(name, true)
	if err != nil {
		return "", err
	}
	return p, checkType(kind, p)
}

func (a replaceContentArgs) createNote(ctx context.Context, c *tool.Client, p model.Path) (string, error) {
	if err := match.CheckMarkup("content", c.Workspace.Options().View, "", a.Content, 0); err != nil {
		return "", err
	}
	res, err := c.Changes.Create(ctx, p, a.Content)
	return change.Notice(res), err
}

// replaceNote replaces the text of a note. The base is the version that the session was shown.
func (a replaceContentArgs) replaceNote(ctx context.Context, c *tool.Client, p model.Path) (string, error) {
	known, err := c.Changes.MustKnow(ctx, p, c.NoteReader, "replacing")
	if err != nil {
		return "", err
	}
	text := match.InStyleOf(known.Text, a.Content)
	if err := match.CheckMarkup("content", c.Workspace.Options().View, known.Text, text, 0); err != nil {
		return "", err
	}
	res, err := c.Changes.Replace(ctx, p, known, text, c.NoteReader, "replace the content of "+string(p))
	return change.Notice(res), err
}

// replaceFile replaces the content of a file, if that is still what the session was shown.
func (a replaceContentArgs) replaceFile(ctx context.Context, c *tool.Client, kind entity.Type, p model.Path) (string, error) {
	if err := kind.Check(a.Content); err != nil {
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
		Kind: kind, Path: p, Text: a.Content, Base: change.SumOf(known.Text), Seen: known.Seen.Through(edits, true),
		Operation: approval.Update, What: "replace the content of " + string(p),
	})
	if errors.Is(err, model.ErrConflict) {
		err = answer.WrongArgument("%s has changed since you read it. Call %s again before replacing it.", p, Reader.Call(p, passage.Position{}))
	}
	return notice, err
}
