package note

import (
	"bytes"
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file determines who has changed a note. The authors of its text are not enough, because all text in a user's
// note may come from an agent.

// IsOwn reports whether the author created the note in this session and no one else has changed it or decided on its
// suggestions since.
func (n *Note) IsOwn(author model.Author) bool {
	l := n.Lock()
	defer l.Unlock()
	if !n.creator().Is(author) {
		return false
	}
	_, _, err := l.isOnlyBy(context.Background(), author.Is)
	return err == nil
}

// CreatedBy reports whether an author that isOwnAuthor accepts created the note in this process, within the given
// duration before now.
func (n *Locked) CreatedBy(isOwnAuthor func(model.Author) bool, within time.Duration) bool {
	return n.creation != nil && time.Since(n.creation.at) <= within && isOwnAuthor(n.creation.author)
}

// Untouched returns the current version if only authors that isOwnAuthor accepts have ever written in the note.
// Otherwise, and for a live document, it returns model.ErrConflict. It records the stamp of the file for Retract.
func (n *Locked) Untouched(ctx context.Context, isOwnAuthor func(model.Author) bool) (*model.Version, error) {
	if n.live != nil {
		return nil, model.ErrConflict
	}
	v, stamp, err := n.isOnlyBy(ctx, isOwnAuthor)
	if err != nil {
		return nil, err
	}
	n.stamp = stamp // a rename has changed the stamp
	return v, nil
}

// Retract removes the note's file if it still has the stamp that Untouched recorded. Forget then removes the note's
// history.
func (n *Locked) Retract(ctx context.Context, from model.Retractor) error {
	return from.Retract(ctx, n.node.Location().Rel, n.stamp)
}

func (n *Locked) Forget() error { return n.store.Abort(n.id, 1) }

// MarkDeleted drops the text of a note whose file was deleted, so that the next load fails.
func (n *Locked) MarkDeleted() {
	n.unloadDoc()
	n.current.Store(nil)
}

// RemoveRejected removes the file of a note that an agent created, if users have only made decisions in it and the last
// decision is a rejection. It returns the record of the creation. For any other note it returns model.ErrConflict. If
// front matter is left, it removes the file in the same way as a user's deletion.
func (n *Locked) RemoveRejected(ctx context.Context, from model.Structure) (made *model.Record, err error) {
	loc := n.node.Location()
	current, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	retractor, ok := from.(model.Retractor)
	if !ok || n.live != nil || diffwrap.HasBody(current.Raw()) {
		return nil, model.ErrConflict
	}
	h, err := n.store.Load(n.id)
	if err != nil || !isRejected(h, current.Raw()) {
		return nil, model.ErrConflict
	}
	stamp, err := n.unchanged(ctx, current)
	if err != nil {
		return nil, err
	}
	if current.Raw() == "" {
		return &h.Records[0], retractor.Retract(ctx, loc.Rel, stamp)
	}
	return &h.Records[0], from.Remove(ctx, loc.Rel)
}

// IsRejected reports whether the note's file still has the state in which a rejection left it. This happens if the
// process was killed before RemoveRejected.
func (n *Note) IsRejected(ctx context.Context) bool {
	l := n.Lock()
	defer l.Unlock()
	current, err := l.load(ctx)
	if err != nil || l.live != nil {
		return false
	}
	h, err := l.store.Load(l.id)
	if err != nil || len(h.Records) == 0 || !isRejected(h, current.Raw()) {
		return false
	}
	save := h.Records[len(h.Records)-1].Save
	return save != nil && l.stamp.IsFile(save.Post)
}

// isRejected reports whether an agent created the note, users have only made decisions in it, and the last decision is
// a rejection. left is the remaining front matter. If it is not empty, every acceptance by users must have been undone.
func isRejected(h model.History, left string) bool {
	if len(h.Records) == 0 || !h.Records[0].Created {
		return false
	}
	var journal []model.JournalEntry
	for _, r := range h.Records {
		journal = append(journal, model.JournalEntry{Record: r})
	}
	undos := model.UndosOf(journal)
	last := h.Records[len(h.Records)-1].Decision
	return last != nil && last.Verdict == model.Rejected && h.All(func(r *model.Record) bool {
		if r.Decision == nil {
			return r.Author != "" || len(r.Links) > 0 || bytes.Equal(r.Update, model.EmptyUpdate()) // the file was deleted and restored
		}
		_, stands := undos.Undoable(model.JournalEntry{Record: *r})
		return left == "" || r.Decision.Verdict == model.Rejected || r.Decision.Follows != "" || !stands
	})
}

// FinalText returns the last text of a document whose file RemoveRejected has deleted, and the file's stamp if the
// history has one. It returns model.ErrConflict if RemoveRejected cannot have deleted the file of such a document.
func FinalText(h model.History) (raw string, stamp model.Stamp, err error) {
	doc, err := replay(h.Records)
	if err != nil {
		return "", stamp, err
	}
	raw = doc.Text(model.ContentsName).String()
	if len(h.Records) == 0 || diffwrap.HasBody(raw) || raw != "" && !h.Records[0].Created {
		return "", stamp, model.ErrConflict
	}
	if last := h.Records[len(h.Records)-1]; last.Save != nil {
		stamp = last.Save.Post
	}
	return raw, stamp, nil
}

// isOnlyBy returns the current version and its stamp if only authors that isOwnAuthor accepts have ever written in the
// note. Otherwise it returns ErrConflict.
func (n *Locked) isOnlyBy(ctx context.Context, isOwnAuthor func(model.Author) bool) (*model.Version, model.Stamp, error) {
	current, err := n.load(ctx)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	var stamp model.Stamp
	if n.live == nil {
		if stamp, err = n.unchanged(ctx, current); err != nil {
			return nil, model.Stamp{}, err
		}
	}
	h, err := n.store.Load(n.id)
	if err == nil && (current.ReadOnly() || !h.OnlyBy(isOwnAuthor) || n.live == nil && !h.FileIsCurrent(model.SumOf(current.Raw()))) {
		err = model.ErrConflict
	}
	return current, stamp, err
}

// unchanged returns the stamp of the source's file if the file holds current. Otherwise it returns ErrConflict: a user
// may have saved a moment ago, before the source reported it.
func (n *Locked) unchanged(ctx context.Context, current *model.Version) (model.Stamp, error) {
	data, stamp, err := n.source.Read(ctx, n.node.Location().Rel)
	if err == nil && string(data) != current.Raw() {
		err = model.ErrConflict
	}
	return stamp, err
}
