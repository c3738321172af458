package tree

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// Node is one name in the tree. The exported fields never change.
type Node struct {
	ID     uint64 // the same while the process lives, also over renames; over 1
	Kind   model.NodeKind
	Folder *Folder    // nil for the root
	Note   *note.Note // KindNote

	name      string           // as it is shown
	parent    *Node            // as it is shown; nil if it is not
	home      *home            // where the source has it, nil if that is where it is shown
	children  map[string]*Node // KindDir: what is shown in it
	away      map[string]*Node // KindDir: what the source has in it and is not shown there
	createdBy *model.Author    // KindDir: which agent made it, as far as that is known, nil once others have used it
	pending   *Proposal        // to rename or delete it
	content   *Proposal        // to make something else its content; KindFile
	mode      fs.FileMode
	modTime   time.Time
	size      int64  // KindFile
	link      string // KindLink: what it says where its source has it
}

// path is the node's place in the workspace; for one that is proposed to be
// deleted, where people have it.
func (n *Node) path() model.Path {
	var parts []string
	for ; n.parent != nil; n = n.parent {
		parts = append(parts, n.name)
	}
	if n.hidden() {
		parts = append(parts, n.rel(), n.Folder.Name)
	}
	slices.Reverse(parts)
	return model.Path(strings.Join(parts, "/"))
}

// child finds a name: as it is written, or in another Unicode composition.
func (n *Node) child(name string) *Node {
	if c := n.children[name]; c != nil {
		return c
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil // there is no other composition
	}
	key := model.FoldName(name)
	for have, c := range n.children {
		if model.FoldName(have) == key {
			return c
		}
	}
	return nil
}

// newNode makes a node that is to be shown in dir.
func newNode(dir *Node, name string, kind model.NodeKind) *Node {
	f := dir.Folder
	f.nextID++
	n := &Node{ID: f.nextID, name: name, Kind: kind, parent: dir, Folder: f}
	switch kind {
	case model.KindDir:
		n.children = make(map[string]*Node)
	case model.KindNote:
		n.Note = f.notes.New(n, f.Source, f.Store)
	}
	return n
}

func (n *Node) update(e model.SourceEntry) {
	n.link = e.Link
	n.mode = e.Mode.Perm()
	n.size = e.Stamp.Size
	if e.Stamp.ModTime != 0 {
		n.modTime = time.Unix(0, e.Stamp.ModTime)
	}
}

func (n *Node) walk(fn func(*Node)) {
	for _, c := range n.sorted() {
		fn(c)
		if c.Kind == model.KindDir {
			c.walk(fn)
		}
	}
}

// sorted returns the children in the order of their paths: a folder sorts as if
// its name ended in '/', so that a walk lists whole paths in byte order.
func (n *Node) sorted() []*Node {
	key := func(c *Node) string {
		if c.Kind == model.KindDir {
			return c.name + "/"
		}
		return c.name
	}
	return slices.SortedFunc(maps.Values(n.children), func(a, b *Node) int { return strings.Compare(key(a), key(b)) })
}

func (n *Node) peoplesPath() model.Path {
	if n.Folder == nil || n == n.Folder.top {
		return n.path()
	}
	return n.Folder.Path().Join(n.rel())
}

// usedBy tells d and the folders that it is in that the author has made, moved or
// changed something in there; a person has no name. Who made the folders asks from
// now on, unless that is the same one.
func (d *Node) usedBy(by model.Author) {
	for ; d != nil; d = d.at().parent {
		if d.createdBy != nil && !d.createdBy.Is(by) {
			d.createdBy = nil
		}
	}
}

// creator is which agent made the folder, nobody if none is known to have.
func (n *Node) creator() model.Author {
	if n.createdBy == nil {
		return model.Author{}
	}
	return *n.createdBy
}

// madeBy notes that agents made those of the folders that are there, if nobody knows who did: this
// author and perhaps others.
func (f *Folder) madeBy(rels []string, author string) {
	for _, rel := range rels {
		if d := f.lookup(rel); d != nil && d.creator().Name == "" {
			by := d.creator()
			by.Name = author
			d.createdBy = &by
		}
	}
}

func (f *Folder) MadeBy(rels []string, author string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.madeBy(rels, author)
}

func (n *Node) event(kind model.EventKind) model.Event {
	return model.Event{Kind: kind, Path: n.path(), Dir: n.Kind == model.KindDir, Link: n.Kind == model.KindLink, ViewChanged: true}
}

// State is what a node is at one moment. Its Place is what a note has to know of that; the Path of a node
// that is proposed to be deleted is where people have it.
type State struct {
	note.Place
	Dir       *Node     // the folder that it is shown in, nil if it is not shown
	Name      string    // as it is shown
	ShownRel  string    // where the source would have it if what is proposed for its name was done
	Home      Target    // where the source has it, if that is elsewhere
	Elsewhere bool      // the source has it elsewhere than it is shown, or not at all
	Virtual   bool      // the source does not have it; its Rel is ""
	Hidden    bool      // it is proposed to be deleted
	Pending   *Proposal // to rename or delete it, nil if there is none
	Content   *Proposal // to make something else its content, nil if there is none
	Mode      fs.FileMode
	Size      int64
	ModTime   time.Time
	Link      string       // of a symbolic link: what it says where its source has it
	CreatedBy model.Author // of a folder: which agent made it, as far as that is known, nobody once others have used it
	Shows     int          // how many names are shown in it
}

// Place is the Place in the State of n. That of the root is zero.
func (n *Node) Place() note.Place {
	if n.Folder == nil {
		return note.Place{}
	}
	n.Folder.mu.RLock()
	defer n.Folder.mu.RUnlock()
	return n.place()
}

func (n *Node) place() note.Place {
	p := note.Place{Path: n.path(), Peoples: n.peoplesPath(), Rel: n.rel(), Offline: n.Folder.Offline()}
	d, linked := n, true
	for ; d.parent != nil; d = d.parent {
		linked = linked && d.parent.children[d.name] == d
	}
	p.Shown = d.Folder == nil
	p.Attached = linked && (p.Shown || d.hidden())
	return p
}

func (n *Node) State() State {
	n.Folder.mu.RLock()
	defer n.Folder.mu.RUnlock()
	s := State{
		Place: n.place(), Dir: n.parent, Name: n.name, Elsewhere: n.home != nil, Virtual: n.virtual(), Hidden: n.hidden(),
		Pending: n.pending, Content: n.content, Mode: n.mode, Size: n.size, ModTime: n.modTime, Link: n.link,
		CreatedBy: n.creator(), Shows: len(n.children),
	}
	if n.home != nil {
		s.Home = Target{Dir: n.home.parent, Name: n.home.name}
	}
	if n.parent != nil {
		s.ShownRel = path.Join(n.parent.rel(), n.name)
	}
	return s
}

// Holds is what the source has in the folder n.
func (n *Node) Holds() []*Node {
	n.Folder.mu.RLock()
	defer n.Folder.mu.RUnlock()
	return n.sourceChildren()
}

// KindAs is what n is under another name. Only files are notes by their names.
func (n *Node) KindAs(name string) model.NodeKind {
	if n.Kind == model.KindDir || n.Kind == model.KindLink {
		return n.Kind
	}
	return model.KindOf(name, false)
}

// Paths are those of n and of all that is shown below it.
func (n *Node) Paths() []model.Path {
	n.Folder.mu.RLock()
	defer n.Folder.mu.RUnlock()
	list := []model.Path{n.path()}
	n.walk(func(c *Node) { list = append(list, c.path()) })
	return list
}

// Notes are the notes that the source has at or below n.
func (n *Node) Notes() (notes []*note.Note) {
	n.Folder.mu.RLock()
	defer n.Folder.mu.RUnlock()
	n.walkSource(func(c *Node) {
		if c.Note != nil {
			notes = append(notes, c.Note)
		}
	})
	return notes
}

func (n *Node) InSource(name string) *Node {
	n.Folder.mu.RLock()
	defer n.Folder.mu.RUnlock()
	return n.inSource(name)
}

// Info describes what a path names. A list has of each only the path, the kind and the ID, and
// of files that are no notes the time.
type Info struct {
	Path     model.Path
	Kind     model.NodeKind
	ID       uint64 // the same while the process lives, also over renames; over 1
	Size     int64  // bytes of the view for a note
	ModTime  time.Time
	Mode     fs.FileMode // permission bits
	Target   string      // of a symbolic link: what it leads to, from the folder it is shown in
	ReadOnly bool        // a write would be refused
	Offline  bool        // because the Folder's source is away; ReadOnly is set too
}

// Info describes what is shown at p, but for a note's size; fs.ErrNotExist.
func (t *Tree) Info(op string, p model.Path) (*Node, Info, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.lookup(p)
	if n == nil {
		return nil, Info{}, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	info := Info{Path: n.path(), Kind: n.Kind, ID: n.ID, Size: n.size, ModTime: n.modTime, Mode: n.mode}
	if n.Kind == model.KindLink {
		info.Target = n.target()
		info.Size = int64(len(info.Target))
	}
	if n.content != nil {
		info.Size, info.ModTime = int64(len(n.content.rec.New)), n.content.rec.Time
	}
	if n.Folder != nil && n.Folder.ReadOnly() {
		info.ReadOnly, info.Offline = true, n.Folder.Offline()
	}
	return n, info, nil
}

func (f *Folder) SetMode(n *Node, mode fs.FileMode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.mode = mode
}

func (f *Folder) SetStamp(n *Node, stamp model.Stamp) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.update(model.SourceEntry{Mode: n.mode, Stamp: stamp})
}

// Used notes that a person decides on n, in the folders where it is and is shown.
func (f *Folder) Used(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.usedBy(model.Author{})
	n.parent.usedBy(model.Author{})
}
