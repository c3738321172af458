package attribution

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file attributes the comments in a note: their authors, the suggestions that they are about, and the
// suggestions that answer a rejection.

// Threads returns the threads of a note at p with the suggestions list.
func (x *Layout) Threads(p model.Path, list []model.Suggestion) []model.Thread {
	threads := x.Known.Threads(x.Raw)
	if len(threads) == 0 {
		return nil
	}
	var out []model.Thread
	at, waiting := boundariesOf(list), waitingIn(list)
	cursor := textmerge.NewCursor(x.Raw)
	for _, t := range threads {
		th := model.Thread{Thread: t, Path: p}
		for _, c := range t.Comments {
			from := cursor.PosAt(c.Start)
			if th.Anchor == "" {
				th.Anchor = x.anchor(from)
			}
			th.Remarks = append(th.Remarks, x.remark(c, from, cursor.PosAt(c.End), waiting))
		}
		th.ID = threadID(&th)
		if s := at.ends[t.Start]; s != nil && s.Kind != diffwrap.Comment {
			th.Suggestion, th.Answered = s.ID, isAnswered(th.Remarks, s.Author, at.newest(s, diffwrap.Span{Start: t.Start, End: t.End}))
		}
		out = append(out, th)
	}
	return out
}

// threadID makes an ID from the first comment of a thread, as suggestionID does from a suggestion.
func threadID(t *model.Thread) string {
	return shortSum("thread\x00%s\x00%s\x00%s", t.Path, t.Comments[0].New, t.Anchor)
}

func RenamedThreads(list []model.Thread, p model.Path) []model.Thread {
	out := make([]model.Thread, len(list))
	for i, t := range list {
		t.Path = p
		t.ID = threadID(&t)
		out[i] = t
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

// newest returns the time of the last proposal of s's author next to s and its thread: s itself, or an adjacent
// suggestion.
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

// isAnswered reports whether the author's newest proposal is newer than the last comment by anyone
// else.
func isAnswered(remarks []model.Remark, author string, newest time.Time) bool {
	answered := false
	for _, r := range remarks {
		if r.Author != author || !r.Agent {
			answered = !r.Time.IsZero() && r.Time.Before(newest)
		}
	}
	return answered
}

// remark attributes a comment: to the author in its text, or to the recorded author of all its characters.
func (x *Layout) remark(c diffwrap.Suggestion, from, to int, waiting map[string]bool) model.Remark {
	r := model.Remark{Suggestion: c}
	if m := x.commentAt(from, to); m != nil && waiting[m.ID] {
		r.Pending = m.ID
	}
	var by *Writer
	whole := true
	x.Facts(from, to, func(_ int, _ model.IDRun, is *Fact) {
		whole = whole && is.By != nil && (by == nil || by.author == is.By.author && by.session == is.By.session)
		if by == nil {
			by = is.By
		}
	})
	if whole && by != nil && (r.Author == "" || r.Author == by.author) {
		r.Author, r.Session, r.Agent = by.author, by.session, by.agent
		if r.Time.IsZero() {
			r.Time = by.time
		}
	}
	return r
}

// standing is a comment that existed before a write.
type standing struct {
	mark   int  // mark that it is attached to, -1 for none
	remark bool // it is about that mark
}

// commentsBefore returns the comments, deleted ones too, by their start offsets.
func (x *Layout) commentsBefore() map[int]standing {
	places := make(map[int]standing)
	for _, c := range x.Text {
		if c.Mark >= 0 && x.Marks[c.Mark].Comment {
			places[c.Start] = standing{mark: -1}
		}
	}
	cursor := textmerge.NewCursor(x.Raw)
	for _, t := range x.Known.Threads(x.Raw) {
		k, ok := slices.BinarySearchFunc(x.Marks, t.Start, func(m diffwrap.Mark, at int) int { return m.End - at })
		if !ok {
			k = -1
		}
		for _, c := range t.Comments {
			from := cursor.PosAt(c.Start)
			about := ok && x.Owners[k].Is != nil && !x.isOlder(from, cursor.PosAt(c.End))
			places[c.Start] = standing{mark: k, remark: about}
		}
	}
	return places
}

// alongWith returns the start offsets of the comments that are removed with a decision on their suggestion.
func (x *Layout) alongWith(suggestions []diffwrap.Suggestion) map[int]bool {
	places := make(map[int]bool)
	cursor := textmerge.NewCursor(x.Raw)
	x.Known.Decide(x.Raw, false, func(c diffwrap.Attached) diffwrap.Fate {
		from := cursor.PosAt(c.Start)
		places[c.Start] = !x.isOlder(from, cursor.PosAt(c.End))
		return diffwrap.Stays
	}, suggestions...)
	return places
}

// isOlder reports whether a part of a comment existed before the suggestion next to it.
func (x *Layout) isOlder(from, to int) (older bool) {
	x.Facts(from, to, func(_ int, _ model.IDRun, is *Fact) { older = older || is.Older })
	return older
}

// rejection is a recorded rejection, which may have been undone.
type rejection struct {
	model.Rejection
	seq    uint64 // of the record
	order  uint64
	undone bool
}

// addRejected records the places of a decision's rejections, or that a rejection was undone.
func (t *Table) addRejected(rec *model.Record) {
	d := rec.Decision
	if d.Verdict == model.Undone {
		takes := d.Takes()
		for _, r := range t.rejections {
			r.undone = r.undone || r.seq == d.UndoesSeq && takes(r.ID)
		}
	}
	if d.Verdict != model.Rejected || d.Lapsed {
		return
	}
	items := make([]*rejection, len(d.Items))
	for i, item := range d.Items {
		items[i] = &rejection{Rejection: model.Rejection{Decided: item, By: d.By, Reason: d.Reason, At: rec.Time}, seq: rec.Seq, order: t.order}
	}
	t.rejections = append(t.rejections, items...)
	set := func(run model.IDRun, r *rejection) {
		for _, first := range t.Firsts(run) {
			t.rejected.Set(first, r)
		}
	}
	for _, run := range d.Runs {
		if run.Mark >= len(d.Marks) {
			continue
		}
		switch r := items[d.Marks[run.Mark].Item]; run.Role {
		case model.RejectedDeletion:
			set(run.At, r)
		case model.RejectedAddition:
			set(run.Left, r)
			set(run.Right, r)
		}
	}
}

// answered returns the newest rejection of a suggestion by s's author at this place, from before s was proposed; nil
// if there is none.
func (x *Layout) answered(at *model.Suggestion, s *Suggestion) *model.Rejection {
	if len(x.rejected) == 0 {
		return nil
	}
	var newest *rejection
	for _, at := range at.Stretches() {
		k, _ := x.MarkAt(at.Start)
		from, to := x.edges[k].From, x.edges[k].To
		for ; k < len(x.Marks) && x.Marks[k].Start < at.End; k++ {
			to = x.edges[k].To
		}
		x.Units.Each(max(0, from-1), to+1, func(_ int, now model.IDRun) {
			for _, first := range x.Firsts(now) {
				x.rejected.Each(first, func(_ model.IDRun, r *rejection, ok bool) {
					if ok && !r.undone && r.Author == s.author && r.order < s.order && (newest == nil || newest.order < r.order) {
						newest = r
					}
				})
			}
		})
	}
	if newest == nil {
		return nil
	}
	answer := newest.Rejection // a copy: the table may change while the caller reads it
	return &answer
}
