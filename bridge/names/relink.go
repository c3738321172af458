package names

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/planner"
	"github.com/relayfs/relayfs/bridge/proposal"
	"github.com/relayfs/relayfs/bridge/tree"
	"github.com/relayfs/relayfs/diffwrap"
)

// A rename takes the links along. What each link leads to before, as it is shown,
// is compared with what it would lead to after, and where the two differ the link
// is rewritten: links to what was moved, relative links in it, and links that its
// new name would lead astray. Front matter takes no suggestions, so what a
// proposed rename is to change there is kept with the proposal until a person
// accepts it.

// relink is the rewriting of links that one rename makes necessary.
type relink struct {
	tree     *tree.Tree
	index    *links.Index
	old, new model.Path
	// before has, for each note whose links may be concerned, by the path that it
	// had, where its linkpaths led.
	before map[model.Path]map[string]string
}

// relinkFor remembers where links lead before x is moved.
func (n *Names) relinkFor(ctx context.Context, index *links.Index, old, new model.Path, x *tree.Node) *relink {
	r := &relink{tree: n.tree, index: index, old: old, new: new, before: make(map[model.Path]map[string]string)}
	moved := x.Paths()
	moved[0] = old
	for _, p := range moved {
		for _, at := range [...]model.Path{p, r.moved(p)} {
			for _, from := range index.Mentioning(string(at)) {
				r.look(ctx, model.Path(from))
			}
		}
		if p.IsNote() {
			r.look(ctx, p)
		}
	}
	return r
}

// moved is where p is after the rename.
func (r *relink) moved(p model.Path) model.Path {
	return model.Path(model.Rebased(string(p), string(r.old), string(r.new)))
}

// look remembers where the links of the note at p lead.
func (r *relink) look(ctx context.Context, p model.Path) {
	if r.before[p] != nil {
		return
	}
	led := make(map[string]string)
	r.before[p] = led
	v, err := r.tree.Open(ctx, p)
	if err != nil {
		return // its links stay as they are
	}
	for _, l := range links.Extract(v.Text()) {
		if l.Target == "" {
			continue
		}
		if to, ok := r.index.Resolve(string(p), l); ok {
			led[l.Target] = to
		}
	}
}

// finishMove rewrites the links that the rename concerns.
func (n *Names) finishMove(ctx context.Context, f *proposal.Folder, m *moving, r *relink) Restructured {
	res := Restructured{Proposal: m.id}
	ctx = context.WithoutCancel(ctx)
	if m.gone != "" {
		n.consequences.OnWithdrawn(ctx, m.gone, m.o.By)
		return res
	}
	if r == nil {
		return res
	}
	later := make(map[model.Path][]model.LinkChange)
	for p := range r.before {
		rewritten, changes, err := r.rewrite(ctx, r.moved(p), r.before[p], m)
		if err != nil {
			n.c.Logger.Warn("links to a renamed note are left as they are", model.LogPath, string(p), model.LogErr, err)
			continue
		}
		if rewritten += len(changes); rewritten > 0 {
			res.Links += rewritten
			res.Notes++
		}
		if len(changes) > 0 {
			later[r.moved(p)] = changes
		}
	}
	keepLater(f, m, r, later)
	return res
}

// rewrite rewrites links in the note at p, whose linkpaths led where led says. It
// returns how many, and those in the front matter that have to wait.
func (r *relink) rewrite(ctx context.Context, p model.Path, led map[string]string, m *moving) (n int, later []model.LinkChange, err error) {
	if len(led) == 0 {
		return 0, nil, nil
	}
	x, err := r.tree.FindNote("write", p)
	if err != nil {
		return 0, nil, err
	}
	_, err = x.Change(ctx, note.Change{Path: p, By: m.o.By, Origin: m.o.Origin, Plan: func(l *note.Locked, cur *model.Version) (planner.Plan, error) {
		n, later = 0, nil
		edits, waiting := r.edits(p, cur.Text(), led, m.id != "")
		n, later = len(edits), waiting
		if n == 0 {
			return planner.Plan{}, nil
		}
		plan, err := l.Plan(cur, diffwrap.Apply(cur.Text(), edits), m.o.By)
		plan.Proposal = m.id
		return plan, err
	}})
	return n, later, err
}

// edits are the changes of text, the note at p, that let its links lead where
// they led; apart from them, if propose is set, those of the front matter.
func (r *relink) edits(p model.Path, text string, led map[string]string, propose bool) (edits []diffwrap.Edit, later []model.LinkChange) {
	body, _ := diffwrap.FrontMatter(text)
	for _, l := range links.Extract(text) {
		was, known := led[l.Target]
		if !known {
			continue
		}
		want := string(r.moved(model.Path(was)))
		if got, ok := r.index.Resolve(string(p), l); ok && got == want {
			continue
		}
		written := text[l.TargetOff : l.TargetOff+l.TargetLen]
		target, ok := r.index.Retarget(string(p), l, written, want)
		if !ok || target == written {
			continue
		}
		if l.Off >= body || !propose {
			edits = append(edits, diffwrap.Edit{Off: l.TargetOff, Len: l.TargetLen, New: target})
		} else {
			later = append(later, model.LinkChange{Old: written, New: target})
		}
	}
	slices.SortFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	return edits, later
}

// keepLater keeps what a proposed rename is to change in front matter, and what
// it was to change there before it was given another name again.
func keepLater(f *proposal.Folder, m *moving, r *relink, later map[model.Path][]model.LinkChange) {
	l := f.Lock()
	defer l.Unlock()
	st := m.n.State()
	if m.id == "" || st.Pending == nil || st.Pending.ID != m.id {
		return
	}
	kept := slices.Clone(st.Pending.Record().Links)
	for i, c := range kept {
		at := l.Lookup(c.Rel)
		if at == nil {
			continue
		}
		link := links.Link{Kind: links.Wikilink, Target: c.Old}
		if target, ok := r.index.Retarget(string(at.Place().Path), link, c.Old, string(st.Path)); ok && m.n.Kind != model.KindDir {
			kept[i].New = target
		}
	}
	for at, changes := range later {
		x, err := r.tree.Find("rename", at)
		if err != nil {
			continue
		}
		rel := x.Place().Rel
		for _, c := range changes {
			c.Rel = rel
			kept = append(kept, c)
		}
	}
	st.Pending.Update(func(rec *model.ProposalRecord) { rec.Links = kept })
	l.Settle(nil)
}

// AcceptFrontMatter changes the links in front matter that an accepted rename was
// to change.
func (n *Consequences) AcceptFrontMatter(ctx context.Context, p *tree.Proposal, d model.Decision) {
	byNote := make(map[*tree.Node][]model.LinkChange)
	for _, c := range p.Record().Links {
		if x := p.Node.Folder.Lookup(c.Rel); x != nil && x.Note != nil && x.Place().Shown {
			byNote[x] = append(byNote[x], c)
		}
	}
	d.Follows = p.ID
	for x, changes := range byNote {
		at := x.Place().Path
		_, err := x.Note.Change(ctx, note.Change{Path: at, By: model.Author{Name: d.By}, Plan: func(_ *note.Locked, cur *model.Version) (planner.Plan, error) {
			return frontMatterPlan(cur.Raw(), changes, d), nil
		}})
		if err != nil {
			n.c.Logger.Warn("links in front matter are left as they are", model.LogPath, string(at), model.LogErr, err)
		}
	}
}

// frontMatterPlan changes linkpaths in the front matter of raw.
func frontMatterPlan(raw string, changes []model.LinkChange, d model.Decision) planner.Plan {
	body, _ := diffwrap.FrontMatter(raw)
	var edits []diffwrap.Edit
	for _, l := range links.Extract(raw) {
		written := raw[l.TargetOff : l.TargetOff+l.TargetLen]
		i := slices.IndexFunc(changes, func(c model.LinkChange) bool { return c.Old == written })
		if l.Off < body && i >= 0 && changes[i].New != written {
			edits = append(edits, diffwrap.Edit{Off: l.TargetOff, Len: l.TargetLen, New: changes[i].New})
		}
	}
	if len(edits) == 0 {
		return planner.Plan{}
	}
	return planner.Plan{Edits: edits, Decision: &d, FrontMatter: planner.FrontMatterChange(raw[:body], diffwrap.Apply(raw[:body], edits))}
}
