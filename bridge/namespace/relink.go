package namespace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/diffwrap"
)

// A rename updates links. The target of each link before the rename, as shown, is compared with its
// target after it. If the two differ, the link is rewritten. This concerns links to the renamed
// node, relative links in it, and links that the new name would redirect. The Store keeps the old
// targets with the rename until the links are rewritten, so that the next process can continue
// after a crash. Front matter takes no suggestions, so its links are kept until a user accepts a
// proposed rename.

// owed returns the links that a rename of x from old to new affects.
func (n *Names) owed(ctx context.Context, f *Folder, index *links.Index, old, new model.Path, x *tree.Node) []model.OwedLinks {
	moved := x.Paths()
	moved[0] = old
	taken := make(map[string]bool) // base names that several files have after the rename
	for _, p := range moved {
		taken[links.BaseName(model.Rebased(string(p), string(old), string(new)))] = true
	}
	led := make(map[*tree.Node]map[string]model.LedTo)
	lookIn := func(at *tree.Node, p model.Path) {
		if at.Note == nil || led[at] != nil {
			return
		}
		led[at] = make(map[string]model.LedTo)
		v, err := at.Note.Version(ctx)
		if err != nil {
			return // its links stay unchanged
		}
		for _, l := range links.Extract(v.Text()) {
			to, ok := index.Resolve(string(p), l)
			if l.Target != "" && ok && (old.Contains(p) || old.Contains(model.Path(to)) || taken[links.BaseName(l.Target)]) {
				led[at][l.Target] = ledTo(f, old, model.Path(to))
			}
		}
	}
	look := func(p model.Path) {
		if at, err := n.consequences.tree.Find("rename", p); err == nil { // hidden notes follow too
			lookIn(at, p)
		}
	}
	for _, folder := range n.tree.Folders() {
		for _, p := range folder.Pending() { // the index has no notes whose deletion is proposed, but they may be kept
			if p.Record().Kind == model.ProposedDelete && p.Node != x {
				lookIn(p.Node, p.Public().Path)
			}
		}
	}
	for _, p := range moved {
		for _, name := range [...]string{string(p), model.Rebased(string(p), string(old), string(new))} {
			for _, from := range index.Mentioning(name) {
				look(model.Path(from))
			}
		}
		if p.IsNote() {
			look(p)
		}
	}
	var owes []model.OwedLinks
	for at, led := range led {
		if len(led) > 0 {
			owes = append(owes, model.OwedLinks{Folder: otherThan(f, at.Folder.Name), Rel: at.Place().Rel, Led: led})
		}
	}
	return owes
}

func otherThan(f *Folder, name string) string {
	if name == f.Name {
		return ""
	}
	return name
}

// ledTo describes the link target p relative to a rename of old in the root f.
func ledTo(f *Folder, old, p model.Path) model.LedTo {
	if old.Contains(p) {
		return model.LedTo{In: true, Rel: strings.TrimPrefix(string(p[len(old):]), "/")}
	}
	name, rel := p.Split()
	return model.LedTo{Folder: otherThan(f, name), Rel: rel}
}

type relink struct {
	*base
	f     *Folder
	index *links.Index
	rec   model.ProposalRecord
	x     *tree.Node     // the renamed node
	p     *tree.Proposal // nil if the rename is done
}

func (n *Names) ResumeRenames(ctx context.Context) {
	for _, folder := range n.tree.Folders() {
		f := n.c.Folders[folder]
		n.consequences.FinishProposed(ctx, f, f.Pending())
		for _, rec := range f.TakeDone(func(*model.ProposalRecord) bool { return true }) {
			n.finishDone(ctx, f, rec)
		}
	}
}

// FollowAccepted rewrites the links in front matter that accepted renames in f owe.
func (n *Consequences) FollowAccepted(ctx context.Context, f *Folder) {
	for _, rec := range f.TakeDone(func(rec *model.ProposalRecord) bool { return rec.Accepted != nil }) {
		n.finishDone(ctx, f, rec)
	}
}

func (n *Consequences) FinishProposed(ctx context.Context, f *Folder, list []*tree.Proposal) {
	for _, p := range list {
		if rec := p.Record(); rec.Linking && !rec.Blocked {
			n.finishProposed(ctx, f, p)
		}
	}
}

func (n *base) finishDone(ctx context.Context, f *Folder, rec model.ProposalRecord) (res Restructured) {
	left := rec
	left.Owes = nil
	x, err := n.tree.Find("rename", f.Path().Join(rec.To())) // finds a file that is only proposed
	if at := f.Lookup(rec.To()); at != nil {
		x, err = at, nil
	}
	// A rename that is done at once is stored before it is done, and may not have happened. An accepted rename
	// is stored after it was done, and its old name may be taken again, as in an exchange.
	if err == nil && (rec.Accepted != nil || rec.Rel == "" || f.Lookup(rec.Rel) == nil) {
		r := &relink{base: n, f: f, rec: rec, x: x}
		res, left.Owes = r.all(ctx)
	}
	change := model.ProposalChange{Put: []model.ProposalRecord{left}}
	if len(left.Owes) == 0 {
		change = model.ProposalChange{Drop: []string{rec.ID}}
	}
	if err := f.Store.Propose(change); err != nil {
		n.c.Logger.Warn("the next process checks the links of a rename again", model.LogPath, rec.To(), model.LogErr, err)
	}
	return res
}

// finishProposed rewrites the links that a proposed rename owes, except those in front matter,
// which it continues to owe.
func (n *base) finishProposed(ctx context.Context, f *Folder, p *tree.Proposal) Restructured {
	r := &relink{base: n, f: f, rec: p.Record(), x: p.Node, p: p}
	res, left := r.all(ctx)
	l := f.Lock()
	defer l.Unlock()
	if p.Node.State().Pending == p {
		p.Update(func(rec *model.ProposalRecord) { rec.Owes, rec.Linking = left, false })
	}
	return res
}

func (r *relink) all(ctx context.Context) (res Restructured, left []model.OwedLinks) {
	ctx = context.WithoutCancel(ctx)
	var err error
	if r.index, err = r.c.Links.LinkIndex(ctx); err != nil {
		r.c.Logger.Warn("the link index is incomplete", model.LogErr, err)
	}
	for _, o := range r.rec.Owes {
		var n int
		var waiting map[string]model.LedTo
		r.f.LinkOne(func() { n, waiting, err = r.rewrite(ctx, o) })
		if err != nil {
			r.c.Logger.Warn("the links to a renamed note were not rewritten", model.LogPath, o.Rel, model.LogErr, err)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			waiting = o.Led
		}
		if n += len(waiting); n > 0 && err == nil && r.tree.Reaches(model.Path(path.Join(r.folder(o.Folder), o.Rel))) {
			res.Links += n
			res.Notes++
		}
		if o.Led = waiting; len(waiting) > 0 {
			left = append(left, o)
		}
	}
	return res, left
}

// rewrite rewrites the links of one note. It returns their number, and the links in front matter
// that must wait.
func (r *relink) rewrite(ctx context.Context, o model.OwedLinks) (n int, waiting map[string]model.LedTo, err error) {
	f := r.tree.Folder(r.folder(o.Folder))
	if f == nil || r.p != nil && r.x.State().Pending != r.p {
		return 0, nil, nil // the rename is withdrawn
	}
	rel := o.Rel
	if o.Folder == "" && r.p == nil {
		rel = model.Rebased(rel, r.rec.Rel, r.rec.To())
	}
	x := f.Lookup(rel)
	if x == nil || x.Note == nil {
		return 0, nil, nil
	}
	place := x.Place()
	at := place.Path
	if !place.Shown { // its deletion is proposed, but it may be kept
		if p := x.State().Pending; p == nil || p.Record().Kind != model.ProposedDelete {
			return 0, nil, nil
		}
		at = place.Peoples
	}
	by := model.Author{Name: r.rec.Author, Session: r.rec.Session}
	if r.rec.Accepted != nil {
		by = model.Author{Name: r.rec.Accepted.By}
	}
	_, err = x.Note.Change(ctx, note.Change{Path: at, By: by, Plan: func(l *note.Locked, cur *model.Version) (note.Plan, error) {
		if r.rec.Accepted != nil {
			edits, body := r.edits(at, cur.Raw(), o.Led)
			edits = slices.DeleteFunc(edits, func(e diffwrap.Edit) bool { return e.Off >= body })
			return frontMatterPlan(cur.Raw(), body, edits, *r.rec.Accepted), nil
		}
		edits, body := r.edits(at, cur.Text(), o.Led)
		waiting = make(map[string]model.LedTo)
		if r.p != nil {
			edits = slices.DeleteFunc(edits, func(e diffwrap.Edit) bool { return e.Off < body })
			r.inFrontMatter(at, cur.Text(), o.Led, waiting)
		}
		if n = len(edits); n == 0 {
			return note.Plan{}, nil
		}
		plan, err := l.Plan(cur, diffwrap.Apply(cur.Text(), edits), by)
		if r.p != nil {
			plan.Proposal = r.p.ID
		}
		return plan, err
	}})
	return n, waiting, err
}

func (r *relink) folder(name string) string {
	if name == "" {
		return r.f.Name
	}
	return name
}

// want returns the new target of a link.
func (r *relink) want(to model.LedTo) string {
	if to.In {
		return path.Join(string(r.x.Place().Path), to.Rel)
	}
	return path.Join(r.folder(to.Folder), to.Rel)
}

// edits returns the edits of text, the note at p, that restore the targets of its links, and the
// offset at which its front matter ends.
func (r *relink) edits(p model.Path, text string, led map[string]model.LedTo) (edits []diffwrap.Edit, body int) {
	body, _ = diffwrap.FrontMatter(text)
	r.each(p, text, led, func(l links.Link, target string) {
		edits = append(edits, diffwrap.Edit{Off: l.TargetOff, Len: l.TargetLen, New: target})
	})
	slices.SortFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	return edits, body
}

// inFrontMatter adds to waiting the links in the front matter of text that would be rewritten.
func (r *relink) inFrontMatter(p model.Path, text string, led, waiting map[string]model.LedTo) {
	body, _ := diffwrap.FrontMatter(text)
	r.each(p, text, led, func(l links.Link, _ string) {
		if l.Off < body {
			waiting[l.Target] = led[l.Target]
		}
	})
}

// each calls fn for the links of text with wrong targets, with the linkpaths of the right ones.
func (r *relink) each(p model.Path, text string, led map[string]model.LedTo, fn func(l links.Link, target string)) {
	for _, l := range links.Extract(text) {
		to, known := led[l.Target]
		if !known {
			continue
		}
		want := r.want(to)
		if got, ok := r.index.Resolve(string(p), l); ok && got == want {
			continue
		}
		written := text[l.TargetOff : l.TargetOff+l.TargetLen]
		if target, ok := r.index.Retarget(string(p), l, written, want); ok && target != written {
			fn(l, target)
		}
	}
}

// frontMatterPlan plans edits in the front matter of raw, which ends at body.
func frontMatterPlan(raw string, body int, edits []diffwrap.Edit, d model.Decision) note.Plan {
	if len(edits) == 0 {
		return note.Plan{}
	}
	before, after := raw[:body], diffwrap.Apply(raw[:body], edits)
	return note.Plan{Edits: diffwrap.Diff(before, after), Decision: &d, FrontMatter: note.FrontMatterChange(before, after)} // of one diff
}
