package namespace

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

func (f *Root) SourceChanged(ctx context.Context, ev model.SourceEvent) {
	l := f.Lock()
	ok := true
	if ev.Next != nil {
		ev, ok = ev.Next()
	}
	var after func() // refreshes a note or publishes events, without the lock
	switch {
	case !ok:
	case ev.Kind == model.EventOffline, ev.Kind == model.EventOnline:
		after = func() {
			f.SetOffline(ev.Kind == model.EventOffline)
			f.log.Warn("folder is "+ev.Kind.String(), model.LogFolder, f.Name)
			f.events.Publish(model.Event{Kind: ev.Kind, Path: f.Path(), Dir: true})
		}
	case ev.Kind == model.EventRemoved:
		l.onRemoved(ev.Rel)
	case ev.Kind == model.EventRenamed:
		after = l.onRenamed(ctx, ev)
	default:
		after = l.onWritten(ctx, ev.Entry)
	}
	l.Unlock()
	if after != nil {
		after()
	}
}

// onWritten returns a function that the caller must call after it has released the lock, or nil.
func (l *Locked) onWritten(ctx context.Context, e model.SourceEntry) (after func()) {
	if l.Lookup(e.Rel) == nil && isStaleEvent(l.Source, e.Rel, e.Kind(), true) {
		return nil
	}
	n, created := l.Put(e, model.Author{})
	if created && n.Kind == model.KindNote {
		l.EndDocs(e.Rel) // nothing was shown here, so a document of this path is from before relayfs was stopped
	}
	st := n.State()
	if !created && l.markStale(ctx, n) {
		l.QueueEvents(model.Event{Kind: model.EventPending, Path: st.Path, Dir: e.Dir})
	}
	kind := model.EventChanged
	switch {
	case created:
		kind = model.EventCreated
	case n.Kind == model.KindNote:
		return func() { n.Note().Refresh(ctx) }
	case e.Dir:
		return nil
	}
	return func() {
		l.events.Publish(model.Event{Kind: kind, Path: st.Path, Dir: e.Dir, Link: e.Link != "", ViewChanged: true})
	}
}

// isStaleEvent reports whether the source's report on rel is older than the last change here: another operation has
// since removed the node, or created it again. there is set if the report says that the node exists.
func isStaleEvent(source model.Source, rel string, kind model.NodeKind, there bool) bool {
	s, ok := source.(model.Stater)
	if !ok {
		return false
	}
	now, err := s.Stat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return there
	case err != nil:
		return false
	}
	return !there && now.Kind() == kind
}

func (l *Locked) onRemoved(rel string) {
	n := l.Lookup(rel)
	if n != nil && isStaleEvent(l.Source, rel, n.Kind, false) {
		return
	}
	if n != nil {
		l.SourceRemoved(n)
		if n.Kind == model.KindNote {
			l.EndDocs(rel)
		}
	}
}

// onRenamed returns a function like that of onWritten.
func (l *Locked) onRenamed(ctx context.Context, ev model.SourceEvent) (after func()) {
	n := l.Lookup(ev.OldRel)
	if n == nil || n.Kind != ev.Entry.Kind() || l.isSave(ctx, n, l.Lookup(ev.Rel)) {
		l.onRemoved(ev.OldRel)
		return l.onWritten(ctx, ev.Entry)
	}
	l.EndDocs(ev.Rel) // ends the document of the replaced note
	l.SourceMoved(n, ev.Rel)
	l.RenameDocs(ev.OldRel, ev.Rel)
	if n.Kind != model.KindNote {
		return nil
	}
	return func() { n.Note().Refresh(ctx) }
}

// isSave reports whether a program has saved target by moving the temporary file n over it. target may be nil.
func (l *Locked) isSave(ctx context.Context, n, target *tree.Node) bool {
	_, live := l.Source.(model.Documents)
	if live || target == nil || target == n || target.Kind != n.Kind || n.Kind == model.KindDir {
		return false
	}
	return n.Kind != model.KindNote || n.State().Pending == nil && n.Note().IsTempOf(ctx, target.Note())
}

// A proposal is stale if a user changed its node after the proposal was made. Changes by relayfs itself do not count:
// suggestions, and decisions on them.

// markStale marks the proposals about n stale if a user has changed n, and reports whether it marked any. Call it
// before the note takes over the user's text.
func (l *Locked) markStale(ctx context.Context, n *tree.Node) bool {
	st := n.State()
	about := []*tree.Proposal{st.Pending, st.Content}
	if model.MergerOf(l.Source, st.Rel) != nil {
		about = about[:1] // new content can be merged with any change
	}
	waiting := slices.DeleteFunc(about, func(p *tree.Proposal) bool { return p == nil || p.Record().Stale })
	if len(waiting) == 0 || !changedInSource(ctx, n, waiting[0].Record()) {
		return false
	}
	for _, p := range waiting {
		p.Update(func(rec *model.ProposalRecord) { rec.Stale = true })
	}
	return true
}

// changedInSource reports whether the source's present state differs both from the state for which the proposal was
// made and from what relayfs has written there since.
func changedInSource(ctx context.Context, n *tree.Node, p model.ProposalRecord) bool {
	switch n.Kind {
	case model.KindDir:
		return false
	case model.KindFile, model.KindLink:
		st := n.State()
		return !st.Proposed && (st.Size != p.Stamp.Size || st.ModTime.UnixNano() != p.Stamp.ModTime)
	}
	return n.Note().ChangedByUser(ctx, p.Stamp, p.Sum)
}
