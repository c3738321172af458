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
	pending       values[markedNote]
	followPending *Follower
	notes         values[*NoteInfo]
	followNotes   *Follower
}

type markedNote struct {
	path        model.Path
	suggestions []model.Suggestion
	threads     []model.Thread
}

func New(t *namespace.Tree, act *model.Bus, log *slog.Logger) *Indexes {
	x := &Indexes{new(shared), t}
	x.links = &LinkIndex{links.NewIndex(), x.withLinksRewritten}
	x.pending.at, x.pending.byTerm = func(m markedNote) model.Path { return m.path }, make(map[string][]markedNote)
	x.pending.of, x.pending.terms = x.markedIn, func(markedNote) []string { return []string{""} }
	x.notes.of = func(_ context.Context, p model.Path, v *model.Version) (*NoteInfo, bool, error) {
		return NewNoteInfo(p, v), true, nil
	}
	x.notes.at, x.notes.terms, x.notes.byTerm = pathOf, (*NoteInfo).terms, make(map[string][]*NoteInfo)
	x.notes.moved = func(n *NoteInfo, p model.Path) *NoteInfo {
		moved := *n
		moved.Path = p
		return &moved
	}
	from := treeSource{t, act}
	x.followLinks = NewFollower(from, log, x.links)
	x.followPending = NewFollower(from, log, &x.pending)
	x.followNotes = NewFollower(from, log, &x.notes)
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

// Suggestions lists the pending suggestions of the notes at a path or below it, sorted by path and offset. It returns
// fs.ErrNotExist if there is nothing at the path.
func (x *Indexes) Suggestions(ctx context.Context, under model.Path) ([]model.Suggestion, error) {
	return x.SuggestionsWith(ctx, under, nil)
}

// SuggestionsWith is Suggestions without those for which has returns false. A nil has stands for all of them.
func (x *Indexes) SuggestionsWith(ctx context.Context, under model.Path, has func(*model.Suggestion) bool) (list []model.Suggestion, err error) {
	marked, err := x.markedBelow(ctx, under)
	for _, m := range marked {
		if has == nil {
			list = append(list, m.suggestions...)
			continue
		}
		for i := range m.suggestions {
			if has(&m.suggestions[i]) {
				list = append(list, m.suggestions[i])
			}
		}
	}
	return namespace.FilterVisible(x.tree, list, func(s model.Suggestion) model.Path { return s.Path }), err
}

// ReadNotes reads every note that was not read since it changed.
func (x *Indexes) ReadNotes(ctx context.Context) error { return x.followPending.ReadNotes(ctx) }

// Threads lists the threads of the notes at a path or below it, sorted by path and offset. It returns fs.ErrNotExist if
// there is nothing at the path.
func (x *Indexes) Threads(ctx context.Context, under model.Path) (list []model.Thread, err error) {
	marked, err := x.markedBelow(ctx, under)
	for _, m := range marked {
		list = append(list, m.threads...)
	}
	return namespace.FilterVisible(x.tree, list, func(t model.Thread) model.Path { return t.Path }), err
}

func (x *Indexes) markedBelow(ctx context.Context, under model.Path) ([]markedNote, error) {
	if _, err := x.tree.Find("list", under); err != nil {
		return nil, err
	}
	if err := x.followPending.Current(ctx); err != nil {
		return nil, err
	}
	return x.pending.below(under), nil
}

func (x *Indexes) markedIn(ctx context.Context, p model.Path, v *model.Version) (m markedNote, ok bool, err error) {
	if !note.HasMarks(v) {
		return m, false, nil
	}
	n, err := x.tree.FindNote("open", p)
	if err != nil {
		return m, false, err
	}
	m.path = p
	_, m.suggestions, m.threads, err = n.Threads(ctx, p)
	return m, len(m.suggestions)+len(m.threads) > 0, err
}

// Notes describes the notes at a path or below it, sorted by path. The first call reads every note and reports progress
// to [model.WithProgress].
func (x *Indexes) Notes(ctx context.Context, under model.Path) ([]*NoteInfo, error) {
	if _, err := x.tree.Find("list", under); err != nil {
		return nil, err
	}
	if err := x.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	return namespace.FilterVisible(x.tree, x.notes.below(under), pathOf), nil
}

// NotesWith describes the notes that have all of the properties, sorted by path. Keys and texts are compared without
// regard to case, and a number matches its text. A list in a note matches if one of its items matches. A list in want
// matches if one of its items matches. The key "tags" also finds tags in the text, and a tag also finds the tags nested
// in it. A null in want matches an empty property. A mapping in want has operators: = and != with a value or a list; <,
// <=, > and >= with a number or a date; exists with a bool. All other conditions give a [*ConditionError].
func (x *Indexes) NotesWith(ctx context.Context, want frontmatter.Properties) ([]*NoteInfo, error) {
	conditions, err := conditionsOf(want)
	if err != nil {
		return nil, err
	}
	if err := x.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	var wanted [][]string
	for _, c := range conditions {
		if c.op == "=" {
			wanted = append(wanted, c.terms)
		}
	}
	notes := slices.DeleteFunc(x.notes.below("", wanted...), func(n *NoteInfo) bool {
		return slices.ContainsFunc(conditions, func(c condition) bool { return !n.meets(c) })
	})
	return namespace.FilterVisible(x.tree, notes, pathOf), nil
}

func pathOf(n *NoteInfo) model.Path { return n.Path }

type Links struct {
	Backlinks  []model.Path // sorted by path
	Forward    []model.Path // linked paths in the order of the text, without duplicates
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

// FormerNames returns an index of the old paths of nodes with pending renames; see namespace.FormerNames.
func (x *Indexes) FormerNames() *links.Index { return namespace.FormerNames(x.tree) }

func (x *Indexes) reached(list []string) []model.Path {
	paths := make([]model.Path, 0, len(list))
	for _, s := range list {
		if p := model.Path(s); x.tree.Contains(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// withLinksRewritten returns the raw text of v as if the pending renames were done and their rewritten links accepted.
func (x *Indexes) withLinksRewritten(ctx context.Context, p model.Path, v *model.Version) (string, diffwrap.Known, error) {
	known := v.Known()
	if v.ReadOnly() { // it has no marks
		text, _ := v.Decoded()
		return text, known, nil
	}
	if !x.tree.HasProposals() {
		return v.Canonical(), known, nil
	}
	marked, _, err := x.markedIn(ctx, p, v)
	if err != nil {
		return "", known, err
	}
	var rewritten []diffwrap.Suggestion
	for _, s := range marked.suggestions {
		if s.Proposal != "" {
			rewritten = append(rewritten, s.Suggestion)
		}
	}
	edits := known.Accept(v.Canonical(), rewritten...)
	return diffwrap.Apply(v.Canonical(), edits), known.AfterEdits(v.Canonical(), edits), nil
}
