package tree

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// Node is one name in the tree. Its exported fields never change.
type Node struct {
	ID   uint64 // stable in this process, also across renames; 1 for the node above all roots
	Root *Root  // nil for the node above all roots
	Kind model.NodeKind

	mode           fs.FileMode
	note           atomic.Pointer[note.Note] // see Note
	name           string                    // the shown name
	parent         *Node                     // folder that shows the node; nil if it is not shown
	sourceLoc      *sourceLoc                // place in the source; nil if the node is shown there
	children       map[string]*Node          // KindDir: nodes shown in the folder
	movedOut       map[string]*Node          // KindDir: nodes that the source has in the folder but that are not shown there
	createdByAgent *model.Author             // KindDir: agent that made the folder; nil if there is none, or if others have used the folder
	pending        *Proposal                 // proposal to rename or delete the node
	content        *Proposal                 // KindFile: proposal for new content
	modTime        time.Time
	size           int64  // of the file; of a note as a user last saved it
	link           string // KindLink: target of the link in the source
}

// path returns the node's path in the workspace. If the node's deletion is proposed, it returns the path in the source.
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

// child finds a name as it is written or in another Unicode composition.
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
	if kind == model.KindDir {
		n.children = make(map[string]*Node)
	}
	return n
}

// Note returns the note, or nil for another kind. The first call makes it: most notes of a large vault are only listed.
func (n *Node) Note() *note.Note {
	if n.Kind == model.KindNote && n.note.Load() == nil {
		n.note.CompareAndSwap(nil, n.Root.notes.New(n))
	}
	return n.note.Load()
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

// sorted returns the children in the order of their paths.
func (n *Node) sorted() []*Node {
	return sortedBy(slices.Collect(maps.Values(n.children)), func(c *Node) string { return c.name })
}

// sortedBy sorts nodes of one folder by their names. A folder sorts as if its name ended in '/', so that a walk lists
// whole paths in byte order.
func sortedBy(list []*Node, name func(*Node) string) []*Node {
	key := func(c *Node) string {
		if c.Kind == model.KindDir {
			return name(c) + "/"
		}
		return name(c)
	}
	slices.SortFunc(list, func(a, b *Node) int { return strings.Compare(key(a), key(b)) })
	return list
}

func (n *Node) sourcePath() model.Path {
	if n.Root == nil || n == n.Root.rootNode {
		return n.path()
	}
	return n.Root.Path().Join(n.rel())
}

// clearCreator clears createdByAgent of d and of the folders above it, except where it is the given author. The creator
// then needs approval for changes of these folders. An author without a name is a user.
func (d *Node) clearCreator(author model.Author) {
	for ; d != nil; d = d.loc().parent {
		if d.createdByAgent != nil && !d.createdByAgent.Is(author) {
			d.createdByAgent = nil
		}
	}
}

// creatingAgent returns the agent that made the folder, or the zero Author if there is none.
func (n *Node) creatingAgent() model.Author {
	if n.createdByAgent == nil {
		return model.Author{}
	}
	return *n.createdByAgent
}

// setCreator records the author of a new folder. An author without a name is a user.
func (n *Node) setCreator(author model.Author) {
	if author.Name != "" {
		n.createdByAgent = &author
	}
}

// setCreatedByAgent records author as the creator of the folders at rels that exist. A folder with a known creator
// keeps that creator.
func (f *Root) setCreatedByAgent(rels []string, author string) {
	for _, rel := range rels {
		if d := f.lookup(rel); d != nil && d.createdByAgent == nil {
			d.setCreator(model.Author{Name: author})
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

// State is the state of a node at one moment. Its Location is the part that a note needs. If the node's deletion is
// proposed, its Path is its path in the source.
type State struct {
	note.Location
	Dir           *Node     // folder that shows the node; nil if no folder shows it
	Name          string    // the shown name
	ShownRel      string    // path of the node in the source after the proposal for its name is accepted
	Moved         bool      // the node is hidden, or shown at a place where the source does not have it
	Proposed      bool      // the source does not have the node; Rel is ""
	Pending       *Proposal // proposal to rename or delete the node, or nil
	Content       *Proposal // proposal for new content, or nil
	Size          int64
	ModTime       time.Time
	Link          string       // target of a symbolic link in the source
	CreatedBy     model.Author // agent that made the folder; zero if there is none, or if others have used the folder
	ShownChildren int          // number of nodes shown in the folder
}

// Location returns the Location of n; it is zero for the node above all roots.
func (n *Node) Location() note.Location {
	if n.Root == nil {
		return note.Location{}
	}
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	return n.location()
}

func (n *Node) location() note.Location {
	p := note.Location{ID: n.ID, Path: n.path(), SourcePath: n.sourcePath(), Rel: n.rel(), Offline: n.Root.Offline()}
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
		Location: n.location(), Dir: n.parent, Name: n.name, Moved: n.sourceLoc != nil, Proposed: n.isProposed(),
		Pending: n.pending, Content: n.content, Size: n.size, ModTime: n.modTime, Link: n.link,
		CreatedBy: n.creatingAgent(), ShownChildren: len(n.children),
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

// KindAs returns the kind that n would have under another name: only a file can become a note by its name.
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

// Notes returns the notes that the source has at or below n, in the order of their paths there.
func (n *Node) Notes() (notes []*note.Note) {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	n.walkSource(func(c *Node) {
		if c.Kind == model.KindNote {
			notes = append(notes, c.Note())
		}
	})
	return notes
}

func (n *Node) InSource(name string) *Node {
	n.Root.mu.RLock()
	defer n.Root.mu.RUnlock()
	return n.inSource(name)
}

// changed returns the time of the last change of n. It reads nothing: for a note that is not in memory that is the time
// of its last version or of its file, whichever is later.
func (n *Node) changed() time.Time {
	if x := n.note.Load(); x != nil {
		if last, loaded := x.Changed(); loaded || last.After(n.modTime) {
			return last
		}
	}
	if n.content != nil {
		return n.content.current.Time
	}
	return n.modTime
}

// Info describes the node at a path. List sets only the path, the kind and the ID. Below also sets the time.
type Info struct {
	Path     model.Path
	Kind     model.NodeKind
	ID       uint64 // stable in this process, also across renames; 1 for the top level
	Size     int64  // in bytes; for a note the size of its view
	ModTime  time.Time
	Mode     fs.FileMode // permission bits
	Target   string      // target of a symbolic link, relative to the folder that shows it
	ReadOnly bool        // writes are refused
	Offline  bool        // the root's source is unavailable; ReadOnly is also set
}

// Info describes the node shown at p. For a note, Size is the size of its file. It returns fs.ErrNotExist if nothing is
// shown there.
func (t *Tree) Info(op string, p model.Path) (*Node, Info, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.lookup(p)
	if n == nil {
		return nil, Info{}, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	info := Info{Path: n.path(), Kind: n.Kind, ID: n.ID, Size: n.size, ModTime: n.changed(), Mode: n.mode}
	if n.Kind == model.KindLink {
		info.Target = n.target()
		info.Size = int64(len(info.Target))
	}
	if n.content != nil {
		info.Size = int64(len(n.content.current.New))
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

// SetStamp records that relayfs itself has changed n's file. A proposal about the file's earlier state is then about the new
// state, and does not become stale.
func (f *Root) SetStamp(n *Node, stamp model.Stamp) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range []*Proposal{n.pending, n.content} {
		if p != nil && p.current.Stamp.Size == n.size && p.current.Stamp.ModTime == n.modTime.UnixNano() {
			p.current.Stamp = stamp
		}
	}
	n.update(model.SourceEntry{Mode: n.mode, Stamp: stamp})
}

// ClearCreator clears the recorded creators of n, of the folders above n in the source, and of the folders that show n,
// because a user has decided on n.
func (f *Root) ClearCreator(n *Node) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.clearCreator(model.Author{})
	n.parent.clearCreator(model.Author{})
}
