package note

import (
	"bytes"
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file tells who has touched a note. Whose text it holds does not tell that: all
// that stands in a person's note may be an agent's.

// IsOwn says whether this session of the author made the note, and nobody else has
// touched it or decided on anything in it.
func (n *Note) IsOwn(by model.Author) bool {
	l := n.Lock()
	defer l.Unlock()
	if !n.bornOf().Is(by) {
		return false
	}
	_, _, err := l.onlyBy(context.Background(), by.Is)
	return err == nil
}

// CreatedBy says whether one of the authors made the note in this process, not longer ago
// than that.
func (n *Locked) CreatedBy(theirs func(model.Author) bool, within time.Duration) bool {
	return n.birth != nil && time.Since(n.birth.at) <= within && theirs(n.birth.by)
}

// Untouched is the current version of a note that nobody but its authors has
// touched; model.ErrConflict.
func (n *Locked) Untouched(ctx context.Context, theirs func(model.Author) bool) (*model.Version, error) {
	if n.live != nil {
		return nil, model.ErrConflict
	}
	v, stamp, err := n.onlyBy(ctx, theirs)
	if err != nil {
		return nil, err
	}
	n.stamp = stamp // a rename makes another one of it
	return v, nil
}

// Retract takes away the file of a note that was found Untouched. Forget does so with its
// history.
func (n *Locked) Retract(ctx context.Context, from model.Retractor) error {
	return from.Retract(ctx, n.node.Place().Rel, n.stamp)
}

// Forget takes the history of the note out of the store.
func (n *Locked) Forget() error { return n.store.Forget(n.id) }

// Gone forgets the text of a note whose file is gone: who waits for it finds that out.
func (n *Locked) Gone() {
	n.closeDoc()
	n.cur.Store(nil)
}

// RemoveRejected takes away the file of a note that an agent made, in which people have
// done nothing but decide, and of which they rejected the rest just now, and returns the record of its
// making; model.ErrConflict if it is not that. Front matter that is left goes where what people
// delete goes.
func (n *Locked) RemoveRejected(ctx context.Context, from model.Structure) (made *model.Record, err error) {
	at := n.node.Place()
	cur, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	retractor, ok := from.(model.Retractor)
	if !ok || n.live != nil || diffwrap.HasBody(cur.Raw()) {
		return nil, model.ErrConflict
	}
	h, err := n.store.Load(n.id)
	if err != nil || !isRejected(h, cur.Raw()) {
		return nil, model.ErrConflict
	}
	stamp, err := n.unchanged(ctx, cur)
	if err != nil {
		return nil, err
	}
	if cur.Raw() == "" {
		return &h.Records[0], retractor.Retract(ctx, at.Rel, stamp)
	}
	return &h.Records[0], from.Remove(ctx, at.Rel)
}

// IsLeftRejected says whether the file of the note is the one in which a rejection left it that RemoveRejected follows: the process
// was killed in between.
func (n *Note) IsLeftRejected(ctx context.Context) bool {
	l := n.Lock()
	defer l.Unlock()
	cur, err := l.load(ctx)
	if err != nil || l.live != nil {
		return false
	}
	h, err := l.store.Load(l.id)
	if err != nil || len(h.Records) == 0 || !isRejected(h, cur.Raw()) {
		return false
	}
	save := h.Records[len(h.Records)-1].Save
	return save != nil && l.stamp.IsFile(save.Post)
}

// isRejected says whether an agent made the note, people have done nothing in it but decide, and
// the last thing was that they rejected. Front matter that is left must be of a note of which
// nothing that people accepted stands.
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
			return r.Author != "" || bytes.Equal(r.Update, model.EmptyUpdate()) // the file was removed, and came back
		}
		_, stands := undos.Left(model.JournalEntry{Record: *r})
		return left == "" || r.Decision.Verdict == model.Rejected || !stands
	})
}

// LeftOf is the text that a document ended with whose file was taken away by RemoveRejected, as far
// as its history tells, and the stamp that the file had, if that is known; model.ErrConflict if it is
// another's.
func LeftOf(h model.History) (raw string, stamp model.Stamp, err error) {
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

// onlyBy is the note's current version and its stamp if its authors, and nobody else,
// have ever written in it; else ErrConflict.
func (n *Locked) onlyBy(ctx context.Context, theirs func(model.Author) bool) (*model.Version, model.Stamp, error) {
	cur, err := n.load(ctx)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	var stamp model.Stamp
	if n.live == nil {
		if stamp, err = n.unchanged(ctx, cur); err != nil {
			return nil, model.Stamp{}, err
		}
	}
	h, err := n.store.Load(n.id)
	if err == nil && (cur.ReadOnly() || !h.OnlyBy(theirs) || n.live == nil && !h.LeadsTo(cur.Raw())) {
		err = model.ErrConflict
	}
	return cur, stamp, err
}

// unchanged is the stamp of the file in the source if that holds cur; else
// ErrConflict: a person may have saved a moment ago, and that is not reported yet.
func (n *Locked) unchanged(ctx context.Context, cur *model.Version) (model.Stamp, error) {
	data, stamp, err := n.source.Read(ctx, n.node.Place().Rel)
	if err == nil && string(data) != cur.Raw() {
		err = model.ErrConflict
	}
	return stamp, err
}
