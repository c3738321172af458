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
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/diffwrap"
)

// OpenMarked returns the note at p with the suggestions and threads of the same state. It does not use an index,
// because an index may be out of date.
func (r *Review) OpenMarked(ctx context.Context, p model.Path) (*model.Version, []model.Suggestion, []model.Thread, error) {
	n, err := r.tree.FindNote("open", p)
	if err != nil {
		return nil, nil, nil, err
	}
	v, list, threads, err := n.Threads(ctx, p)
	return v, slices.Clone(list), threads, err
}

// CommentAnchor is the place of a comment in the note at Path: the end of a thread, the end of a suggestion, or a place
// in the text. If a thread already starts at that place, the comment joins it.
type CommentAnchor struct {
	Path       model.Path
	Thread     string // ID of a thread
	Suggestion string // ID of a suggestion
	// Quote is text that occurs once in the accepted view; its line breaks may be LF in a note with CRLF, or the
	// reverse. The comment is placed after it, and after the link or other indivisible construct in which it ends, but
	// before a block ID.
	Quote string
	// Start and End are the byte range of the canonical text in which Quote is searched; End zero means the end of
	// the text. Without a Quote the comment is placed at End.
	Start, End int
	// BaseText is the canonical text to which Start and End refer. If the note has changed since, Comment returns
	// ErrConflict.
	BaseText *string
}

// Comment inserts a user's comment into a note. The journal records it, and Undo removes it. Errors: ErrReadOnly;
// fs.ErrNotExist; model.ErrConflict; ErrRefused if a comment cannot be placed there, or if the anchor matches no place
// or several places.
func (r *Review) Comment(ctx context.Context, at CommentAnchor, text string, author model.Author) (Outcome, error) {
	if err := r.begin("comment"); err != nil {
		return Outcome{}, err
	}
	defer r.config.Events.EndOp()
	out := newOutcome()
	d := model.Decision{Batch: out.Batch, Verdict: model.Commented, By: author.Name, Items: []model.DecidedItem{{Kind: diffwrap.Comment.String(), New: text, Author: author.Name}}}
	n, err := r.tree.FindNote("comment", at.Path)
	if err != nil {
		return Outcome{}, err
	}
	res, err := n.Change(ctx, note.Change{Path: at.Path, By: author, Plan: func(l *note.Locked, current *model.Version) (planner.Plan, error) {
		off, line, err := at.find(l, current)
		if err != nil {
			return planner.Plan{}, err
		}
		d.Items[0].Line = line
		return planner.AddComment(current, off, text, r.config.Dialect, d)
	}})
	if err == nil && res.Changed {
		out.Notes = 1
	}
	return out, err
}

// find returns the comment's offset in the canonical text, and its line in the accepted view.
func (s CommentAnchor) find(l *note.Locked, current *model.Version) (off, line int, err error) {
	if s.BaseText != nil && *s.BaseText != current.Canonical() {
		return 0, 0, model.ErrConflict
	}
	list, x, err := l.Suggestions(s.Path, current)
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
			return 0, 0, fmt.Errorf("no pending suggestion %s: list the pending suggestions again: %w", s.Suggestion, fs.ErrNotExist)
		}
		off = list[i].End
	default:
		if off, err = s.place(current.Known(), current.Canonical()); err != nil {
			return 0, 0, err
		}
		off = outOfMarks(x.Marks, off)
		if off, err = commentPlace(current, x.Marks, off); err != nil {
			return 0, 0, err
		}
	}
	for i := range threads { // the comment joins an existing thread
		if threads[i].Start <= off && off < threads[i].End {
			off = threads[i].End
		}
	}
	view := current.Known().Before(off).Accepted(current.Canonical()[:off])
	return off, 1 + strings.Count(view, "\n"), nil
}

// commentPlace returns the offset near off at which a comment breaks nothing in the accepted view.
func commentPlace(current *model.Version, marks []diffwrap.Mark, off int) (int, error) {
	known, raw := current.Known(), current.Canonical()
	at := len(known.Before(off).Accepted(raw[:off]))
	place, ok := diffwrap.CommentPlace(known.Accepted(raw), at)
	if ok && place != at {
		off = 0
		if place > 0 {
			off = rawAt(known.Segments(raw, diffwrap.AcceptedView), place-1) + 1
		}
		ok = outOfMarks(marks, off) == off
	}
	if !ok {
		return 0, model.RefusedError(planner.ErrNoComment)
	}
	return off, nil
}

// outOfMarks returns the end of the run of adjacent marks around off. If off is in no mark and not between two adjacent
// marks, it returns off.
func outOfMarks(marks []diffwrap.Mark, off int) int {
	for _, m := range marks {
		if m.Start < off && off < m.End || m.Start == off && off > 0 && slices.ContainsFunc(marks, func(b diffwrap.Mark) bool { return b.End == off }) {
			off = m.End
		}
	}
	return off
}

// place returns the offset of the anchor in raw, the canonical text.
func (s CommentAnchor) place(known diffwrap.Known, raw string) (int, error) {
	end := s.End
	if end == 0 {
		end = len(raw)
	}
	if s.Start < 0 || s.Start > end || end > len(raw) {
		return 0, model.RefusedError(fmt.Errorf("the note has %d bytes; the range %d to %d is outside of it", len(raw), s.Start, s.End))
	}
	if s.Quote == "" {
		return s.End, nil
	}
	view, segments := known.Accepted(raw), known.Segments(raw, diffwrap.AcceptedView)
	quote := s.Quote
	if !strings.Contains(view, quote) {
		quote = diffwrap.KeepBreaks(quote, view)
	}
	found := -1
	for from := 0; from < len(view); {
		i := strings.Index(view[from:], quote)
		if i < 0 {
			break
		}
		first, last := from+i, from+i+len(quote)-1
		from = first + 1
		if rawAt(segments, first) < s.Start || rawAt(segments, last) >= end {
			continue
		}
		if found >= 0 {
			return 0, model.RefusedError(fmt.Errorf("%q occurs several times: quote more of the text", s.Quote))
		}
		found = rawAt(segments, last) + 1
	}
	if found < 0 {
		return 0, model.RefusedError(fmt.Errorf("%q does not occur there: quote the text as it is in the note", s.Quote))
	}
	return found, nil
}

func rawAt(segments []diffwrap.Segment, off int) int {
	i := sort.Search(len(segments), func(i int) bool { return segments[i].ViewOff+segments[i].Len > off })
	return segments[i].RawOff + off - segments[i].ViewOff
}

// ResolveThreads removes comment threads from the text by a user's decision. Undo restores them. The outcome lists
// threads that no longer exist as Missing.
func (r *Review) ResolveThreads(ctx context.Context, ids []string, author model.Author) (Outcome, error) {
	if err := r.begin("resolve"); err != nil {
		return Outcome{}, err
	}
	defer r.config.Events.EndOp()
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
	out.collect(ctx, r.nodesAt(byNote), func(p model.Path) (done noteOutcome, err error) {
		for _, id := range byNote[p] {
			resolved, err := r.resolveThread(ctx, p, id, model.Decision{Batch: out.Batch, Verdict: model.Resolved, By: author.Name, Reason: author.Reason}, author)
			if err != nil {
				return done, err
			}
			if done.changed = done.changed || resolved; !resolved {
				done.missing = append(done.missing, id)
			}
		}
		return done, nil
	})
	return out, ctx.Err()
}

func (r *Review) resolveThread(ctx context.Context, p model.Path, id string, d model.Decision, author model.Author) (resolved bool, err error) {
	n, err := r.tree.FindNote("resolve", p)
	if err != nil {
		return false, err
	}
	res, err := n.Change(ctx, note.Change{Path: p, By: author, Plan: func(l *note.Locked, current *model.Version) (planner.Plan, error) {
		list, x, err := l.Suggestions(p, current)
		if err != nil {
			return planner.Plan{}, err
		}
		threads := x.Threads(p, list)
		i := slices.IndexFunc(threads, func(t model.Thread) bool { return t.ID == id })
		if i < 0 {
			return planner.Plan{}, nil // the thread was resolved or changed in the meantime
		}
		return planner.Resolve(current, x, threads[i], list, d), nil
	}})
	return res.Changed, err
}
