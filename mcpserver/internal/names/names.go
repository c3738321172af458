// Package names finds what a model means by a name, and says where a new document may
// be. It opens notes, and changes nothing. It has no locks.
package names

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// Resolver finds documents in a workspace.
type Resolver struct{ Workspace *bridge.Workspace }

// Note opens the note that a model means by name.
func (r Resolver) Note(ctx context.Context, name string) (model.Path, *model.Version, error) {
	p, err := r.Resolve(ctx, name)
	if err != nil {
		return "", nil, err
	}
	v, err := r.Workspace.Open(ctx, p)
	return p, v, err
}

// Resolve finds what a model means by name.
func (r Resolver) Resolve(ctx context.Context, name string) (model.Path, error) {
	p, err := r.LookUp(name)
	return p, r.orMissing(ctx, name, err)
}

// ResolveName is Resolve for what is to be moved or deleted: of a symbolic link that is
// the link.
func (r Resolver) ResolveName(ctx context.Context, name string) (model.Path, error) {
	p, err := asShown(name, r.Workspace.ResolveName)
	return p, r.orMissing(ctx, name, err)
}

// LookUp is Workspace.Resolve, also for names as a result shows them.
func (r Resolver) LookUp(name string) (model.Path, error) {
	return asShown(name, r.Workspace.Resolve)
}

func asShown(name string, resolve func(string) (model.Path, error)) (model.Path, error) {
	p, err := resolve(name)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(name, `\`) {
		return resolve(answer.Meant(name))
	}
	return p, err
}

// orMissing has err say what may have been meant by a name that nothing has.
func (r Resolver) orMissing(ctx context.Context, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{Name: name, Similar: r.Similar(ctx, name), Err: err}
	}
	return err
}

// MissingError says that nothing is called name, and what may have been meant.
type MissingError struct {
	Name    string
	Similar []string // paths; none if nothing is like it
	Err     error
}

func (e *MissingError) Error() string {
	if len(e.Similar) > 0 {
		return fmt.Sprintf("There is no document %q. Did you mean %s?", e.Name, strings.Join(e.Similar, " or "))
	}
	return fmt.Sprintf("There is no document %q. Call glob to find its path; paths look like Folder/sub/Name.md.", e.Name)
}

func (e *MissingError) Unwrap() error { return e.Err }

// maxSimilar is how many paths are offered instead of one that is not there.
const maxSimilar = 3

// Similar finds documents of the same name elsewhere.
func (r Resolver) Similar(ctx context.Context, name string) []string {
	base := foldBase(name)
	var found []string
	err := r.Workspace.Walk(ctx, "", func(e bridge.DirEntry, p model.Path) error {
		if e.Kind == model.KindDir || e.Kind == model.KindLink || foldBase(e.Name) != base {
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
	base := strings.ToLower(model.Path(name).Base())
	return strings.TrimSuffix(base, model.NoteExt)
}

// Folder resolves the argument "path" of glob and grep: a folder, or one file
// if files are allowed; "" and "." are the whole workspace.
func (r Resolver) Folder(ctx context.Context, name string, files bool) (model.Path, error) {
	if name == "" || name == "." || name == "./" {
		return "", nil
	}
	p, err := r.Resolve(ctx, name)
	if errors.Is(err, fs.ErrNotExist) && !files {
		err = r.NoFolder("path", name)
	}
	if err != nil {
		return "", err
	}
	if files || p == "" {
		return p, nil
	}
	info, err := r.Workspace.Stat(ctx, p)
	if err == nil && info.Kind != model.KindDir {
		err = answer.WrongArgument("The argument \"path\" must be a folder, and %q is a document. Pass its name as the pattern instead.", string(p))
	}
	return p, err
}

// NoFolder says that the argument names a folder that is not there.
func (r Resolver) NoFolder(argument, name string) error {
	return answer.WrongArgument("The argument %q is %q, and there is no such folder. The top-level folders are %s.", argument, name, strings.Join(r.Folders(), ", "))
}

// NoteFolder resolves an argument "folder"; "" is the whole workspace.
func (r Resolver) NoteFolder(ctx context.Context, name string) (model.Path, error) {
	name = strings.TrimSuffix(name, "/")
	if name == "" || name == "." {
		return "", nil
	}
	p, err := r.Resolve(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = r.NoFolder("folder", name)
	}
	if err != nil || p == "" {
		return p, err
	}
	info, err := r.Workspace.Stat(ctx, p)
	if err == nil && info.Kind != model.KindDir {
		err = answer.WrongArgument("The argument \"folder\" must be a folder, and %q is a document.", string(p))
	}
	return p, err
}
