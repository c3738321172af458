package namespace

import (
	"context"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// Policy says what becomes of renames, moves and deletions.
type Policy uint8

const (
	// Propose makes them wait for a person.
	Propose Policy = iota
	// Direct does them at once.
	Direct
	// Deny refuses them.
	Deny
)

func (p Policy) String() string { return [...]string{"propose", "direct", "deny"}[p] }

// Restructure says who asks for a change of names or of a whole file, and how.
type Restructure struct {
	By      model.Author
	Origin  any  // comes back in Event.Origin
	Replace bool // Rename: over an existing file
	Confirm bool // many at once are meant: past the brake
	// Base names what the writer of a whole file had read of it; zero if it does not
	// matter what is there.
	Base model.ContentSum
}

// Restructured says what came of it.
type Restructured struct {
	Proposal string // names the proposal that waits for a person; "" when it was done at once
	Links    int    // links elsewhere that were rewritten, as suggestions in suggest mode
	Notes    int    // in so many notes
	Warnings []string
}

// Config is what the parts of a workspace have in common.
type Config struct {
	note.Options
	Structure Policy
	Notes     *note.Set
	Activity  *model.Bus
	Folders   Folders
	Links     LinkIndex // of the whole workspace
}

// base is what all that changes names stands on: a tree, which may be a part of the
// workspace, and what its parts have in common.
type base struct {
	c    *Config
	tree *tree.Tree
}

// Names changes the names of notes and folders, and of files as wholes, for programs.
type Names struct {
	base
	consequences *Consequences
}

// Files reads and writes files that are not notes, for programs: byte for byte, and whole.
type Files struct{ base }

// Consequences are what decisions on suggestions and proposals do to names, and the reverse.
type Consequences struct {
	base
	// OnWithdrawn takes back the link rewrites of a proposal that is withdrawn.
	OnWithdrawn func(ctx context.Context, proposal string, by model.Author)
}

func New(c *Config, t *tree.Tree) (*Names, *Files, *Consequences) {
	b := base{c, t}
	consequences := &Consequences{base: b}
	return &Names{b, consequences}, &Files{b}, consequences
}

// ActAs has n do what follows from a change as whole does, whose tree has what n's hides: the links there follow too.
func (n *Names) ActAs(whole *Names) { n.consequences = whole.consequences }

// at is the Folder of p, which is not its root, if it takes changes now. Errors:
// fs.ErrNotExist, fs.ErrPermission, model.ErrReadOnly, model.ErrOffline.
func (n *base) at(op string, p model.Path) (*Folder, error) {
	fail := func(err error) (*Folder, error) { return nil, &model.Error{Op: op, Path: p, Err: err} }
	if n.c.ReadOnly {
		return fail(model.ErrReadOnly)
	}
	name, rel := p.Split()
	if rel == "" {
		return fail(model.ErrTop)
	}
	f := n.tree.Folder(name)
	switch {
	case f == nil:
		return fail(fs.ErrNotExist)
	case f.Offline():
		return fail(model.ErrOffline)
	}
	if err := f.ReadOnlyErr(); err != nil {
		return fail(err)
	}
	return n.c.Folders[f], n.tree.MayChange(op, p)
}

func (n *base) structureAt(op string, p model.Path) (*Folder, error) {
	f, err := n.at(op, p)
	if err == nil && f.Structure == nil {
		return nil, &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
	}
	return f, err
}

// MayWrite says why no note can be written at p now, whatever its text, with the
// error that a Write or Create would have: so nobody is asked about what is refused
// then. nil promises nothing.
func (n *Names) MayWrite(p model.Path) error {
	if err := n.c.ReadOnlyErr(); err != nil {
		return &model.Error{Op: "write", Path: p, Err: err}
	}
	if _, err := n.at("write", p); err != nil {
		return err
	}
	return n.tree.CheckNew("write", p)
}

func (n *Names) MayRestructure(p model.Path, o Restructure) error {
	err := n.policy("change", p, o)
	if err == nil {
		_, err = n.structureAt("change", p)
	}
	return err
}

func (n *base) policy(op string, p model.Path, o Restructure) error {
	switch {
	case n.c.ReadOnly:
		return &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
	case n.c.Structure == Deny:
		return &model.Error{Op: op, Path: p, Err: model.ErrNeedsReview}
	}
	return nil
}

func (n *base) begin(op string, p model.Path, o Restructure) error {
	if err := n.policy(op, p, o); err != nil {
		return err
	}
	return model.WrapError(op, p, n.c.Activity.BeginOp())
}

// change runs fn as one change of the names of p's Folder.
func (n *base) change(op string, p model.Path, fn func(*Locked) error) error {
	f, err := n.structureAt(op, p)
	if err == nil {
		err = n.c.Activity.BeginOp()
	}
	if err != nil {
		return model.WrapError(op, p, err)
	}
	defer n.c.Activity.EndOp()
	l := f.Lock()
	defer l.Unlock()
	return model.WrapError(op, p, fn(l))
}

// isOwn says whether x is the author's own so far: a note that this session of the author
// made and nobody else has touched, or a folder with nothing but such notes.
func (n *base) isOwn(x *tree.Node, by model.Author) bool {
	switch {
	case by.Name == "" || n.c.ReadOnly:
		return false
	case x.Kind != model.KindDir:
		return x.Kind == model.KindNote && x.Note.IsOwn(by)
	}
	return x.State().CreatedBy.Is(by) && !slices.ContainsFunc(x.Holds(), func(c *tree.Node) bool { return !n.isOwn(c, by) })
}

func makeFile(ctx context.Context, l *Locked, rel string, file model.NewFile, by model.Author) (*tree.Node, model.Stamp, error) {
	file.Mode = 0o644
	stamp, err := l.Structure.Create(ctx, rel, file)
	if err != nil {
		return nil, stamp, err
	}
	return put(l, model.SourceEntry{Rel: rel, Mode: file.Mode, Stamp: stamp}, by), stamp, nil
}

func put(l *Locked, e model.SourceEntry, by model.Author) *tree.Node {
	n, _ := l.Put(e, by)
	return n
}

func created(p model.Path, o Restructure) model.Event {
	return model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true, Origin: o.Origin, By: o.By}
}
