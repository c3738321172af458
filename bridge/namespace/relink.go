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

// A rename takes the links along. What each link leads to before, as it is shown,
// is compared with what it would lead to after, and where the two differ the link
// is rewritten: links to what was moved, relative links in it, and links that its
// new name would lead astray. The Store keeps where they led with the rename, until they
// are rewritten, so that the next process goes on after a crash. Front matter takes no
// suggestions, so its links are kept until a person accepts a proposed rename.

// owed are the links that a rename of x from old to new concerns.
func (n *Names) owed(ctx context.Context, f *Folder, index *links.Index, old, new model.Path, x *tree.Node) []model.OwedLinks {
	moved := x.Paths()
	moved[0] = old
	taken := make(map[string]bool) // base names that more files have after the rename
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
			return // its links stay as they are
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
		for _, p := range folder.Pending() { // the index does not have what may yet be kept
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

// otherThan is the name of a Folder, "" for f.
func otherThan(f *Folder, name string) string {
	if name == f.Name {
		return ""
	}
	return name
}

// ledTo is p in the terms of the rename of old, which is in f.
func ledTo(f *Folder, old, p model.Path) model.LedTo {
	if old.Contains(p) {
		return model.LedTo{In: true, Rel: strings.TrimPrefix(string(p[len(old):]), "/")}
	}
	name, rel := p.Split()
	return model.LedTo{Folder: otherThan(f, name), Rel: rel}
}

// relink rewrites the links that one rename owes.
type relink struct {
	*base
	f     *Folder
	index *links.Index
	rec   model.ProposalRecord
	x     *tree.Node     // what was renamed
	p     *tree.Proposal // nil if the rename is done
}

// ResumeRenames rewrites the links that were not rewritten yet when an earlier process ended.
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

// FinishProposed rewrites the links that proposed renames of the list have not rewritten yet.
func (n *Consequences) FinishProposed(ctx context.Context, f *Folder, list []*tree.Proposal) {
	for _, p := range list {
		if rec := p.Record(); rec.Linking && !rec.Blocked {
			n.finishProposed(ctx, f, p)
		}
	}
}

// finishDone rewrites the links that a rename owes which waits for nobody.
func (n *base) finishDone(ctx context.Context, f *Folder, rec model.ProposalRecord) (res Restructured) {
	left := rec
	left.Owes = nil
	x, err := n.tree.Find("rename", f.Path().Join(rec.To())) // a file that is only proposed is nowhere else
	if at := f.Lookup(rec.To()); at != nil {
		x, err = at, nil
	}
	// A rename at once was kept before it was done, and may not have been. An accepted one was done before, and
	// something else may have the old name since: they are exchanged.
	if err == nil && (rec.Accepted != nil || rec.Rel == "" || f.Lookup(rec.Rel) == nil) {
		r := &relink{base: n, f: f, rec: rec, x: x}
		res, left.Owes = r.all(ctx)
	}
	change := model.ProposalChange{Put: []model.ProposalRecord{left}}
	if len(left.Owes) == 0 {
		change = model.ProposalChange{Drop: []string{rec.ID}}
	}
	if err := f.Store.Propose(change); err != nil {
		n.c.Logger.Warn("links of a rename are looked at again by the next process", model.LogPath, rec.To(), model.LogErr, err)
	}
	return res
}

// finishProposed rewrites the links that a proposed rename owes, but for those in front
// matter, which it goes on to owe.
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

// all rewrites the links of all notes, and returns what is owed still.
func (r *relink) all(ctx context.Context) (res Restructured, left []model.OwedLinks) {
	ctx = context.WithoutCancel(ctx)
	var err error
	if r.index, err = r.c.Links.LinkIndex(ctx); err != nil {
		r.c.Logger.Warn("links are not all known", model.LogErr, err)
	}
	for _, o := range r.rec.Owes {
		var n int
		var waiting map[string]model.LedTo
		r.f.LinkOne(func() { n, waiting, err = r.rewrite(ctx, o) })
		if err != nil {
			r.c.Logger.Warn("links to a renamed note are left as they are", model.LogPath, o.Rel, model.LogErr, err)
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

// rewrite rewrites the links of one note. It returns how many, and those in front matter that
// have to wait.
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
	if !place.Shown { // it is proposed to be deleted, and may yet be kept
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

// folder is the name of the Folder that an owed link names.
func (r *relink) folder(name string) string {
	if name == "" {
		return r.f.Name
	}
	return name
}

// want is where a link is to lead.
func (r *relink) want(to model.LedTo) string {
	if to.In {
		return path.Join(string(r.x.Place().Path), to.Rel)
	}
	return path.Join(r.folder(to.Folder), to.Rel)
}

// edits are the changes of text, the note at p, that let its links lead where they led, and
// where its front matter ends.
func (r *relink) edits(p model.Path, text string, led map[string]model.LedTo) (edits []diffwrap.Edit, body int) {
	body, _ = diffwrap.FrontMatter(text)
	r.each(p, text, led, func(l links.Link, target string) {
		edits = append(edits, diffwrap.Edit{Off: l.TargetOff, Len: l.TargetLen, New: target})
	})
	slices.SortFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	return edits, body
}

// inFrontMatter adds the links to waiting that would be changed in the front matter of text.
func (r *relink) inFrontMatter(p model.Path, text string, led, waiting map[string]model.LedTo) {
	body, _ := diffwrap.FrontMatter(text)
	r.each(p, text, led, func(l links.Link, _ string) {
		if l.Off < body {
			waiting[l.Target] = led[l.Target]
		}
	})
}

// each calls fn with the links of text, the note at p, that lead elsewhere than they are to,
// and the linkpaths that lead there.
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

// frontMatterPlan makes edits in the front matter of raw, which ends at body.
func frontMatterPlan(raw string, body int, edits []diffwrap.Edit, d model.Decision) note.Plan {
	if len(edits) == 0 {
		return note.Plan{}
	}
	before, after := raw[:body], diffwrap.Apply(raw[:body], edits)
	return note.Plan{Edits: diffwrap.Diff(before, after), Decision: &d, FrontMatter: note.FrontMatterChange(before, after)} // of one diff
}
