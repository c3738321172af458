package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
	"github.com/relayfs/relayfs/mcpserver/internal/names"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
	"github.com/relayfs/relayfs/mcpserver/internal/tool"
)

// typed finds the document that a model means by name and declares to be of the
// type kind.
func typed(ctx context.Context, c *tool.Client, kind, name string) (entity.Type, model.Path, error) {
	declared := entity.Type(kind)
	p, err := c.Workspace.Resolve(name)
	if errors.Is(err, fs.ErrNotExist) && declared != entity.Note && !strings.Contains(model.Path(name).Base(), ".") {
		p, err = c.Workspace.Resolve(name + declared.Ext())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = &names.MissingError{Name: name, Similar: c.Names.Similar(ctx, name), Err: err}
		if mismatch := checkType(declared, model.Path(name)); mismatch != nil && entity.Of(name) != "" {
			err = mismatch
		}
	}
	if err != nil {
		return declared, "", err
	}
	if info, err := c.Workspace.Stat(ctx, p); err == nil && info.Kind == model.KindDir {
		return declared, "", &model.Error{Op: "open", Path: p, Err: model.ErrIsDir}
	}
	return declared, p, checkType(declared, p)
}

// checkType refuses a document that is not of the declared type.
func checkType(declared entity.Type, p model.Path) error {
	switch is := entity.Of(string(p)); is {
	case declared:
		return nil
	case "":
		return answer.WrongArgument("declared '%s' but %q is none. Names of notes end in .md, of canvases in .canvas, of bases in .base.", declared, string(p))
	default:
		return answer.WrongArgument("declared '%s' but %q is a %s. Use entity_type='%s' instead.", declared, string(p), is, is)
	}
}

// document opens what a model means by name.
func document(ctx context.Context, c *tool.Client, kind, name string) (session.Document, error) {
	declared, p, err := typed(ctx, c, kind, name)
	if err != nil {
		return session.Document{}, err
	}
	return open(ctx, c, declared, p)
}

func open(ctx context.Context, c *tool.Client, kind entity.Type, p model.Path) (session.Document, error) {
	d := session.Document{Path: p}
	var err error
	if kind == entity.Note {
		if d.Version, err = c.Workspace.Open(ctx, p); err == nil {
			d.Text = d.Version.Text()
		}
		return d, err
	}
	d.Text, err = readFile(ctx, c, p)
	return d, err
}

// readFile is the text of a file that is not a note.
func readFile(ctx context.Context, c *tool.Client, p model.Path) (string, error) {
	info, err := c.Workspace.Stat(ctx, p)
	switch {
	case err != nil:
		return "", err
	case info.Kind == model.KindDir:
		return "", &model.Error{Op: "open", Path: p, Err: model.ErrIsDir}
	case info.Size > model.MaxNote:
		return "", &model.Error{Op: "open", Path: p, Err: model.ErrTooLarge}
	}
	f, err := c.Workspace.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, model.MaxNote+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read %q: %w", string(p), err)
	}
	if !utf8.Valid(data) {
		return "", &model.Error{Op: "open", Path: p, Err: model.ErrInvalidUTF8}
	}
	return string(data), nil
}
