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
	ID   uint64 // stable in this process, also over renames; over 1
	Kind model.NodeKind
	Root *Root      // nil for the root
	Note *note.Note // KindNote

	name           string           // as shown
	parent         *Node            // as shown; nil if not shown
	sourceLoc      *sourceLoc       // place in the source, nil if n is shown there
	children       map[string]*Node // KindDir: shown in it
	movedOut       map[string]*Node // KindDir: in it in the source, but not shown there
	createdByAgent *model.Author    // KindDir: the agent that made it; nil if unknown, or once others have used it
	pending        *Proposal        // to rename or delete it
	content        *Proposal        // KindFile: new content
	mode           fs.FileMode
	modTime        time.Time
	size           int64  // KindFile
	link           string // KindLink: the target in the source
}

// path returns the node's path in the workspace. For a node whose deletion is proposed it is the
// path in the source.
func (n *Node) path() model.Path {
	var parts []string
	for ; n.parent != nil; n = n.parent {
		parts = append(parts, n.name)
	}
	if n.hidden() {
		parts = append(parts, n.rel(), n.Root.Name)
	}
	slices.Reverse(parts)
	return model.Path(strings.Join(parts, "/"))
}

// child finds a name, as written or in another Unicode composition.
func (n *Node) child(name string) *Node {
	if c := n.children[name]; c != nil {
		return c
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil // ASCII has only one composition
	}
	key := model.FoldName(name)
	for have, c := range n.children {
		if model.FoldName(have) == key {
			return c
		}
	}
	return nil
}

func newNode(dir *Node, name string, kind model.NodeKind) *Node {
	f := dir.Root
	f.nextID++
	n := &Node{ID: f.nextID, name: strings.Clone(name), Kind: kind, parent: dir, Root: f}
	switch kind {
	case model.KindDir:
		n.children = make(map[string]*Node)
	case model.KindNote:
		n.Note = f.notes.New(n)
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

func (n *Node) sourcePath() model.Path {
	if n.Root == nil || n == n.Root.rootNode {
		return n.path()
	}
	return n.Root.Path().Join(n.rel())
}

// clearCreator clears createdByAgent of d, and of the folders around it, if author is another
// author: that creator needs approval from now on. A user has no name.
func (d *Node) clearCreator(author model.Author) {
	for ; d != nil; d = d.loc().parent {
		if d.createdByAgent != nil && !d.createdByAgent.Is(author) {
			d.createdByAgent = nil
		}
	}
}

// creatingAgent returns the agent that made the folder, or the zero Author if that is
// unknown.
func (n *Node) creatingAgent() model.Author {
	if n.createdByAgent == nil {
		return model.Author{}
	}
	return *n.createdByAgent
}

// setCreatedByAgent records author as the creator of the folders at rels that exist and have no known creator.
// Other agents may have made them, too.
func (f *Root) setCreatedByAgent(rels []string, author string) {
	for _, rel := range rels {
		if d := f.lookup(rel); d != nil && d.creatingAgent().Name == "" {
			by := d.creatingAgent()
			by.Name = author
			d.createdByAgent = &by
		}
	}
}

func (f *Root) SetCreatedByAgent(rels []string, author string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.setCreatedByAgent(rels, author)
}

func (n *Node) event(kind model.EventKind) model.Event {
	return model.Event{Kind: kind, Path: n.path(), Dir: n.Kind == model.KindDir, Link: n.Kind == model.KindLink, ViewChanged: true}
}

// State is the state of a node at one moment. Its Place is the part that a note needs. The Path of a node
// whose deletion is proposed is its path in the source.
type State struct {
	note.Location
	Dir           *Node     // the folder that shows it, nil if it is not shown
	Name          string    // as shown
	ShownRel      string    // its path in the source if the proposal for its name was applied
	SourceLoc     Target    // its place in the source, if that is elsewhere
	Moved         bool      // the source has it at another place, or not at all
	Proposed      bool      // the source does not have it; its Rel is ""
	Hidden        bool      // its deletion is proposed
	Pending       *Proposal // to rename or delete it, nil if there is none
	Content       *Proposal // for new content, nil if there is none
	Mode          fs.FileMode
	Size          int64
	ModTime       time.Time
	Link          string       // the target in the source of a symbolic link
	CreatedBy     model.Author // the agent that made a folder; zero if unknown, or once others have used it
	ShownChildren int          // number of names shown in it
}

// Place returns the Place in the State of n; zero for the root.
func (n *Node) Location() note.Location {
	if n.Root == nil {
		return note.Location{}
	}
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	return n.location()
}

func (n *Node) location() note.Location {
	p := note.Location{Path: n.path(), SourcePath: n.sourcePath(), Rel: n.rel(), Offline: n.Root.Offline()}
	d, linked := n, true
	for ; d.parent != nil; d = d.parent {
		linked = linked && d.parent.children[d.name] == d
	}
	p.Shown = d.Root == nil
	p.InTree = linked && (p.Shown || d.hidden())
	return p
}

func (n *Node) State() State {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	s := State{
		Location: n.location(), Dir: n.parent, Name: n.name, Moved: n.sourceLoc != nil, Proposed: n.isProposed(), Hidden: n.hidden(),
		Pending: n.pending, Content: n.content, Mode: n.mode, Size: n.size, ModTime: n.modTime, Link: n.link,
		CreatedBy: n.creatingAgent(), ShownChildren: len(n.children),
	}
	if n.sourceLoc != nil {
		s.SourceLoc = Target{Dir: n.sourceLoc.parent, Name: n.sourceLoc.name}
	}
	if n.parent != nil {
		s.ShownRel = path.Join(n.parent.rel(), n.name)
	}
	return s
}

// SourceChildren returns the nodes that the source has in the folder n.
func (n *Node) SourceChildren() []*Node {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	return n.sourceChildren()
}

// KindAs returns the kind of n under another name. Only files become notes by their names.
func (n *Node) KindAs(name string) model.NodeKind {
	if n.Kind == model.KindDir || n.Kind == model.KindLink {
		return n.Kind
	}
	return model.KindOf(name, false)
}

func (n *Node) Paths() []model.Path {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	list := []model.Path{n.path()}
	n.walk(func(c *Node) { list = append(list, c.path()) })
	return list
}

func (n *Node) Notes() (notes []*note.Note) {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	n.walkSource(func(c *Node) {
		if c.Note != nil {
			notes = append(notes, c.Note)
		}
	})
	return notes
}

func (n *Node) InSource(name string) *Node {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	return n.inSource(name)
}

// Info describes the node at a path. Lists have only the path, the kind and the ID of each node,
// and the time of files that are not notes.
type Info struct {
	Path     model.Path
	Kind     model.NodeKind
	ID       uint64 // stable in this process, also over renames; over 1
	Size     int64  // of the view for a note, in bytes
	ModTime  time.Time
	Mode     fs.FileMode // permission bits
	Target   string      // target of a symbolic link, relative to the folder that shows it
	ReadOnly bool        // a write would be refused
	Offline  bool        // the root's source is unavailable; ReadOnly is set too
}

// Info describes the node shown at p, except for a note's size; fs.ErrNotExist.
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
		info.Size, info.ModTime = int64(len(n.content.current.New)), n.content.current.Time
	}
	if n.Root != nil && n.Root.ReadOnly() {
		info.ReadOnly, info.Offline = true, n.Root.Offline()
	}
	return n, info, nil
}

func (f *Root) SetMode(n *Node, mode fs.FileMode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.mode = mode
}

func (f *Root) SetStamp(n *Node, stamp model.Stamp) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.update(model.SourceEntry{Mode: n.mode, Stamp: stamp})
}

// ClearCreator records that a user decides on n, in its folders in the source and in those that show it.
func (f *Root) ClearCreator(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.clearCreator(model.Author{})
	n.parent.clearCreator(model.Author{})
}
