package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/approval"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
	"github.com/relayfs/relayfs/mcpserver/internal/match"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
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

func (r replaceContentResult) Failed() bool { return !r.Success }

// replaceContent tells every failure in its result.
func replaceContent(ctx context.Context, s *Session, a replaceContentArgs) (replaceContentResult, error) {
	res, err := a.run(ctx, s)
	if sentence, ok := s.sentence(err); ok {
		return replaceContentResult{Path: a.Path, EntityType: a.EntityType, Error: sentence}, nil
	}
	return res, err
}

func (a replaceContentArgs) run(ctx context.Context, s *Session) (replaceContentResult, error) {
	kind, p, err := s.typed(ctx, a.EntityType, a.Path)
	var missing *missingError
	created := errors.As(err, &missing)
	if created {
		p, err = a.newPath(s, kind)
	}
	if err != nil {
		return replaceContentResult{}, err
	}
	res := replaceContentResult{Success: true, Path: string(p), EntityType: a.EntityType, Created: created}
	switch {
	case kind == entity.Note && created:
		res.Notice, err = a.createNote(ctx, s, p)
	case kind == entity.Note:
		res.Notice, err = a.replaceNote(ctx, s, p)
	case created:
		res.Notice, err = s.writeFile(ctx, fileWrite{kind: kind, path: p, text: a.Content, seen: passage.All(a.Content), op: approval.Create, what: "create " + string(p)})
	default:
		res.Notice, err = a.replaceFile(ctx, s, kind, p)
	}
	return res, err
}

// newPath is the path of a document to be made, with the extension of its type.
func (a replaceContentArgs) newPath(s *Session, kind entity.Type) (bridge.Path, error) {
	name := a.Path
	if !strings.Contains(bridge.Path(name).Base(), ".") {
		name += kind.Ext()
	}
	p, err := s.newPath(name)
	if err != nil {
		return "", err
	}
	return p, checkType(kind, p)
}

func (a replaceContentArgs) createNote(ctx context.Context, s *Session, p bridge.Path) (string, error) {
	if err := match.CheckMarkup("content", s.server.ws.Options().View, "", a.Content, 0); err != nil {
		return "", err
	}
	res, err := s.create(ctx, p, a.Content)
	return warningsOf(res), err
}

// replaceNote writes the note as a whole. Its base is what the session was shown.
func (a replaceContentArgs) replaceNote(ctx context.Context, s *Session, p bridge.Path) (string, error) {
	known, err := s.mustKnow(ctx, p, s.reader(), "replacing")
	if err != nil {
		return "", err
	}
	text := match.InStyleOf(known.text, a.Content)
	if err := match.CheckMarkup("content", s.server.ws.Options().View, known.text, text, 0); err != nil {
		return "", err
	}
	res, err := s.replace(ctx, p, known, text, s.reader(), "replace the content of "+string(p))
	notice := warningsOf(res)
	if res.Merged {
		notice = strings.TrimSpace(notice + " Others had changed the note since you read it; their changes were kept. Read it again.")
	}
	return notice, err
}

// replaceFile writes the file as a whole, if it holds what the session was shown.
func (a replaceContentArgs) replaceFile(ctx context.Context, s *Session, kind entity.Type, p bridge.Path) (string, error) {
	if err := kind.Check(a.Content); err != nil {
		return "", answer.WrongArgument("%s was left as it is: %v.", p, err)
	}
	known, err := s.mustKnow(ctx, p, "get_content", "replacing")
	if err != nil {
		return "", err
	}
	edits := diffwrap.Diff(known.text, a.Content)
	if err := s.mayTake(p, known, edits, "get_content"); err != nil {
		return "", err
	}
	notice, err := s.writeFile(ctx, fileWrite{
		kind: kind, path: p, text: a.Content, base: sumOf(known.text), seen: known.seen.Through(edits, true),
		op: approval.Update, what: "replace the content of " + string(p),
	})
	if errors.Is(err, bridge.ErrConflict) {
		err = answer.WrongArgument("%s has changed since you read it. Call %s again before replacing it.", p, readCall("get_content", p, passage.Position{}))
	}
	return notice, err
}
