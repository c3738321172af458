package tree

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// Tree is the whole tree of names, or the part of it that a restricted workspace has.
type Tree struct {
	*shared
	root  *Node  // its children are the accessible roots; they do not change once the tree is served
	rules *Rules // rules for agents; nil for users
}

// shared is the state that the full tree and its restricted parts share.
type shared struct {
	notes    *note.Set
	fullRoot *Node // its children are all roots

	mu     sync.RWMutex // guards the fields below, and everything in Nodes, Roots and Proposals that can change
	nextID uint64
}

type SourceState struct {
	Name    string
	Source  model.Source
	Store   model.Store
	offline atomic.Bool
}

type Root struct {
	SourceState
	*shared
	notes     *note.Source
	rootNode  *Node
	proposals []*Proposal     // pending proposals, in the order in which they were added
	changes   ProposalChanges // changes that are not published yet
}

func New(notes *note.Set) *Tree {
	f := &shared{notes: notes, nextID: 1}
	f.fullRoot = newRoot()
	return &Tree{f, f.fullRoot, nil}
}

func newRoot() *Node {
	return &Node{ID: 1, Kind: model.KindDir, children: make(map[string]*Node), mode: 0o755, modTime: time.Now()}
}

// AddRoot adds an empty root. Add all roots before the tree is served.
func (t *Tree) AddRoot(name string, source model.Source, store model.Store) *Root {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &Root{SourceState: SourceState{Name: name, Source: source, Store: store}, shared: t.shared, notes: t.notes.Source(source, store)}
	t.nextID++
	f.rootNode = &Node{
		ID: t.nextID, name: name, Kind: model.KindDir, parent: t.root, Root: f,
		children: make(map[string]*Node), mode: 0o755, modTime: time.Now(),
	}
	t.root.children[name] = f.rootNode
	return f
}

// Restrict returns a restricted tree with the named roots of t. Its users cannot see any other root.
func (t *Tree) Restrict(folders ...string) *Tree {
	part := &Tree{t.shared, newRoot(), t.rules}
	for _, name := range folders {
		if n := t.root.children[name]; n != nil {
			part.root.children[name] = n
		}
	}
	return part
}

// IsFull reports whether t is unrestricted.
func (t *Tree) IsFull() bool { return t.root == t.fullRoot && t.rules == nil }

// Contains reports whether p is in a root of t and not hidden. It is true for the top level, and for every path if t is
// full.
func (t *Tree) Contains(p model.Path) bool {
	name, _ := p.Split()
	if p == "" || t.IsFull() {
		return true
	}
	if t.Root(name) == nil || t.rules == nil {
		return t.Root(name) != nil
	}
	if _, hidden := match(t.rules.hide, p); hidden {
		return false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.withoutRules().lookup(p)
	return n == nil || !t.hides(n)
}

// FilterVisible returns the items of list whose paths t contains.
func FilterVisible[T any](t *Tree, list []T, at func(T) model.Path) []T {
	if t.IsFull() {
		return list
	}
	return slices.DeleteFunc(list, func(x T) bool { return !t.Contains(at(x)) })
}

// Roots returns the roots of t, sorted by name.
func (t *Tree) Roots() []*Root {
	var list []*Root
	for _, n := range t.root.sorted() {
		list = append(list, n.Root)
	}
	return list
}

// Root returns the root with the given name, or nil.
func (t *Tree) Root(name string) *Root {
	if n := t.root.children[name]; n != nil {
		return n.Root
	}
	return nil
}

func (f *SourceState) Path() model.Path { return model.Path(f.Name) }

func (f *SourceState) Offline() bool { return f.offline.Load() }

func (f *SourceState) SetOffline(away bool) { f.offline.Store(away) }

func (f *SourceState) ReadOnlyErr() error { return model.ReadOnlyErrOf(f.Source) }

func (f *SourceState) ReadOnly() bool { return f.Offline() || f.ReadOnlyErr() != nil }

func (t *Tree) lookup(p model.Path) *Node {
	n := t.root
	if p == "" {
		return n
	}
	for elem := range strings.SplitSeq(string(p), "/") {
		if n = n.child(elem); n == nil {
			return nil
		}
	}
	if t.hides(n) {
		return nil
	}
	return n
}

// Find returns the node shown at p, or fs.ErrNotExist.
func (t *Tree) Find(op string, p model.Path) (*Node, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.lookup(p); n != nil {
		return n, nil
	}
	return nil, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
}

// FindNote returns the note shown at p. Errors: fs.ErrNotExist, model.ErrIsDir, model.ErrNotNote.
func (t *Tree) FindNote(op string, p model.Path) (*note.Note, error) {
	n, err := t.Find(op, p)
	if err != nil {
		return nil, err
	}
	return n.asNote(op, p)
}

// Open returns the current version of the note shown at p. Errors: those of FindNote and of
// note.Note.Version.
func (t *Tree) Open(ctx context.Context, p model.Path) (*model.Version, error) {
	n, err := t.FindNote("open", p)
	if err != nil {
		return nil, err
	}
	return n.Version(ctx)
}

func (n *Node) asNote(op string, p model.Path) (*note.Note, error) {
	switch n.Kind {
	case model.KindDir:
		return nil, &model.Error{Op: op, Path: p, Err: model.ErrIsDir}
	case model.KindNote:
		return n.Note(), nil
	}
	return nil, &model.Error{Op: op, Path: p, Err: model.ErrNotNote}
}

// HiddenAt returns the node at the source path p whose deletion is proposed. It returns nil if there is no such node,
// or if another node is shown there.
func (t *Tree) HiddenAt(p model.Path) *Node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dir := t.lookup(p.Dir())
	if dir == nil || dir.Kind != model.KindDir || dir.child(p.Base()) != nil {
		return nil
	}
	if n := dir.inSource(p.Base()); n != nil && n.hidden() && !t.hides(n) {
		return n
	}
	return nil
}

// CheckNew refuses control characters, and names that the source does not allow, in the missing
// elements of p.
func (t *Tree) CheckNew(op string, p model.Path) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var namer model.NameChecker
	name, _ := p.Split()
	if f := t.Root(name); f != nil {
		namer, _ = f.Source.(model.NameChecker)
	}
	for q := p; q != "" && t.lookup(q) == nil; q = q.Dir() {
		var err error
		if model.Path(q.Base()).HasControl() {
			err = model.ErrControlName
		} else if namer != nil {
			err = namer.CheckName(q.Base())
		}
		if err != nil {
			return &model.Error{Op: op, Path: p, Err: err}
		}
	}
	return nil
}

// List lists a folder, or the roots if p is "". It sorts by name, a folder as if its name ended in '/'. It sets only
// paths, kinds and IDs. Errors: fs.ErrNotExist, model.ErrNotDir, model.ErrOffline.
func (t *Tree) List(p model.Path) ([]Info, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.lookup(p)
	switch {
	case n == nil:
		return nil, &model.Error{Op: "list", Path: p, Err: fs.ErrNotExist}
	case n.Kind != model.KindDir:
		return nil, &model.Error{Op: "list", Path: p, Err: model.ErrNotDir}
	case n.Root != nil && n.Root.Offline():
		return nil, &model.Error{Op: "list", Path: p, Err: model.ErrOffline}
	}
	children := t.shown(n.sorted())
	list, at := make([]Info, len(children)), n.path()
	for i, c := range children {
		list[i] = Info{Path: at.Join(c.name), Kind: c.Kind, ID: c.ID}
	}
	return list, nil
}

// Below returns everything below p, or p itself if it is not a folder, sorted by path, without sizes and modes. It
// returns fs.ErrNotExist if nothing is at p.
func (t *Tree) Below(p model.Path) ([]Info, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.lookup(p)
	if n == nil {
		return nil, &model.Error{Op: "list", Path: p, Err: fs.ErrNotExist}
	}
	var all []Info
	add := func(c *Node) {
		if !t.hides(c) {
			all = append(all, Info{ID: c.ID, Path: c.path(), Kind: c.Kind, ModTime: c.changed()})
		}
	}
	if n.Kind == model.KindDir {
		n.walk(add)
	} else {
		add(n)
	}
	return all, nil
}

type Counts struct {
	Notes, Files, Proposals int
	Changed                 time.Time // the newest known modification time
}

// CountNotes returns the number of notes that the root shows, including those hidden from agents.
func (f *Root) CountNotes() (notes int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	f.rootNode.walk(func(n *Node) {
		if n.Kind == model.KindNote {
			notes++
		}
	})
	return notes
}

// Count counts the notes, files and proposals of f that are not hidden.
func (t *Tree) Count(f *Root) (c Counts) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, p := range f.proposals {
		if !t.hides(p.Node) {
			c.Proposals++
		}
	}
	f.rootNode.walk(func(n *Node) {
		if t.hides(n) {
			return
		}
		switch n.Kind {
		case model.KindNote:
			c.Notes++
		case model.KindFile:
			c.Files++
		default:
			return
		}
		if t := n.changed(); t.After(c.Changed) {
			c.Changed = t
		}
	})
	return c
}
