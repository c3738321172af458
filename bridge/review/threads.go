package review

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/diffwrap"
)

// OpenMarked returns the note at p in one state, with its suggestions and its threads. It does not ask an index, which
// may lag behind.
func (r *Review) OpenMarked(ctx context.Context, p model.Path) (*model.Version, []model.Suggestion, []model.Thread, error) {
	n, err := r.tree.FindNote("open", p)
	if err != nil {
		return nil, nil, nil, err
	}
	v, list, threads, err := n.Threads(ctx, p)
	return v, slices.Clone(list), threads, err
}

// Spot says where a comment goes in the note at Path: to the end of a thread, behind a suggestion, or behind a
// place of the text. There it joins the thread that stands behind that place.
type Spot struct {
	Path       model.Path
	Thread     string // its ID
	Suggestion string // its ID
	// Quote is text of the accepted view, which occurs there once; the comment goes behind it.
	Quote string
	// Start and End are the bytes of the marked text in which Quote is looked for, End zero for all of it. Without a
	// Quote the comment goes to End.
	Start, End int
	// Seen is the marked text that Start and End are of. If the note has another one, nothing is done (ErrConflict).
	Seen *string
}

// Comment writes a person's comment into a note, as by says. It is in the journal, and Undo takes it out again.
// Errors: ErrReadOnly; fs.ErrNotExist; model.ErrConflict; ErrRefused where no comment can stand, and where Spot names
// no place, or several.
func (r *Review) Comment(ctx context.Context, at Spot, text string, by model.Author) (Outcome, error) {
	if err := r.begin("comment"); err != nil {
		return Outcome{}, err
	}
	defer r.c.Activity.EndOp()
	out := newOutcome()
	d := model.Decision{Batch: out.Batch, Verdict: model.Commented, By: by.Name, Items: []model.Decided{{Kind: diffwrap.Comment.String(), New: text, Author: by.Name}}}
	n, err := r.tree.FindNote("comment", at.Path)
	if err != nil {
		return Outcome{}, err
	}
	res, err := n.Change(ctx, note.Change{Path: at.Path, By: by, Plan: func(l *note.Locked, cur *model.Version) (note.Plan, error) {
		off, line, err := at.find(l, cur)
		if err != nil {
			return note.Plan{}, err
		}
		d.Items[0].Line = line
		return note.Remark(cur, off, text, r.c.Dialect, d)
	}})
	if err == nil && res.Changed {
		out.Notes = 1
	}
	return out, err
}

// find returns the offset in the marked text of cur where the comment goes, and its line in the accepted view.
func (s Spot) find(l *note.Locked, cur *model.Version) (off, line int, err error) {
	if s.Seen != nil && *s.Seen != cur.Canonical() {
		return 0, 0, model.ErrConflict
	}
	list, x, err := l.Suggestions(s.Path, cur)
	if err != nil {
		return 0, 0, err
	}
	threads := x.Threads(s.Path, list)
	switch {
	case s.Thread != "":
		i := slices.IndexFunc(threads, func(t model.Thread) bool { return t.ID == s.Thread })
		if i < 0 {
			return 0, 0, fmt.Errorf("no thread %s: it has been resolved or changed; list the threads again: %w", s.Thread, fs.ErrNotExist)
		}
		off = threads[i].End
	case s.Suggestion != "":
		i := slices.IndexFunc(list, func(g model.Suggestion) bool { return g.ID == s.Suggestion })
		if i < 0 {
			return 0, 0, fmt.Errorf("no pending suggestion %s: list what is pending again: %w", s.Suggestion, fs.ErrNotExist)
		}
		off = list[i].End
	default:
		if off, err = s.place(cur.Known(), cur.Canonical()); err != nil {
			return 0, 0, err
		}
		off = outOfMarks(x.Marks, off)
	}
	for i := range threads { // it joins the one that is there
		if threads[i].Start <= off && off < threads[i].End {
			off = threads[i].End
		}
	}
	view := cur.Known().Before(off).Accepted(cur.Canonical()[:off])
	return off, 1 + strings.Count(view, "\n"), nil
}

// outOfMarks is an offset, or the end of the marks that it is in and of those that follow at once.
func outOfMarks(marks []diffwrap.Mark, off int) int {
	for _, m := range marks {
		if m.Start < off && off < m.End || m.Start == off && off > 0 && slices.ContainsFunc(marks, func(b diffwrap.Mark) bool { return b.End == off }) {
			off = m.End
		}
	}
	return off
}

// place is where the spot is in a marked text.
func (s Spot) place(known diffwrap.Known, raw string) (int, error) {
	end := s.End
	if end == 0 {
		end = len(raw)
	}
	if s.Start < 0 || s.Start > end || end > len(raw) {
		return 0, model.Refuse(fmt.Errorf("the note has %d bytes; %d to %d is not in it", len(raw), s.Start, s.End))
	}
	if s.Quote == "" {
		return end, nil
	}
	view, segments := known.Accepted(raw), known.Segments(raw, diffwrap.AcceptedView)
	found := -1
	for from := 0; from < len(view); {
		i := strings.Index(view[from:], s.Quote)
		if i < 0 {
			break
		}
		first, last := from+i, from+i+len(s.Quote)-1
		from = first + 1
		if rawAt(segments, first) < s.Start || rawAt(segments, last) >= end {
			continue
		}
		if found >= 0 {
			return 0, model.Refuse(fmt.Errorf("%q occurs several times: quote more of the text", s.Quote))
		}
		found = rawAt(segments, last) + 1
	}
	if found < 0 {
		return 0, model.Refuse(fmt.Errorf("%q does not occur there: quote the text as it stands in the note", s.Quote))
	}
	return found, nil
}

// rawAt is where the byte at an offset of a view stands.
func rawAt(segments []diffwrap.Segment, off int) int {
	i := sort.Search(len(segments), func(i int) bool { return segments[i].ViewOff+segments[i].Len > off })
	return segments[i].RawOff + off - segments[i].ViewOff
}

// ResolveThreads takes threads out of the text, as a person decided. Undo brings them back. A thread that is not there any more
// is Missing.
func (r *Review) ResolveThreads(ctx context.Context, ids []string, by model.Author) (Outcome, error) {
	if err := r.begin("resolve"); err != nil {
		return Outcome{}, err
	}
	defer r.c.Activity.EndOp()
	threads, err := r.indexes.Threads(ctx, "")
	if err != nil {
		return Outcome{}, err
	}
	out := newOutcome()
	byNote := make(map[model.Path][]string)
	for _, id := range ids {
		i := slices.IndexFunc(threads, func(t model.Thread) bool { return t.ID == id })
		if i < 0 {
			out.Missing = append(out.Missing, id)
			continue
		}
		byNote[threads[i].Path] = append(byNote[threads[i].Path], id)
	}
	out.collect(ctx, byNote, func(p model.Path) ([]model.Suggestion, error) {
		for _, id := range byNote[p] {
			if err := r.resolveThread(ctx, p, id, model.Decision{Batch: out.Batch, Verdict: model.Resolved, By: by.Name, Reason: by.Reason}, by); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return out, ctx.Err()
}

func (r *Review) resolveThread(ctx context.Context, p model.Path, id string, d model.Decision, by model.Author) error {
	n, err := r.tree.FindNote("resolve", p)
	if err != nil {
		return err
	}
	_, err = n.Change(ctx, note.Change{Path: p, By: by, Plan: func(l *note.Locked, cur *model.Version) (note.Plan, error) {
		list, x, err := l.Suggestions(p, cur)
		if err != nil {
			return note.Plan{}, err
		}
		threads := x.Threads(p, list)
		i := slices.IndexFunc(threads, func(t model.Thread) bool { return t.ID == id })
		if i < 0 {
			return note.Plan{}, nil // somebody else did
		}
		return note.Resolve(cur, x, threads[i], list, d), nil
	}})
	return err
}
