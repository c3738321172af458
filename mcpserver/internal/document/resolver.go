// Package document finds the document that a model means by a name or URI, and checks the path of a new document
// ([Resolver]). It also reads text in several encodings ([Document]). A document is a note, a canvas, a base or another
// text file. The package changes nothing.
package document

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
)

type Resolver struct{ Workspace *bridge.Workspace }

func (r Resolver) Note(ctx context.Context, name string) (model.Path, *model.Version, error) {
	p, err := r.Resolve(ctx, name)
	if err != nil {
		return "", nil, err
	}
	v, err := r.Workspace.Open(ctx, p)
	return p, v, err
}

// Resolve returns the path of the document that a model means by name. If there is none, the error is a MissingError.
func (r Resolver) Resolve(ctx context.Context, name string) (model.Path, error) {
	p, err := r.LookUp(name)
	return p, r.orMissing(ctx, name, err)
}

// ResolveName does the same as Resolve, for moves and deletions. It does not follow a symbolic link.
func (r Resolver) ResolveName(ctx context.Context, name string) (model.Path, error) {
	p, err := asShown(name, r.Workspace.ResolveName)
	return p, r.orMissing(ctx, name, err)
}

// LookUp does the same as Workspace.Resolve, and also accepts escaped names.
func (r Resolver) LookUp(name string) (model.Path, error) {
	return asShown(name, r.Workspace.Resolve)
}

func asShown(name string, resolve func(string) (model.Path, error)) (model.Path, error) {
	p, err := resolve(name)
	if errors.Is(err, fs.ErrNotExist) && strings.Contains(name, `\`) {
		return resolve(result.Unescape(name))
	}
	return p, err
}

func (r Resolver) orMissing(ctx context.Context, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{Name: name, Similar: r.Similar(ctx, name), Err: err}
	}
	return err
}

type MissingError struct {
	Name    string
	Similar []string // paths that the model may have meant
	Err     error
}

func (e *MissingError) Error() string {
	if len(e.Similar) > 0 {
		return result.InvalidArgument("There is no document %q. Did you mean %s?", e.Name, strings.Join(e.Similar, " or ")).Error()
	}
	return result.InvalidArgument("There is no document %q. Call glob to find its path; paths look like Folder/sub/Name.md.", e.Name).Error()
}

func (e *MissingError) Unwrap() error { return e.Err }

const maxSimilar = 3

// Similar returns up to maxSimilar paths of documents with the same name in any folder. It ignores case and the
// extension .md.
func (r Resolver) Similar(ctx context.Context, name string) []string {
	base := foldBase(name)
	var found []string
	_ = r.Workspace.Walk(ctx, "", func(e bridge.Info) error { // without similar paths the error is good enough
		if e.Kind == model.KindDir || e.Kind == model.KindLink || foldBase(e.Path.Base()) != base {
			return nil
		}
		if found = append(found, result.Escape(e.Path)); len(found) == maxSimilar {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func foldBase(name string) string {
	base := strings.ToLower(model.Path(name).Base())
	return strings.TrimSuffix(base, model.NoteExt)
}

// Place returns the path of a folder or document. "" and "." mean the whole workspace.
func (r Resolver) Place(ctx context.Context, name string) (model.Path, error) {
	if name = strings.TrimSuffix(name, "/"); name == "" || name == "." {
		return "", nil
	}
	return r.Resolve(ctx, name)
}

// Folder does the same as Place, for an argument that must be a folder. hint is the end of the error text if name is a
// document.
func (r Resolver) Folder(ctx context.Context, argument, name, hint string) (model.Path, error) {
	p, err := r.Place(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = result.InvalidArgument("The argument %q is %q, and there is no such folder. The top-level folders are %s.", argument, strings.TrimSuffix(name, "/"), strings.Join(r.Folders(), ", "))
	}
	if err != nil || p == "" {
		return p, err
	}
	info, err := r.Workspace.Stat(ctx, p)
	if err == nil && info.Kind != model.KindDir {
		err = result.InvalidArgument("The argument %q must be a folder, and %q is a document.%s", argument, string(p), hint)
	}
	return p, err
}

// NewPath returns the canonical path of a new document. If note is set and the name has no extension, it appends ".md".
func (r Resolver) NewPath(name string, note bool) (model.Path, error) {
	if mp := r.Workspace.Mountpoint(); mp != "" {
		name = strings.TrimPrefix(name, mp+"/")
	}
	p, err := model.CleanPath(name)
	if err != nil {
		return "", err
	}
	folder, rel := p.Split()
	if rel == "" {
		return "", result.InvalidArgument("%q names no document. Paths look like Folder/sub/Name.md; the folders are %s.", name, strings.Join(r.Folders(), ", "))
	}
	root, err := r.Workspace.Resolve(folder)
	if err != nil {
		return "", result.InvalidArgument("There is no folder %q. The folders are %s.", folder, strings.Join(r.Folders(), ", "))
	}
	p = r.existing(root, rel)
	if note && !strings.Contains(p.Base(), ".") {
		p += model.NoteExt
	}
	if err := model.CheckName(p.Base()); err != nil {
		return "", &model.Error{Op: "create", Path: p, Err: err}
	}
	if err := checkNew(p); err != nil {
		return "", err
	}
	if strings.HasSuffix(name, "/") {
		return "", result.InvalidArgument("%q names a folder. Give the path of the document itself; paths look like Folder/sub/Name.md.", name)
	}
	return p, nil
}

func (r Resolver) NewNote(name string) (model.Path, error) {
	p, err := r.NewPath(name, true)
	if err == nil && !p.IsNote() {
		err = &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	}
	return p, err
}

func (r Resolver) NewDocument(name string) (model.Path, error) {
	p, err := r.NewPath(name, true)
	if err == nil && filetype.TypeOf(string(p)) == "" {
		err = result.InvalidArgument("%q was not created: the name of a new document must end in .md, .canvas or .base.", string(p))
	}
	return p, err
}

// existing returns the path rel in root. It uses the stored spelling of each folder that exists, because on many disks
// two spellings name the same folder.
func (r Resolver) existing(root model.Path, rel string) model.Path {
	p := root
	elems := strings.Split(rel, "/")
	for _, elem := range elems[:len(elems)-1] {
		p = p.Join(elem)
		if there, err := r.Workspace.Resolve(string(p)); err == nil && !there.IsNote() {
			p = there
		}
	}
	return p.Join(elems[len(elems)-1])
}

func (r Resolver) Folders() []string {
	var names []string
	for _, f := range r.Workspace.Options().Roots {
		names = append(names, f.Name)
	}
	return names
}

// maxNewPath is the maximum length of a new path in bytes. It leaves space for the vault's path, because some systems
// limit the whole path to 1,024 bytes.
const maxNewPath = 800

// checkNew returns an error for a path that users would not see, could not distinguish from another path, or could not
// open.
func checkNew(p model.Path) error {
	_, rel := p.Split()
	if len(p) > maxNewPath {
		return result.InvalidArgument("The path %q is too long: a new path has at most %d bytes. Choose another path.", strings.ToValidUTF8(string(p[:64]), "")+"...", maxNewPath)
	}
	for elem := range strings.SplitSeq(rel, "/") {
		switch {
		case strings.HasPrefix(elem, "."):
			return result.InvalidArgument("The path %q is not allowed: users do not see names that begin with a dot. Choose another name.", string(p))
		case strings.IndexFunc(elem, result.Unprintable) >= 0:
			return result.InvalidArgument("The path %q is not allowed: it contains a control character. Choose another name.", string(p))
		}
	}
	return nil
}
