package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// note opens the note that a model means by name.
func (s *Session) note(ctx context.Context, name string) (bridge.Path, *bridge.Version, error) {
	p, err := s.resolve(ctx, name)
	if err != nil {
		return "", nil, err
	}
	v, err := s.server.ws.Open(ctx, p)
	return p, v, err
}

// resolve finds what a model means by name.
func (s *Session) resolve(ctx context.Context, name string) (bridge.Path, error) {
	p, err := s.lookUp(name)
	return p, s.orMissing(ctx, name, err)
}

// resolveName is resolve for what is to be moved or deleted: of a symbolic link that is
// the link.
func (s *Session) resolveName(ctx context.Context, name string) (bridge.Path, error) {
	p, err := asShown(name, s.server.ws.ResolveName)
	return p, s.orMissing(ctx, name, err)
}

// lookUp is Workspace.Resolve, also for names as a result shows them.
func (s *Session) lookUp(name string) (bridge.Path, error) {
	return asShown(name, s.server.ws.Resolve)
}

func asShown(name string, resolve func(string) (bridge.Path, error)) (bridge.Path, error) {
	p, err := resolve(name)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(name, `\`) {
		return resolve(answer.Meant(name))
	}
	return p, err
}

// orMissing has err say what may have been meant by a name that nothing has.
func (s *Session) orMissing(ctx context.Context, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &missingError{name: name, similar: s.similar(ctx, name), err: err}
	}
	return err
}

// missingError says that nothing is called name, and what may have been meant.
type missingError struct {
	name    string
	similar []string
	err     error
}

func (e *missingError) Error() string {
	if len(e.similar) > 0 {
		return fmt.Sprintf("There is no document %q. Did you mean %s?", e.name, strings.Join(e.similar, " or "))
	}
	return fmt.Sprintf("There is no document %q. Call glob to find its path; paths look like Folder/sub/Name.md.", e.name)
}

func (e *missingError) Unwrap() error { return e.err }

// maxSimilar is how many paths are offered instead of one that is not there.
const maxSimilar = 3

// similar finds documents of the same name elsewhere.
func (s *Session) similar(ctx context.Context, name string) []string {
	base := foldBase(name)
	var found []string
	err := s.server.ws.Walk(ctx, "", func(e bridge.DirEntry, p bridge.Path) error {
		if e.Kind == bridge.KindDir || e.Kind == bridge.KindLink || foldBase(e.Name) != base {
			return nil
		}
		if found = append(found, answer.Shown(p)); len(found) == maxSimilar {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		return nil
	}
	return found
}

func foldBase(name string) string {
	base := strings.ToLower(bridge.Path(name).Base())
	return strings.TrimSuffix(base, bridge.NoteExt)
}

// folder resolves the argument "path" of glob and grep: a folder, or one file
// if files are allowed; "" and "." are the whole workspace.
func (s *Session) folder(ctx context.Context, name string, files bool) (bridge.Path, error) {
	if name == "" || name == "." || name == "./" {
		return "", nil
	}
	p, err := s.resolve(ctx, name)
	if errors.Is(err, fs.ErrNotExist) && !files {
		err = s.noFolder("path", name)
	}
	if err != nil {
		return "", err
	}
	if files || p == "" {
		return p, nil
	}
	info, err := s.server.ws.Stat(ctx, p)
	if err == nil && info.Kind != bridge.KindDir {
		err = answer.WrongArgument("The argument \"path\" must be a folder, and %q is a document. Pass its name as the pattern instead.", string(p))
	}
	return p, err
}

// noFolder says that the argument names a folder that is not there.
func (s *Session) noFolder(argument, name string) error {
	return answer.WrongArgument("The argument %q is %q, and there is no such folder. The top-level folders are %s.", argument, name, strings.Join(s.folders(), ", "))
}
