package content

import (
	"context"
	"errors"
	"strings"

	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

type documentArgs struct {
	EntityType filetype.Type `arg:"entity_type" need:"true" enum:"note|canvas|base" doc:"Type of the document: note (Markdown), canvas (JSON Canvas) or base (YAML)"`
	Path       string        `arg:"path" is:"path" need:"true" doc:"Path of the document"`
}

func find(ctx context.Context, c *tool.Client, kind filetype.Type, name string) (model.Path, error) {
	p, err := c.Resolver.Resolve(ctx, name)
	var missing *document.MissingError
	if errors.As(err, &missing) && kind != filetype.Note && !strings.Contains(model.Path(name).Base(), ".") {
		if there, again := c.Resolver.LookUp(name + kind.Ext()); again == nil {
			p, err = there, nil
		}
	}
	if mismatch := checkType(kind, model.Path(name)); errors.As(err, &missing) && mismatch != nil && filetype.TypeOf(name) != "" {
		err = mismatch
	}
	if err != nil {
		return "", err
	}
	if info, err := c.Workspace.Stat(ctx, p); err == nil && info.Kind == model.KindDir {
		return "", &model.Error{Op: "open", Path: p, Err: model.ErrIsDir}
	}
	return p, checkType(kind, p)
}

func checkType(declared filetype.Type, p model.Path) error {
	switch typ := filetype.TypeOf(string(p)); typ {
	case declared:
		return nil
	case "":
		return result.InvalidArgument("declared '%s' but %q is not one. Names of notes end in .md, of canvases in .canvas, of bases in .base.", declared, string(p))
	default:
		return result.InvalidArgument("declared '%s' but %q is a %s. Use entity_type='%s' instead.", declared, string(p), typ, typ)
	}
}

func (a documentArgs) open(ctx context.Context, c *tool.Client) (document.Document, error) {
	p, err := find(ctx, c, a.EntityType, a.Path)
	if err != nil {
		return document.Document{}, err
	}
	return c.Resolver.Document(ctx, p)
}
