package attribution

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file attributes the comments in a note: their authors, the suggestions that they are about, and the
// suggestions that answer a rejection.

// Threads returns the threads of the note at p. list has the note's suggestions.
func (x *Layout) Threads(p model.Path, list []model.Suggestion) []model.Thread {
	threads := x.Known.Threads(x.Raw)
	if len(threads) == 0 {
		return nil
	}
	var out []model.Thread
	at, waiting := boundariesOf(list), waitingIn(list)
	for _, t := range threads {
		th := model.Thread{Thread: t, Path: p}
		for _, c := range t.Comments {
			th.Entries = append(th.Entries, x.threadComment(c, waiting))
		}
		// like suggestionID, from the first comment
		th.ID = shortSum("thread\x00%s\x00%s\x00%s", p, t.Comments[0].New, x.anchor(t.Comments[0].Start))
		if s := at.ends[t.Start]; s != nil && s.Kind != diffwrap.Comment {
			th.Suggestion, th.Answered = s.ID, isAnswered(th.Entries, s.Author, at.newest(s, diffwrap.Span{Start: t.Start, End: t.End}))
		}
		out = append(out, th)
	}
	return out
}

// waitingIn returns the IDs of the pending comments.
func waitingIn(list []model.Suggestion) map[string]bool {
	ids := make(map[string]bool)
	for _, s := range list {
		if s.Kind == diffwrap.Comment {
			ids[s.ID] = true
		}
	}
	return ids
}

// boundaries maps the offsets where marks begin and end to their suggestions.
type boundaries struct{ starts, ends map[int]*model.Suggestion }

func boundariesOf(list []model.Suggestion) boundaries {
	x := boundaries{make(map[int]*model.Suggestion, len(list)), make(map[int]*model.Suggestion, len(list))}
	for i := range list {
		for _, at := range list[i].Stretches() {
			x.starts[at.Start], x.ends[at.End] = &list[i], &list[i]
		}
	}
	return x
}

// newest returns the time of the last proposal by s's author among s and the suggestions that touch s or the thread.
func (x boundaries) newest(s *model.Suggestion, thread diffwrap.Span) time.Time {
	newest := s.Time
	for _, at := range append(slices.Clip(s.Stretches()), thread) {
		for _, beside := range []*model.Suggestion{x.ends[at.Start], x.starts[at.End]} {
			if beside != nil && beside.Author == s.Author && beside.Time.After(newest) {
				newest = beside.Time
			}
		}
	}
	return newest
}

// isAnswered reports whether the author's newest proposal is newer than the last comment by anyone else.
func isAnswered(comments []model.ThreadComment, author string, newest time.Time) bool {
	answered := false
	for _, r := range comments {
		if r.Author != author || !r.Agent {
			answered = !r.Time.IsZero() && r.Time.Before(newest)
		}
	}
	return answered
}

// threadComment attributes a comment to the author in its text, or to the recorded author of all its characters.
func (x *Layout) threadComment(c diffwrap.Suggestion, waiting map[string]bool) model.ThreadComment {
	r, at := model.ThreadComment{Suggestion: c}, diffwrap.Span{Start: c.Start, End: c.End}
	if m := x.commentAt(at); m != nil && waiting[m.ID] {
		r.Pending = m.ID
	}
	var by *Writer
	whole := true
	for p := range x.In(at) {
		whole = whole && p.By != nil && (by == nil || by.author == p.By.author && by.session == p.By.session)
		if by == nil {
			by = p.By
		}
	}
	if whole && by != nil && (r.Author == "" || r.Author == by.author) {
		r.Author, r.Session, r.Agent = by.author, by.session, by.agent
		if r.Time.IsZero() {
			r.Time = by.time
		}
	}
	return r
}

type existingComment struct {
	mark   int  // index of the mark to which the comment is attached, or -1
	onMark bool // the comment is about that mark
}

// commentsBefore returns the comments by their start offsets. It includes deleted comments.
func (x *Layout) commentsBefore() map[int]existingComment {
	places := make(map[int]existingComment)
	for _, c := range x.Text {
		if c.Mark >= 0 && x.Marks[c.Mark].Comment {
			places[c.Start] = existingComment{mark: -1}
		}
	}
	for _, t := range x.Known.Threads(x.Raw) {
		k, ok := slices.BinarySearchFunc(x.Marks, t.Start, func(m diffwrap.Mark, at int) int { return m.End - at })
		if !ok {
			k = -1
		}
		for _, c := range t.Comments {
			about := ok && x.MarkOwners[k].Suggestion != nil && !x.isOlder(diffwrap.Span{Start: c.Start, End: c.End})
			places[c.Start] = existingComment{mark: k, onMark: about}
		}
	}
	return places
}

// commentsRemovedWith returns the start offsets of the comments that are removed with a decision on their suggestion.
func (x *Layout) commentsRemovedWith(suggestions []diffwrap.Suggestion) map[int]bool {
	places := make(map[int]bool)
	x.Known.Decide(x.Raw, false, func(c diffwrap.Attached) bool {
		places[c.Start] = !x.IsOlder(c)
		return true
	}, suggestions...)
	return places
}

// IsOlder reports whether a comment existed before the suggestion next to it, and therefore belongs to the text.
func (x *Layout) IsOlder(c diffwrap.Attached) bool { return x.isOlder(c.Span) }

func (x *Layout) isOlder(comment diffwrap.Span) bool {
	for p := range x.In(comment) {
		if p.Older {
			return true
		}
	}
	return false
}

// rejection is a recorded rejection, which may have been undone.
type rejection struct {
	model.Rejection
	seq    uint64 // sequence number of the record
	order  uint64
	undone bool
}

// addRejected records the places of a decision's rejections. For an undo it records that the rejections are undone.
func (t *Table) addRejected(rec *model.Record) {
	d := rec.Decision
	if d.Verdict == model.Undone {
		takes := d.Covers()
		for _, r := range t.rejections {
			r.undone = r.undone || r.seq == d.UndoesSeq && takes(r.ID)
		}
	}
	if d.Verdict != model.Rejected || d.Withdrawn {
		return
	}
	items := make([]*rejection, len(d.Items))
	for i, item := range d.Items {
		items[i] = &rejection{Rejection: model.Rejection{DecidedItem: item, By: d.By, Reason: d.Reason, At: rec.Time}, seq: rec.Seq, order: t.order()}
	}
	t.rejections = append(t.rejections, items...)
	set := func(run model.IDRange, r *rejection) {
		for _, first := range t.OriginalIDs(run) {
			t.rejected.Set(first, r)
		}
	}
	for _, run := range d.Runs {
		if run.Mark >= len(d.Marks) {
			continue
		}
		switch r := items[d.Marks[run.Mark].Item]; run.Role {
		case model.RoleDeletionRejected:
			set(run.At, r)
		case model.RoleAdditionRejected:
			set(run.Left, r)
			set(run.Right, r)
		}
	}
}

// previousRejection returns the newest rejection, older than s, of a suggestion by s's author at this place. It returns
// nil if there is none.
func (x *Layout) previousRejection(at *model.Suggestion, s *Suggestion) *model.Rejection {
	if len(x.rejected) == 0 {
		return nil
	}
	var newest *rejection
	for _, at := range at.Stretches() {
		_, before := utf8.DecodeLastRuneInString(x.Raw[:at.Start])
		_, after := utf8.DecodeRuneInString(x.Raw[at.End:])
		for p := range x.In(diffwrap.Span{Start: at.Start - before, End: at.End + after}) {
			for _, first := range x.OriginalIDs(p.ID) {
				x.rejected.Each(first, func(_ model.IDRange, r *rejection, ok bool) {
					if ok && !r.undone && r.Author == s.author && r.order < s.order && (newest == nil || newest.order < r.order) {
						newest = r
					}
				})
			}
		}
	}
	if newest == nil {
		return nil
	}
	answer := newest.Rejection // a copy: the table may change while the caller reads it
	return &answer
}
