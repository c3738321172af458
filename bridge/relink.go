package bridge

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/planner"
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
	w        *Workspace
	old, new model.Path
	// before has, for each note whose links may be concerned, by the path that it
	// had, where its linkpaths led.
	before map[model.Path]map[string]string
}

// linksCurrent brings the link index up to date.
func (w *Workspace) linksCurrent(ctx context.Context) {
	if err := w.followLinks.Current(ctx); err != nil {
		w.log.Warn("links are not all known", model.LogErr, err)
	}
}

// relinkFor remembers where links lead before n is moved.
func (w *Workspace) relinkFor(ctx context.Context, old, new model.Path, n *node) *relink {
	r := &relink{w: w, old: old, new: new, before: make(map[model.Path]map[string]string)}
	moved := []model.Path{old}
	w.treeMu.RLock()
	n.walk(func(c *node) { moved = append(moved, c.path()) })
	w.treeMu.RUnlock()
	for _, p := range moved {
		for _, at := range [...]model.Path{p, r.moved(p)} {
			for _, from := range w.links.Index.Mentioning(string(at)) {
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
	if !r.old.Contains(p) {
		return p
	}
	return r.new + p[len(r.old):]
}

// look remembers where the links of the note at p lead.
func (r *relink) look(ctx context.Context, p model.Path) {
	if r.before[p] != nil {
		return
	}
	led := make(map[string]string)
	r.before[p] = led
	v, err := r.w.Open(ctx, p)
	if err != nil {
		return // its links stay as they are
	}
	for _, l := range links.Extract(v.Text()) {
		if l.Target == "" {
			continue
		}
		if to, ok := r.w.links.Index.Resolve(string(p), l); ok {
			led[l.Target] = to
		}
	}
}

// finishMove rewrites the links that the rename concerns.
func (w *Workspace) finishMove(ctx context.Context, f *folder, m *moving, r *relink) (Restructured, error) {
	res := Restructured{Proposal: m.id}
	ctx = context.WithoutCancel(ctx)
	if len(m.gone) > 0 {
		w.rejectLinks(ctx, m.gone, m.o.By)
		return res, nil
	}
	if r == nil {
		return res, nil
	}
	later := make(map[model.Path][]model.LinkChange)
	for p := range r.before {
		n, changes, err := r.rewrite(ctx, r.moved(p), r.before[p], m)
		if err != nil {
			w.log.Warn("links to a renamed note are left as they are", model.LogPath, string(p), model.LogErr, err)
			continue
		}
		if n += len(changes); n > 0 {
			res.Links += n
			res.Notes++
		}
		if len(changes) > 0 {
			later[r.moved(p)] = changes
		}
	}
	w.keepLater(f, m, later)
	return res, nil
}

// rewrite rewrites links in the note at p, whose linkpaths led where led says. It
// returns how many, and those in the front matter that have to wait.
func (r *relink) rewrite(ctx context.Context, p model.Path, led map[string]string, m *moving) (n int, later []model.LinkChange, err error) {
	if len(led) == 0 {
		return 0, nil, nil
	}
	_, err = r.w.change(ctx, note.Change{Path: p, By: m.o.By, Origin: m.o.Origin, Plan: func(x *note.Locked, cur *model.Version) (planner.Plan, error) {
		n, later = 0, nil
		edits, waiting := r.edits(p, cur.Text(), led, m.id != "")
		n, later = len(edits), waiting
		if n == 0 {
			return planner.Plan{}, nil
		}
		plan, err := x.Plan(cur, diffwrap.Apply(cur.Text(), edits), m.o.By)
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
		if got, ok := r.w.links.Index.Resolve(string(p), l); ok && got == want {
			continue
		}
		written := text[l.TargetOff : l.TargetOff+l.TargetLen]
		target, ok := r.w.links.Index.Retarget(string(p), l, written, want)
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
func (w *Workspace) keepLater(f *folder, m *moving, later map[model.Path][]model.LinkChange) {
	f.names.Lock()
	defer f.names.Unlock()
	w.treeMu.Lock()
	p := m.n.pending
	if m.id == "" || p == nil || p.rec.ID != m.id {
		w.treeMu.Unlock()
		return
	}
	newPath := m.n.path()
	kept := slices.Clone(p.rec.Links)
	for i, c := range kept {
		at := f.lookupSource(c.Rel)
		if at == nil {
			continue
		}
		l := links.Link{Kind: links.Wikilink, Target: c.Old}
		if target, ok := w.links.Index.Retarget(string(at.path()), l, c.Old, string(newPath)); ok && m.n.kind != model.KindDir {
			kept[i].New = target
		}
	}
	for at, changes := range later {
		if n := w.lookup(at); n != nil {
			for _, c := range changes {
				c.Rel = n.rel()
				kept = append(kept, c)
			}
		}
	}
	p.rec.Links = kept
	w.treeMu.Unlock()
	w.settle(f)
}

// acceptFrontMatter changes the links in front matter that an accepted rename was
// to change.
func (w *Workspace) acceptFrontMatter(ctx context.Context, f *folder, p *proposal, d model.Decision) {
	byNote := make(map[*node][]model.LinkChange)
	w.treeMu.RLock()
	for _, c := range p.rec.Links {
		if n := f.lookupSource(c.Rel); n != nil && n.note != nil && n.shown() {
			byNote[n] = append(byNote[n], c)
		}
	}
	w.treeMu.RUnlock()
	for n, changes := range byNote {
		at := n.Place().Path
		_, err := w.change(ctx, note.Change{Path: at, By: model.Author{Name: d.By}, Plan: func(_ *note.Locked, cur *model.Version) (planner.Plan, error) {
			return frontMatterPlan(cur.Raw(), changes, d), nil
		}})
		if err != nil {
			w.log.Warn("links in front matter are left as they are", model.LogPath, string(at), model.LogErr, err)
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
		if l.Off < body && i >= 0 {
			edits = append(edits, diffwrap.Edit{Off: l.TargetOff, Len: l.TargetLen, New: changes[i].New})
		}
	}
	return planner.Plan{Edits: edits, Decision: &d, FrontMatter: planner.FrontMatterChange(raw[:body], diffwrap.Apply(raw[:body], edits))}
}
