package index

import (
	"context"
	"log/slog"
	"slices"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/diffwrap"
)

type Indexes struct {
	*shared
	tree *namespace.Tree
}

type shared struct {
	links         *LinkIndex
	followLinks   *Follower
	pending       *SuggestionIndex
	followPending *Follower
	notes         *NoteIndex
	followNotes   *Follower
}

func New(t *namespace.Tree, act *model.Bus, log *slog.Logger) *Indexes {
	x := &Indexes{&shared{notes: NewNoteIndex()}, t}
	x.links = NewLinkIndex(x.withLinksRewritten)
	x.pending = NewSuggestionIndex(x.markedIn)
	from := treeSource{t, act}
	x.followLinks = NewFollower(from, log, x.links)
	x.followPending = NewFollower(from, log, x.pending)
	x.followNotes = NewFollower(from, log, x.notes)
	return x
}

func (x *Indexes) Restrict(part *namespace.Tree) *Indexes { return &Indexes{x.shared, part} }

type treeSource struct {
	*namespace.Tree
	events *model.Bus
}

func (f treeSource) Since(number uint64) ([]model.Event, uint64, bool) { return f.events.Since(number) }

func (f treeSource) EachName(ctx context.Context, fn func(model.Path, model.NodeKind)) error {
	list, err := f.Below("")
	for _, e := range list {
		fn(e.Path, e.Kind)
	}
	return err
}

func (f treeSource) Read(ctx context.Context, p model.Path) (*model.Version, error) {
	return f.Open(model.WithoutBlocking(ctx), p)
}

// Suggestions lists the pending suggestions at or below under, sorted by path and offset, or returns fs.ErrNotExist.
func (x *Indexes) Suggestions(ctx context.Context, under model.Path) ([]model.Suggestion, error) {
	marked, err := x.markedBelow(ctx, under)
	if err != nil {
		return nil, err
	}
	return namespace.FilterVisible(x.tree, marked.Suggestions, func(s model.Suggestion) model.Path { return s.Path }), nil
}

// Threads lists the threads at or below under, sorted by path and offset, or returns fs.ErrNotExist.
func (x *Indexes) Threads(ctx context.Context, under model.Path) ([]model.Thread, error) {
	marked, err := x.markedBelow(ctx, under)
	if err != nil {
		return nil, err
	}
	return namespace.FilterVisible(x.tree, marked.Threads, func(t model.Thread) model.Path { return t.Path }), nil
}

func (x *Indexes) markedBelow(ctx context.Context, under model.Path) (MarkedNote, error) {
	if _, err := x.tree.Find("list", under); err != nil {
		return MarkedNote{}, err
	}
	if err := x.followPending.Current(ctx); err != nil {
		return MarkedNote{}, err
	}
	return x.pending.Below(under), nil
}

func (x *Indexes) markedIn(ctx context.Context, p model.Path, v *model.Version) (m MarkedNote, err error) {
	if !note.HasMarks(v) {
		return m, nil
	}
	n, err := x.tree.FindNote("open", p)
	if err != nil {
		return m, err
	}
	_, m.Suggestions, m.Threads, err = n.Threads(ctx, p)
	return m, err
}

// Notes describes the notes at or below under, sorted by path. The first call reads every note and reports progress to
// [model.WithProgress].
func (x *Indexes) Notes(ctx context.Context, under model.Path) ([]*NoteInfo, error) {
	if _, err := x.tree.Find("list", under); err != nil {
		return nil, err
	}
	if err := x.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	return namespace.FilterVisible(x.tree, x.notes.Below(under), pathOf), nil
}

// NotesWith describes the notes that have all of the properties, sorted by path. Keys and texts match in any case;
// numbers match their texts. A list has a property if one of its items matches; a wanted list matches any of its items.
// "tags" includes tags in the text and tags nested in a wanted tag. A wanted null matches an empty property. A wanted
// mapping has operators: = and != with a value or a list; <, <=, > and >= with a number or a date; exists with a bool.
// All other conditions are a [*ConditionError].
func (x *Indexes) NotesWith(ctx context.Context, want frontmatter.Properties) ([]*NoteInfo, error) {
	if err := x.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	notes, err := x.notes.With(want)
	return namespace.FilterVisible(x.tree, notes, pathOf), err
}

func pathOf(n *NoteInfo) model.Path { return n.Path }

// Links lists the links from and to a note, without pending links.
type Links struct {
	Backlinks  []model.Path // sorted
	Forward    []model.Path // in the order of the text, each once
	Unresolved []string
	Pending    []string // linkpaths that occur only in pending additions
}

func (x *Indexes) Links(ctx context.Context, p model.Path) (Links, error) {
	v, err := x.tree.Open(ctx, p)
	if err != nil {
		return Links{}, err
	}
	index, err := x.LinkIndex(ctx)
	if err != nil {
		return Links{}, err
	}
	raw, known, err := x.withLinksRewritten(ctx, p, v)
	if err != nil {
		return Links{}, err
	}
	_, pending := links.Targets(linksOf(raw, known))
	res := Links{Pending: pending}
	forward, unresolved := index.Forward(string(p), func(s string) bool { return x.tree.Contains(model.Path(s)) })
	res.Forward, res.Unresolved = x.reached(forward), unresolved
	res.Backlinks = x.reached(index.Backlinks(string(p)))
	slices.Sort(res.Backlinks)
	return res, nil
}

// LinkIndex returns the index of the links of all notes. If it returns an error, links may be missing.
func (x *Indexes) LinkIndex(ctx context.Context) (*links.Index, error) {
	return x.links.Index, x.followLinks.Current(ctx)
}

// FormerNames returns an index of the old names of what pending renames rename. A link that only they resolve follows
// when the rename is accepted.
func (x *Indexes) FormerNames() *links.Index {
	former := links.NewIndex()
	proposals, _ := x.tree.Proposals("") // the root always exists
	for _, p := range proposals {
		if p.Kind != model.ProposedRename || p.Taken {
			continue
		}
		renamed, _ := x.tree.Below(p.NewPath) // fails for one that was withdrawn meanwhile
		for _, e := range renamed {
			former.AddFile(model.Rebased(string(e.Path), string(p.NewPath), string(p.Path)))
		}
	}
	return former
}

func (x *Indexes) reached(list []string) []model.Path {
	paths := make([]model.Path, 0, len(list))
	for _, s := range list {
		if p := model.Path(s); x.tree.Contains(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// withLinksRewritten returns the raw text of v as if the pending renames were done: with their rewritten links accepted.
func (x *Indexes) withLinksRewritten(ctx context.Context, p model.Path, v *model.Version) (string, diffwrap.Known, error) {
	known := v.Known()
	if !x.tree.HasProposals() {
		return v.Canonical(), known, nil
	}
	marked, err := x.markedIn(ctx, p, v)
	if err != nil {
		return "", known, err
	}
	var rewritten []diffwrap.Suggestion
	for _, s := range marked.Suggestions {
		if s.Proposal != "" {
			rewritten = append(rewritten, s.Suggestion)
		}
	}
	edits := known.Accept(v.Canonical(), rewritten...)
	return diffwrap.Apply(v.Canonical(), edits), known.AfterEdits(v.Canonical(), edits), nil
}
