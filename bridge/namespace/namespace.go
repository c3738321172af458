package namespace

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// Policy decides how renames, moves and deletions are handled.
type Policy uint8

const (
	// Propose makes a change wait for a user's decision.
	Propose Policy = iota
	Direct
	Deny
)

func (p Policy) String() string { return [...]string{"propose", "direct", "deny"}[p] }

// ChangeRequest has the author and the options of a change of names or of a whole file.
type ChangeRequest struct {
	Author  model.Author
	Origin  any  // copied to Event.Origin
	Replace bool // Rename: replace an existing file
	// Deferrable makes Remove return model.ErrDefer for a note of a server that it would remove at once.
	Deferrable bool
	// Base is the sum of the content that the writer of a whole file has read. If it is zero, the write replaces any
	// content.
	Base model.ContentSum
	// InFolder is set if the requester has opened the parent folder. If a user has moved that folder away, the creation
	// of a note, file or folder then fails with fs.ErrNotExist.
	InFolder bool
}

type ChangeResult struct {
	Proposal string // ID of the pending proposal; "" if the change needed no proposal
	Links    int    // number of links that the rename rewrites; some wait until it is accepted
	Notes    int    // number of notes with these links
}

type Config struct {
	note.Options
	Structure Policy
	Notes     *note.Set
	Events    *model.Bus
	Roots     Roots
	Links     LinkIndex // links of the whole workspace
}

// Namespace and DecisionEffects embed service. It has a tree, which may be restricted, and the shared Config.
type service struct {
	config *Config
	tree   *tree.Tree
}

type Namespace struct {
	service
	effects *DecisionEffects
}

// DecisionEffects makes the changes of names that follow from a decision, and reverts them when the decision is undone.
type DecisionEffects struct {
	service
	// OnWithdrawn rejects the link rewrites of a withdrawn proposal.
	OnWithdrawn func(ctx context.Context, proposal string, author model.Author)
}

func New(c *Config, t *tree.Tree) *Namespace {
	b := service{c, t}
	return &Namespace{b, &DecisionEffects{service: b}}
}

// Effects makes the changes of names that follow from decisions.
func (n *Namespace) Effects() *DecisionEffects { return n.effects }

// DelegateEffects makes n apply the consequences of its changes to the unrestricted tree of another Namespace. That
// tree includes the nodes that are hidden from n, so links in hidden notes also follow a rename.
func (n *Namespace) DelegateEffects(whole *Namespace) { n.effects = whole.effects }

// at returns the root that contains p, if that root accepts changes now. p must not be the path of the root. Errors:
// fs.ErrNotExist, fs.ErrPermission, model.ErrReadOnly, model.ErrOffline.
func (n *service) at(op string, p model.Path) (*Root, error) {
	fail := func(err error) (*Root, error) { return nil, &model.Error{Op: op, Path: p, Err: err} }
	if n.config.ReadOnly {
		return fail(model.ErrReadOnly)
	}
	name, rel := p.Split()
	if rel == "" {
		return fail(model.ErrTop)
	}
	f := n.tree.Root(name)
	switch {
	case f == nil:
		return fail(fs.ErrNotExist)
	case f.Offline():
		return fail(model.ErrOffline)
	}
	if err := f.ReadOnlyErr(); err != nil {
		return fail(err)
	}
	return n.config.Roots[f], n.tree.MayChange(op, p)
}

func (n *service) structureAt(op string, p model.Path) (*Root, error) {
	f, err := n.at(op, p)
	if err == nil && f.Structure == nil {
		return nil, &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
	}
	return f, err
}

// MayWrite returns the error with which a Write or Create at p would fail for any text. Callers check it first, so that
// users are not asked to approve a change that would fail. A nil result is no guarantee.
func (n *Namespace) MayWrite(p model.Path) error {
	if err := n.writable("write", p); err != nil {
		return err
	}
	if _, err := n.at("write", p); err != nil {
		return err
	}
	return n.tree.CheckNew("write", p)
}

func (n *Namespace) MayChange(p model.Path) error {
	err := n.policy("change", p)
	if err == nil {
		_, err = n.structureAt("change", p)
	}
	return err
}

// writable returns an ErrReadOnly if programs can change nothing, for example in the original view. Users can still decide.
func (n *service) writable(op string, p model.Path) error {
	return model.WrapError(op, p, n.config.ReadOnlyErr())
}

func (n *service) policy(op string, p model.Path) error {
	if err := n.writable(op, p); err != nil {
		return err
	}
	if n.config.Structure == Deny {
		return &model.Error{Op: op, Path: p, Err: model.ErrNeedsReview}
	}
	return nil
}

func (n *service) begin(op string, p model.Path) error {
	if err := n.policy(op, p); err != nil {
		return err
	}
	return model.WrapError(op, p, n.config.Events.BeginOp())
}

func (n *service) change(op string, p model.Path, fn func(*Locked) error) error {
	err := n.writable(op, p)
	var f *Root
	if err == nil {
		f, err = n.structureAt(op, p)
	}
	if err == nil {
		err = n.config.Events.BeginOp()
	}
	if err != nil {
		return model.WrapError(op, p, err)
	}
	defer n.config.Events.EndOp()
	l := f.Lock()
	defer l.Unlock()
	return model.WrapError(op, p, fn(l))
}

// isAgentsOwn reports whether x belongs to the author alone: it is a note that the author's session made and no one
// else has changed, or a folder that the session made and that contains only such notes and folders.
func (n *service) isAgentsOwn(x *tree.Node, author model.Author) bool {
	switch {
	case author.Name == "" || n.config.ReadOnly:
		return false
	case x.Kind != model.KindDir:
		return x.Kind == model.KindNote && x.Note().IsOwn(author)
	}
	return x.State().CreatedBy.Is(author) && !slices.ContainsFunc(x.SourceChildren(), func(c *tree.Node) bool { return !n.isAgentsOwn(c, author) })
}

func makeFile(ctx context.Context, l *Locked, rel string, file model.NewFile, author model.Author) (*tree.Node, model.Stamp, error) {
	file.Mode = cmp.Or(file.Mode, 0o644)
	for file.Within = model.Parent(rel); l.Lookup(file.Within) == nil; {
		file.Within = model.Parent(file.Within)
	}
	stamp, err := l.Structure.Create(ctx, rel, file)
	if err != nil {
		return nil, stamp, err
	}
	return put(l, model.SourceEntry{Rel: rel, Mode: file.Mode, Stamp: stamp}, author), stamp, nil
}

func put(l *Locked, e model.SourceEntry, author model.Author) *tree.Node {
	n, _ := l.Put(e, author)
	return n
}

func created(p model.Path, o ChangeRequest) model.Event {
	return model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true, Origin: o.Origin, By: o.Author}
}
