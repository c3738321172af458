package names

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// NewPath returns the canonical path of a new document. It adds ".md" to a name without an
// extension.
func (r Resolver) NewPath(name string) (model.Path, error) { return r.PlaceFor(name, true) }

// PlaceFor is NewPath for a note, or else for a folder or file, whose name stays as it is.
func (r Resolver) PlaceFor(name string, note bool) (model.Path, error) {
	if mp := r.Workspace.Mountpoint(); mp != "" {
		name = strings.TrimPrefix(name, mp+"/")
	}
	p, err := model.CleanPath(name)
	if err != nil {
		return "", err
	}
	folder, rel := p.Split()
	if rel == "" {
		return "", answer.WrongArgument("%q names no document. Paths look like Folder/sub/Name.md; the folders are %s.", name, strings.Join(r.Folders(), ", "))
	}
	root, err := r.Workspace.Resolve(folder)
	if err != nil {
		return "", answer.WrongArgument("There is no folder %q. The folders are %s.", folder, strings.Join(r.Folders(), ", "))
	}
	p = r.existing(root, rel)
	if note && !strings.Contains(p.Base(), ".") {
		p += model.NoteExt
	}
	if err := model.CheckName(p.Base()); err != nil {
		return "", &model.Error{Op: "create", Path: p, Err: err}
	}
	return p, checkNew(p)
}

// existing returns the path rel in the Folder root. Folders that exist in another spelling keep
// theirs, because on many disks both spellings are one folder.
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

// Folders returns the names of the workspace's Folders.
func (r Resolver) Folders() []string {
	var names []string
	for _, f := range r.Workspace.Options().Folders {
		names = append(names, f.Name)
	}
	return names
}

// maxNewPath bounds the path of a new document, in bytes. Some systems bound the whole path,
// with that of the vault, to 1,024 bytes.
const maxNewPath = 800

// checkNew refuses paths that people would not see, or could not tell from others or open.
func checkNew(p model.Path) error {
	_, rel := p.Split()
	if len(p) > maxNewPath {
		return answer.WrongArgument("The path %q is too long: a new one has at most %d bytes. Choose another.", strings.ToValidUTF8(string(p[:64]), "")+"...", maxNewPath)
	}
	for elem := range strings.SplitSeq(rel, "/") {
		switch {
		case strings.HasPrefix(elem, "."):
			return answer.WrongArgument("The path %q is not allowed: people are not shown names that begin with a dot. Choose another name.", string(p))
		case strings.IndexFunc(elem, answer.Unprintable) >= 0:
			return answer.WrongArgument("The path %q is not allowed: it has a control character in it. Choose another name.", string(p))
		}
	}
	return nil
}
