package namespace

import (
	"cmp"
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
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/diffwrap"
)

// Links follow a rename. The target of each link before the rename, as shown, is compared with its target after it. If
// the two differ, the link is rewritten. This concerns links to the renamed node, relative links in it, and links that
// the new name would redirect. The Store keeps the old targets with the rename until the links are rewritten, so that
// the next process can continue after a crash.
//
// A proposed rename adds suggestions that rewrite the links in plain text. These suggestions, and later changes of
// them, belong to the rename. Two kinds of links wait: links in front matter, which takes no suggestions, and links in
// the pending text of others. If the rename is accepted, relayfs rewrites these links in place. It also rewrites links
// with the old name that have been written since and lead nowhere. If the rename is rejected, relayfs restores the old
// name in text that agents wrote with the new name: in their pending text, and in text that a user accepted while the
// rename was pending. It changes no other text then, because the names in the source stay as they are. The journal has
// all this with the decision, for undo.

func (n *Namespace) affectedLinks(ctx context.Context, f *Root, index *links.Index, old, new model.Path, x *tree.Node) (owes []model.PendingRelink) {
	moved := x.Paths()
	moved[0] = old
	taken := make(map[string]bool) // base names of the renamed files after the rename; several files may share a name
	var names []model.Path
	for _, p := range moved {
		to := model.Rebased(string(p), string(old), string(new))
		names, taken[links.BaseName(to)] = append(names, p, model.Path(to)), true
	}
	notes := n.effects.mentioning(f, index, names) // links in hidden notes are rewritten too
	for _, p := range moved {
		if node, err := n.effects.tree.Find("rename", p); err == nil && node.Note() != nil {
			notes[node] = p
		}
	}
	for node, p := range notes {
		v, err := node.Note().Version(ctx)
		if err != nil {
			continue // the note's links stay unchanged
		}
		oldTargets := make(map[string]model.LinkTarget)
		for _, l := range links.Extract(v.Text()) {
			to, ok := index.Resolve(string(p), l)
			if l.Target != "" && ok && (old.Contains(p) || old.Contains(model.Path(to)) || taken[links.BaseName(l.Target)]) {
				oldTargets[l.Target] = linkTarget(old, model.Path(to))
			}
		}
		if len(oldTargets) > 0 {
			owes = append(owes, model.PendingRelink{Rel: node.Location().Rel, OldTargets: oldTargets})
		}
	}
	return owes
}

// mentioning returns the notes with links that end in one of the names. It also returns the notes whose deletion is
// proposed: the index does not have these notes, but a user may keep them.
func (n *service) mentioning(f *Root, index *links.Index, names []model.Path) map[*tree.Node]model.Path {
	notes := make(map[*tree.Node]model.Path)
	for _, name := range names {
		for _, from := range index.Mentioning(string(name)) {
			if node, err := n.tree.Find("rename", model.Path(from)); err == nil && node.Note() != nil {
				notes[node] = model.Path(from)
			}
		}
	}
	for _, p := range f.Pending() {
		if p.Record().Kind == model.ProposedDelete && p.Node.Note() != nil {
			notes[p.Node] = p.Public().Path
		}
	}
	return notes
}

// linkTarget describes the link target p relative to a rename of old.
func linkTarget(old, p model.Path) model.LinkTarget {
	if old.Contains(p) {
		return model.LinkTarget{InRenamed: true, Rel: strings.TrimPrefix(string(p[len(old):]), "/")}
	}
	_, rel := p.Split()
	return model.LinkTarget{Rel: rel}
}

// FormerNames returns an index of the old paths of the notes and files below pending renames. A link that only this
// index resolves follows the rename when the rename is accepted.
func FormerNames(t *Tree) *links.Index {
	former := links.NewIndex()
	proposals, _ := t.Proposals("") // the root always exists
	for _, p := range proposals {
		if p.Kind != model.ProposedRename || p.Taken {
			continue
		}
		renamed, _ := t.Below(p.NewPath) // fails for one that was withdrawn meanwhile
		for _, e := range renamed {
			former.AddFile(model.Rebased(string(e.Path), string(p.NewPath), string(p.Path)))
		}
	}
	return former
}

type relink struct {
	*service
	root     *Root
	index    *links.Index // without a later rename of the node that is pending
	current  model.ProposalRecord
	node     *tree.Node     // the renamed node
	at       model.Path     // path of the node in index
	proposal *tree.Proposal // nil if the rename had no proposal or was decided
	// lost has the old paths of the decided rename, and pending the old paths of pending renames (FormerNames). present
	// maps each path in lost to the present path. All are nil without a decision.
	lost, pending *links.Index
	present       map[string]string
}

func (n *Namespace) ResumeRenames(ctx context.Context) {
	for _, folder := range n.tree.Roots() {
		f := n.config.Roots[folder]
		n.effects.FinishProposed(ctx, f, f.Pending())
		n.effects.finish(ctx, f, func(*model.ProposalRecord) bool { return true })
	}
}

// EndRenames rejects the link rewrites of the renames in f that were withdrawn or whose documents no longer exist.
func (n *Namespace) EndRenames(ctx context.Context, f *Root) {
	n.effects.finish(ctx, f, func(rec *model.ProposalRecord) bool { return rec.Decision != nil && rec.Decision.Withdrawn })
}

// FollowDecided rewrites the pending links of the decided renames in f.
func (n *DecisionEffects) FollowDecided(ctx context.Context, f *Root) {
	n.finish(ctx, f, func(rec *model.ProposalRecord) bool { return rec.Decision != nil })
}

func (n *DecisionEffects) finish(ctx context.Context, f *Root, which func(*model.ProposalRecord) bool) {
	if n.config.ReadOnly {
		return
	}
	for _, rec := range f.TakeCompleted(which) {
		if d := rec.Decision; d != nil && d.Withdrawn {
			n.OnWithdrawn(context.WithoutCancel(ctx), d.Follows, model.Author{Name: d.By, Session: rec.Session})
		}
		n.finishDone(ctx, f, rec)
	}
}

// FollowAgain rewrites the links that a decision on a rename left unchanged, because their text was not in the notes at
// that time. The Rel of the entry is the present path of the renamed node.
func (n *DecisionEffects) FollowAgain(ctx context.Context, e model.JournalEntry) {
	d := *e.Decision
	f, err := n.structureAt("undo", e.Path)
	if d.Proposal.Kind != model.ProposedRename || err != nil {
		return
	}
	done := decidedRename(*d.Proposal, nil, model.Decision{Batch: d.Batch, Verdict: d.Verdict, By: d.By, Withdrawn: d.Withdrawn}, "")
	done.ToDir, done.Name = model.Parent(e.Rel), model.Path(e.Rel).Base()
	n.finishDone(ctx, f, done)
}

func (n *DecisionEffects) FinishProposed(ctx context.Context, f *Root, list []*tree.Proposal) {
	for _, p := range list {
		if rec := p.Record(); rec.Linking && !rec.Blocked {
			n.finishProposed(ctx, f, p)
		}
	}
}

func (n *service) finishDone(ctx context.Context, f *Root, rec model.ProposalRecord) (res ChangeResult) {
	left := rec
	left.PendingRelinks = nil
	x, err := n.tree.Find("rename", f.Path().Join(rec.To())) // Find also finds a file that is only proposed
	if node := f.Lookup(rec.To()); node != nil {
		x, err = node, nil
	}
	// A rename without a proposal is stored before it is made, and may not have happened. A decided rename
	// is stored after it was made, and its old name may be taken again, as in an exchange.
	if err == nil && (rec.Decision != nil || rec.Rel == "" || f.Lookup(rec.Rel) == nil) {
		r := &relink{service: n, root: f, current: rec, node: x}
		res, left.PendingRelinks = r.all(ctx)
	}
	change := model.ProposalChange{Upserted: []model.ProposalRecord{left}}
	if len(left.PendingRelinks) == 0 {
		change = model.ProposalChange{Removed: []string{rec.ID}}
	}
	if err := f.Store.Propose(change); err != nil {
		n.config.Logger.Warn("the next process will check the links of a rename again", model.LogPath, rec.To(), model.LogErr, err)
	}
	return res
}

// finishProposed adds suggestions that rewrite the links that a proposed rename breaks. Links in front matter and in
// pending text usually wait until the rename is accepted.
func (n *service) finishProposed(ctx context.Context, f *Root, p *tree.Proposal) ChangeResult {
	r := &relink{service: n, root: f, current: p.Record(), node: p.Node, proposal: p}
	res, left := r.all(ctx)
	l := f.Lock()
	defer l.Unlock()
	if p.Node.State().Pending == p {
		p.Update(func(rec *model.ProposalRecord) { rec.PendingRelinks, rec.Linking = left, false })
	}
	return res
}

func (r *relink) all(ctx context.Context) (res ChangeResult, left []model.PendingRelink) {
	ctx = context.WithoutCancel(ctx)
	var err error
	if r.index, err = r.config.Links.LinkIndex(ctx); err != nil {
		r.config.Logger.Warn("the link index is incomplete", model.LogErr, err)
	}
	if r.at = r.node.Location().Path; r.current.Decision != nil {
		r.findDangling()
	}
	for _, o := range r.current.PendingRelinks {
		var n int
		var waiting map[string]model.LinkTarget
		r.root.WithLinkLock(func() { n, waiting, err = r.rewrite(ctx, o) })
		if err != nil {
			r.config.Logger.Warn("the links to a renamed note were not rewritten", model.LogPath, o.Rel, model.LogErr, err)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			waiting = o.OldTargets
		}
		if n += len(waiting); n > 0 && err == nil && r.tree.Contains(r.root.Path().Join(o.Rel)) {
			res.Links += n
			res.Notes++
		}
		if o.OldTargets = waiting; len(waiting) > 0 || err != nil {
			left = append(left, o)
		}
	}
	return res, left
}

// findDangling adds the notes that may have links to paths that the renamed files have lost.
func (r *relink) findDangling() {
	r.lost, r.pending, r.present = links.NewIndex(), FormerNames(r.tree), make(map[string]string)
	shown := r.at
	if p := r.node.State().Pending; p != nil && p.Record().Kind == model.ProposedRename {
		r.at = r.node.Location().SourcePath
	}
	var names []model.Path
	for _, p := range r.node.Paths() {
		for _, rel := range []string{r.current.From(), cmp.Or(r.current.LostRel, r.current.From())} {
			old := model.Rebased(string(p), string(shown), string(r.root.Path().Join(rel)))
			r.lost.AddFile(old)
			names, r.present[old] = append(names, model.Path(old)), model.Rebased(string(p), string(shown), string(r.at))
		}
	}
	var more []model.PendingRelink
	for node := range r.mentioning(r.root, r.index, names) {
		more = append(more, model.PendingRelink{Rel: model.Rebased(node.Location().Rel, r.current.To(), r.current.Rel)}) // the rename's records have the old paths
	}
	r.current.AddPendingRelinks(more)
	if r.at != shown {
		r.index = r.namesWithout(shown)
	}
}

// namesWithout returns an index of the names in the root in which the node, which is shown at the given path, is at
// r.at. The text in which a decided rename rewrites links is older than a later rename of the node. Links in such text
// have the names in the source until the later rename is accepted.
func (r *relink) namesWithout(shown model.Path) *links.Index {
	index := links.NewIndex()
	all, _ := r.tree.Below(r.root.Path()) // the root always exists
	for _, e := range all {
		if e.Kind != model.KindDir {
			index.AddFile(model.Rebased(string(e.Path), string(shown), string(r.at)))
		}
	}
	return index
}

// rewrite rewrites the links of one note. It returns their number, and the links that must wait.
func (r *relink) rewrite(ctx context.Context, o model.PendingRelink) (n int, waiting map[string]model.LinkTarget, err error) {
	if r.proposal != nil && r.node.State().Pending != r.proposal {
		return 0, nil, nil // the rename was withdrawn
	}
	rel := o.Rel
	if r.proposal == nil {
		rel = model.Rebased(rel, r.current.Rel, r.current.To())
	}
	x := r.root.Lookup(rel)
	if x == nil || x.Note() == nil {
		return 0, nil, nil
	}
	place := x.Location()
	at := place.Path
	if !place.Shown { // the note's deletion is proposed, but a user may keep the note
		if p := x.State().Pending; p == nil || p.Record().Kind != model.ProposedDelete {
			return 0, nil, nil
		}
		at = place.SourcePath
	}
	author := model.Author{Name: r.current.Author, Session: r.current.Session}
	if r.current.Decision != nil {
		author = model.Author{Name: r.current.Decision.By}
	}
	for _, how := range [...]treatment{inPlace, suggested} {
		var done int
		_, err = x.Note().Change(ctx, note.Change{Path: at, By: author, Plan: func(l *note.Locked, current *model.Version) (planner.Plan, error) {
			edits, err := r.edits(l, current, at, place.SourcePath, o.OldTargets)
			if err != nil {
				return planner.Plan{}, err
			}
			waiting = edits.waiting
			if how == inPlace {
				if done = len(edits.marked); done == 0 {
					return planner.Plan{}, nil
				}
				x, err := l.Layout(current)
				if err == nil && current.ReadOnly() {
					err = model.ErrNotText
				}
				if err != nil {
					return planner.Plan{}, err
				}
				return planner.RewriteLinks(current, x, edits.marked, r.current.Decision), nil
			}
			if done = len(edits.view); done == 0 {
				return planner.Plan{}, nil
			}
			plan, err := l.PlanApart(current, diffwrap.Apply(current.Text(), edits.view), author)
			if r.proposal != nil {
				plan.Proposal = r.proposal.ID
			}
			return plan, err
		}})
		if n += done; err != nil {
			return n, waiting, err
		}
	}
	return n, waiting, nil
}

// target returns the path to which a link must lead after the rename. oldTargets has the targets before the rename, by
// linkpath. ok is false if the rename does not affect the link.
func (r *relink) target(from model.Path, l links.Link, oldTargets map[string]model.LinkTarget) (p string, ok bool) {
	if to, ok := oldTargets[l.Target]; ok && to.InRenamed {
		return path.Join(string(r.at), to.Rel), true
	} else if ok {
		return path.Join(r.root.Name, to.Rel), true
	}
	if r.lost == nil || l.Target == "" {
		return "", false
	}
	for _, names := range [...]*links.Index{r.index, r.pending} {
		if _, leads := names.Resolve(string(from), l); leads {
			return "", false
		}
	}
	old, ok := r.lost.Resolve(string(from), l)
	return r.present[old], ok
}

// treatment is the way in which a link follows the rename.
type treatment uint8

const (
	unchanged treatment = iota
	inPlace
	suggested
	waits
)

// treat returns the treatment of a link. A link stays unchanged if a user wants to keep it, or if it is in one of the
// rename's own suggestions, on which the same decision decides. After a rejection, a link also stays unchanged unless
// an agent wrote it, a user accepted it, or a decision on a rename rewrote it, since the rename was proposed, or it is in
// the pending suggestion of another rename.
//
// Several renames may exchange names. A link that one of these renames has rewritten is right, although its new name
// may be the old name of another note. So a link stays unchanged if the suggestion of a rename added its linkpath and
// it leads to a file, and after an acceptance also if the same decision has rewritten it.
func (r *relink) treat(p planner.LinkPlace, leads, inFrontMatter bool) treatment {
	switch d := r.current.Decision; {
	case p.Kept, d != nil && (p.Own || p.Followed && leads), d != nil && d.Verdict == model.Accepted && p.Relinked != "" && p.Relinked == d.Batch:
		return unchanged
	case d != nil && d.Verdict == model.Rejected && !(p.Added && p.Followed) && p.Since.Before(r.current.Time):
		return unchanged
	case d != nil && d.Withdrawn && !p.Added:
		return suggested
	case d != nil, p.Own, r.proposal == nil && p.Pending:
		return inPlace
	case r.proposal != nil && (p.Pending || inFrontMatter):
		return waits
	}
	return suggested
}

// linkEdits are the edits of a note that restore the targets of its links.
type linkEdits struct {
	marked  []diffwrap.Edit // edits of the marked text, to be made in place
	view    []diffwrap.Edit // edits of the view, to be suggested
	waiting map[string]model.LinkTarget
}

// edits finds the edits in a note. p is the path of the note, and original its path if all pending changes are
// rejected.
func (r *relink) edits(l *note.Locked, current *model.Version, p, original model.Path, oldTargets map[string]model.LinkTarget) (linkEdits, error) {
	out := linkEdits{waiting: make(map[string]model.LinkTarget)}
	type view struct {
		diffwrap.View
		at         model.Path
		oldTargets map[string]model.LinkTarget
	}
	views := []view{{diffwrap.AcceptedView, p, oldTargets}}
	id := ""
	if r.proposal != nil {
		id = r.proposal.ID
	} else if d := r.current.Decision; d != nil {
		id = d.Follows
		if d.Verdict == model.Accepted { // pending deletions, whose links have the names of the source, may be rejected
			views = append(views, view{diffwrap.OriginalView, original, nil})
		}
	}
	x, err := l.Layout(current)
	if err != nil {
		return out, err
	}
	taken := make(map[int]bool)
	for _, v := range views {
		places := planner.NewLinkPlaces(x, v.View, id)
		text := current.Known().Render(current.Canonical(), v.View)
		body, _ := diffwrap.FrontMatter(text)
		r.each(v.at, text, v.oldTargets, func(link links.Link, target string, leads bool) {
			linkpath := diffwrap.Span{Start: link.TargetOff, End: link.TargetOff + link.TargetLen}
			place, ok := places.Find(diffwrap.Span{Start: link.Off, End: link.Off + link.Len}, linkpath)
			if !ok || taken[place.Off] {
				return
			}
			how := r.treat(place, leads, link.Off < body)
			if how == suggested && text != current.Text() { // writers edit the marked text
				how = inPlace
			}
			switch taken[place.Off] = true; how {
			case inPlace:
				out.marked = append(out.marked, diffwrap.Edit{Off: place.Off, Len: linkpath.Len(), New: target})
			case suggested:
				out.view = append(out.view, diffwrap.Edit{Off: linkpath.Start, Len: linkpath.Len(), New: target})
			case waits:
				out.waiting[link.Target] = oldTargets[link.Target]
			}
		})
	}
	for _, edits := range [][]diffwrap.Edit{out.marked, out.view} {
		slices.SortFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	}
	return out, nil
}

// each calls fn for the links of text that have wrong targets. target is the linkpath of the right target. leads is set if
// the link leads to another file.
func (r *relink) each(p model.Path, text string, oldTargets map[string]model.LinkTarget, fn func(l links.Link, target string, leads bool)) {
	for _, l := range links.Extract(text) {
		want, ok := r.target(p, l, oldTargets)
		if !ok {
			continue
		}
		got, leads := r.index.Resolve(string(p), l)
		if leads && got == want {
			continue
		}
		written := text[l.TargetOff : l.TargetOff+l.TargetLen]
		if target, ok := r.index.Retarget(string(p), l, written, want); ok && target != written {
			fn(l, target, leads)
		}
	}
}
