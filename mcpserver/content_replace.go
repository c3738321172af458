package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
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

func (r replaceContentResult) failed() bool { return !r.Success }

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
		res.Notice, err = s.writeFile(ctx, fileWrite{kind: kind, path: p, text: a.Content, op: opCreate, what: "create " + string(p)})
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
	if err := checkMarkup("content", s.server.ws.Options().View, "", a.Content, 0); err != nil {
		return "", err
	}
	if err := s.approve(ctx, opCreate, "create the note "+string(p), nil); err != nil {
		return "", err
	}
	res, err := s.server.ws.Create(ctx, p, bridge.Write{Text: a.Content, By: s.author(), Origin: s})
	if err != nil {
		return "", err
	}
	s.remember(p, shownNote{version: res.Version, mine: diffwrap.Suggestions(res.Version.Raw())})
	return strings.Join(res.Warnings, " "), nil
}

// replaceNote writes the note as a whole. Its base is what the session was shown;
// where changes are made at once, that is needed, for nobody could take back what
// the model did not see.
func (a replaceContentArgs) replaceNote(ctx context.Context, s *Session, p bridge.Path) (string, error) {
	base, err := s.server.ws.Open(ctx, p)
	if err != nil {
		return "", err
	}
	known, read := s.known(p)
	if s.server.ws.Options().Mode == bridge.Direct {
		if known, err = s.mustKnow(ctx, p, true); err != nil {
			return "", err
		}
	}
	if read && !known.partly {
		base = known.version
	}
	text := inStyleOf(base.Text(), a.Content)
	if err := checkMarkup("content", s.server.ws.Options().View, base.Text(), text, 0); err != nil {
		return "", err
	}
	if err := s.approve(ctx, opUpdate, "replace the content of "+string(p), nil); err != nil {
		return "", err
	}
	res, err := s.server.ws.Write(ctx, p, bridge.Write{Bases: []*bridge.Version{base}, Text: text, By: s.author(), Origin: s})
	if err != nil {
		return "", err
	}
	s.changed(p, base, res.Version, !res.Merged)
	return strings.Join(res.Warnings, " "), nil
}

// replaceFile writes the file as a whole, if it holds what the session was shown.
// Where changes are made at once the session must have been shown it.
func (a replaceContentArgs) replaceFile(ctx context.Context, s *Session, kind entity.Type, p bridge.Path) (string, error) {
	base := s.knownFile(p)
	if s.server.ws.Options().Mode == bridge.Direct && base == (bridge.ContentSum{}) {
		return "", wrongArgument("You must read this document before replacing it. Call the get_content tool with entity_type: %q, path: %q first.", string(kind), string(p))
	}
	notice, err := s.writeFile(ctx, fileWrite{
		kind: kind, path: p, text: a.Content, base: base, op: opUpdate, what: "replace the content of " + string(p),
	})
	if errors.Is(err, bridge.ErrConflict) {
		err = wrongArgument("%s has changed since you read it. Call the get_content tool with entity_type: %q, path: %q again before replacing it.", p, string(kind), string(p))
	}
	return notice, err
}
