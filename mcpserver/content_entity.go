package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/entity"
)

// document is what a content tool works on.
type document struct {
	kind    entity.Type
	path    bridge.Path
	text    string          // as it is shown
	version *bridge.Version // of a note; nil for a file
}

// typed finds the document that a model means by name and declares to be of the
// type kind.
func (s *Session) typed(ctx context.Context, kind, name string) (entity.Type, bridge.Path, error) {
	declared := entity.Type(kind)
	p, err := s.server.ws.Resolve(name)
	if errors.Is(err, fs.ErrNotExist) && declared != entity.Note && !strings.Contains(bridge.Path(name).Base(), ".") {
		p, err = s.server.ws.Resolve(name + declared.Ext())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = &missingError{name: name, similar: s.similar(ctx, name), err: err}
		if mismatch := checkType(declared, bridge.Path(name)); mismatch != nil && entity.Of(name) != "" {
			err = mismatch
		}
	}
	if err != nil {
		return declared, "", err
	}
	if info, err := s.server.ws.Stat(ctx, p); err == nil && info.Kind == bridge.KindDir {
		return declared, "", &bridge.Error{Op: "open", Path: p, Err: bridge.ErrIsDir}
	}
	return declared, p, checkType(declared, p)
}

// checkType refuses a document that is not of the declared type.
func checkType(declared entity.Type, p bridge.Path) error {
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
func (s *Session) document(ctx context.Context, kind, name string) (document, error) {
	declared, p, err := s.typed(ctx, kind, name)
	if err != nil {
		return document{}, err
	}
	return s.open(ctx, declared, p)
}

func (s *Session) open(ctx context.Context, kind entity.Type, p bridge.Path) (document, error) {
	d := document{kind: kind, path: p}
	var err error
	if kind == entity.Note {
		if d.version, err = s.server.ws.Open(ctx, p); err == nil {
			d.text = d.version.Text()
		}
		return d, err
	}
	d.text, err = s.readFile(ctx, p)
	return d, err
}

// readFile is the text of a file that is not a note.
func (s *Session) readFile(ctx context.Context, p bridge.Path) (string, error) {
	info, err := s.server.ws.Stat(ctx, p)
	switch {
	case err != nil:
		return "", err
	case info.Kind == bridge.KindDir:
		return "", &bridge.Error{Op: "open", Path: p, Err: bridge.ErrIsDir}
	case info.Size > bridge.MaxNote:
		return "", &bridge.Error{Op: "open", Path: p, Err: bridge.ErrTooLarge}
	}
	f, err := s.server.ws.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, bridge.MaxNote+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read %q: %w", string(p), err)
	}
	if !utf8.Valid(data) {
		return "", &bridge.Error{Op: "open", Path: p, Err: bridge.ErrInvalidUTF8}
	}
	return string(data), nil
}
