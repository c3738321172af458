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

// Links follow a rename. The target of each link before the rename, as shown, is compared with its target after it. If
// the two differ, the link is rewritten. This concerns links to the renamed node, relative links in it, and links that
// the new name would redirect. The Store keeps the old targets with the rename until the links are rewritten, so that
// the next process can continue after a crash.
//
// A proposed rename suggests to rewrite the links in plain text. These suggestions are the rename's, and so are later
// changes of them. Links in front matter, which takes no suggestions, and in the pending text of others wait. If the
// rename is accepted, relayfs rewrites them in place, and also the links with the old name that were written since and
// lead nowhere. If it is rejected, relayfs restores the old name in pending text that was written with the new one. The
// journal has both with the decision, for undo.

// affectedLinks returns the links that a rename of x from old to new affects.
func (n *Namespace) affectedLinks(ctx context.Context, f *Root, index *links.Index, old, new model.Path, x *tree.Node) []model.PendingRelink {
	moved := x.Paths()
	moved[0] = old
	taken := make(map[string]bool) // base names of the renamed files after the rename; several files may share a name
	var names []model.Path
	for _, p := range moved {
		to := model.Rebased(string(p), string(old), string(new))
		names, taken[links.BaseName(to)] = append(names, p, model.Path(to)), true
	}
	notes := n.effects.mentioning(index, names) // hidden notes follow too
	for _, p := range moved {
		if node, err := n.effects.tree.Find("rename", p); err == nil && node.Note != nil {
			notes[node] = p
		}
	}
	return n.owes(ctx, f, notes, func(v *model.Version, p model.Path, oldTargets map[string]model.LinkTarget) {
		for _, l := range links.Extract(v.Text()) {
			to, ok := index.Resolve(string(p), l)
			if l.Target != "" && ok && (old.Contains(p) || old.Contains(model.Path(to)) || taken[links.BaseName(l.Target)]) {
				oldTargets[l.Target] = linkTarget(f, old, model.Path(to))
			}
		}
	})
}

// mentioning returns the notes with links that end in one of the names, and those whose deletion is proposed: the index
// does not have them, but they may be kept.
func (n *service) mentioning(index *links.Index, names []model.Path) map[*tree.Node]model.Path {
	notes := make(map[*tree.Node]model.Path)
	for _, name := range names {
		for _, from := range index.Mentioning(string(name)) {
			if node, err := n.tree.Find("rename", model.Path(from)); err == nil && node.Note != nil {
				notes[node] = model.Path(from)
			}
		}
	}
	for _, folder := range n.tree.Roots() {
		for _, p := range folder.Pending() {
			if p.Record().Kind == model.ProposedDelete && p.Node.Note != nil {
				notes[p.Node] = p.Public().Path
			}
		}
	}
	return notes
}

// owes returns the links of the notes that must be rewritten: find adds the old targets of such links to oldTargets.
func (n *service) owes(
	ctx context.Context, f *Root, notes map[*tree.Node]model.Path, find func(v *model.Version, p model.Path, oldTargets map[string]model.LinkTarget),
) (owes []model.PendingRelink) {
	for node, p := range notes {
		v, err := node.Note.Version(ctx)
		if err != nil {
			continue // its links stay unchanged
		}
		oldTargets := make(map[string]model.LinkTarget)
		if find(v, p, oldTargets); len(oldTargets) > 0 {
			owes = append(owes, model.PendingRelink{Root: rootUnlessSame(f, node.Root.Name), Rel: node.Location().Rel, OldTargets: oldTargets})
		}
	}
	return owes
}

func rootUnlessSame(f *Root, name string) string {
	if name == f.Name {
		return ""
	}
	return name
}

// linkTarget describes the link target p relative to a rename of old in the root f.
func linkTarget(f *Root, old, p model.Path) model.LinkTarget {
	if old.Contains(p) {
		return model.LinkTarget{InRenamed: true, Rel: strings.TrimPrefix(string(p[len(old):]), "/")}
	}
	name, rel := p.Split()
	return model.LinkTarget{Root: rootUnlessSame(f, name), Rel: rel}
}

// danglingLinks returns the links that lead nowhere, and led to x or below it while that was at the source path oldRel.
func (n *service) danglingLinks(ctx context.Context, f *Root, index *links.Index, x *tree.Node, oldRel string) []model.PendingRelink {
	at, old := x.Location().Path, f.Path().Join(oldRel)
	former, names := links.NewIndex(), x.Paths()
	for i, p := range names {
		names[i] = model.Path(model.Rebased(string(p), string(at), string(old)))
		former.AddFile(string(names[i]))
	}
	return n.owes(ctx, f, n.mentioning(index, names), func(v *model.Version, p model.Path, oldTargets map[string]model.LinkTarget) {
		for _, view := range [...]diffwrap.View{diffwrap.AcceptedView, diffwrap.OriginalView} {
			for _, l := range links.Extract(v.Known().Render(v.Canonical(), view)) {
				_, leads := index.Resolve(string(p), l)
				if to, led := former.Resolve(string(p), l); !leads && led && l.Target != "" {
					oldTargets[l.Target] = linkTarget(f, old, model.Path(to))
				}
			}
		}
	})
}

type relink struct {
	*service
	root     *Root
	index    *links.Index
	current  model.ProposalRecord
	node     *tree.Node     // the renamed node
	proposal *tree.Proposal // nil if the rename had no proposal or was accepted
}

func (n *Namespace) ResumeRenames(ctx context.Context) {
	for _, folder := range n.tree.Roots() {
		f := n.config.Roots[folder]
		n.effects.FinishProposed(ctx, f, f.Pending())
		for _, rec := range f.TakeCompleted(func(*model.ProposalRecord) bool { return true }) {
			n.finishDone(ctx, f, rec)
		}
	}
}

// FollowDecided rewrites the pending links of the decided renames in f.
func (n *DecisionEffects) FollowDecided(ctx context.Context, f *Root) {
	for _, rec := range f.TakeCompleted(func(rec *model.ProposalRecord) bool { return rec.Decision != nil }) {
		n.finishDone(ctx, f, rec)
	}
}

// FollowAgain rewrites the links that a decision on a rename left, because their text was not in the notes then.
func (n *DecisionEffects) FollowAgain(ctx context.Context, e model.JournalEntry) {
	d := *e.Decision
	f, err := n.structureAt("undo", e.Path)
	if d.Proposal.Kind != model.ProposedRename || err != nil {
		return
	}
	n.finishDone(ctx, f, decidedRename(*d.Proposal, nil, model.Decision{Batch: d.Batch, Verdict: d.Verdict, By: d.By, Withdrawn: d.Withdrawn}))
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
		n.config.Logger.Warn("the next process checks the links of a rename again", model.LogPath, rec.To(), model.LogErr, err)
	}
	return res
}

// finishProposed rewrites the links that a proposed rename breaks. Links in front matter are rewritten when the rename
// is accepted.
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
	if r.current.Decision != nil {
		dangling := r.danglingLinks(ctx, r.root, r.index, r.node, r.current.From())
		for i, o := range dangling {
			if o.Root == "" {
				dangling[i].Rel = model.Rebased(o.Rel, r.current.To(), r.current.Rel) // as in the rename's other records
			}
		}
		r.current.AddPendingRelinks(dangling)
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
		if n += len(waiting); n > 0 && err == nil && r.tree.Contains(model.Path(path.Join(r.rootName(o.Root), o.Rel))) {
			res.Links += n
			res.Notes++
		}
		if o.OldTargets = waiting; len(waiting) > 0 {
			left = append(left, o)
		}
	}
	return res, left
}

// rewrite rewrites the links of one note. It returns their number, and the links that must wait.
func (r *relink) rewrite(ctx context.Context, o model.PendingRelink) (n int, waiting map[string]model.LinkTarget, err error) {
	f := r.tree.Root(r.rootName(o.Root))
	if f == nil || r.proposal != nil && r.node.State().Pending != r.proposal {
		return 0, nil, nil // the rename was withdrawn
	}
	rel := o.Rel
	if o.Root == "" && r.proposal == nil {
		rel = model.Rebased(rel, r.current.Rel, r.current.To())
	}
	x := f.Lookup(rel)
	if x == nil || x.Note == nil {
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
		_, err = x.Note.Change(ctx, note.Change{Path: at, By: author, Plan: func(l *note.Locked, current *model.Version) (note.Plan, error) {
			edits, err := r.edits(l, current, at, o.OldTargets)
			if err != nil {
				return note.Plan{}, err
			}
			waiting = edits.waiting
			if how == inPlace {
				if done = len(edits.marked); done == 0 {
					return note.Plan{}, nil
				}
				return l.RewriteLinks(current, edits.marked, r.current.Decision)
			}
			if done = len(edits.view); done == 0 {
				return note.Plan{}, nil
			}
			apart := author // the rename's suggestions do not join the author's others
			apart.Session += "\x00" + r.current.ID
			plan, err := l.Plan(current, diffwrap.Apply(current.Text(), edits.view), apart)
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

func (r *relink) rootName(name string) string {
	if name == "" {
		return r.root.Name
	}
	return name
}

// target returns the path to which a link must lead after the rename.
func (r *relink) target(to model.LinkTarget) string {
	if to.InRenamed {
		return path.Join(string(r.node.Location().Path), to.Rel)
	}
	return path.Join(r.rootName(to.Root), to.Rel)
}

// treatment says how a link follows the rename.
type treatment uint8

const (
	unchanged treatment = iota
	inPlace
	suggested
	waits
)

// treat returns how a link follows. A link that a user wants to keep, and a link in the rename's own suggestions about
// which the same decision decides, stay unchanged.
func (r *relink) treat(p note.LinkPlace, inFrontMatter bool) treatment {
	switch d := r.current.Decision; {
	case p.Kept, d != nil && (p.Own || d.Verdict == model.Rejected && !p.Pending):
		return unchanged
	case d != nil, p.Own, r.proposal == nil && p.Pending:
		return inPlace
	case r.proposal != nil && (p.Pending || inFrontMatter):
		return waits
	}
	return suggested
}

// linkEdits are the edits of a note that restore the targets of its links.
type linkEdits struct {
	marked  []diffwrap.Edit // in place, of the marked text
	view    []diffwrap.Edit // to be suggested, of the view
	waiting map[string]model.LinkTarget
}

func (r *relink) edits(l *note.Locked, current *model.Version, p model.Path, oldTargets map[string]model.LinkTarget) (linkEdits, error) {
	out := linkEdits{waiting: make(map[string]model.LinkTarget)}
	id := ""
	views := []diffwrap.View{diffwrap.AcceptedView}
	if r.proposal != nil {
		id = r.proposal.ID
	} else if d := r.current.Decision; d != nil {
		id = d.Follows
		views = append(views, diffwrap.OriginalView) // pending deletions may be rejected
	}
	taken := make(map[int]bool)
	for _, view := range views {
		places, err := l.LinkPlaces(current, view, id)
		if err != nil {
			return out, err
		}
		text := current.Known().Render(current.Canonical(), view)
		body, _ := diffwrap.FrontMatter(text)
		r.each(p, text, oldTargets, func(link links.Link, target string) {
			linkpath := diffwrap.Span{Start: link.TargetOff, End: link.TargetOff + link.TargetLen}
			place, ok := places.Find(diffwrap.Span{Start: link.Off, End: link.Off + link.Len}, linkpath)
			if !ok || taken[place.Off] {
				return
			}
			how := r.treat(place, link.Off < body)
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

// each calls fn for the links of text that have wrong targets. target is the linkpath of the right target.
func (r *relink) each(p model.Path, text string, oldTargets map[string]model.LinkTarget, fn func(l links.Link, target string)) {
	for _, l := range links.Extract(text) {
		to, known := oldTargets[l.Target]
		if !known {
			continue
		}
		want := r.target(to)
		if got, ok := r.index.Resolve(string(p), l); ok && got == want {
			continue
		}
		written := text[l.TargetOff : l.TargetOff+l.TargetLen]
		if target, ok := r.index.Retarget(string(p), l, written, want); ok && target != written {
			fn(l, target)
		}
	}
}
