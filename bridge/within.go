package bridge

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Within is the part of the workspace that a client may reach: the Folders named,
// of those in w. For who has it there is nothing else, neither by path nor by id,
// in no list, no journal and no event. Paths lead through root, which is why no
// operation has to ask; what is kept for all Folders together is filtered by
// reaches.
func (w *Workspace) Within(folders ...string) *Workspace {
	part := &Workspace{whole: w.whole, root: &node{id: w.root.id, kind: model.KindDir, children: make(map[string]*node), mode: 0o755, modTime: time.Now()}}
	for _, name := range folders {
		if n := w.root.children[name]; n != nil {
			part.root.children[name] = n
		}
	}
	return part
}

// reaches says whether p lies in a Folder of w. The folder of all Folders does.
func (w *Workspace) reaches(p model.Path) bool {
	name, _ := p.Split()
	return p == "" || w == w.all || w.root.children[name] != nil
}

// within keeps of list what lies in the Folders of w.
func within[T any](w *Workspace, list []T, at func(T) model.Path) []T {
	if w == w.all {
		return list
	}
	return slices.DeleteFunc(list, func(x T) bool { return !w.reaches(at(x)) })
}

func samePath(p model.Path) model.Path { return p }
