package planner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file computes the effect of a decision on each character. The record stores the effect, and an undo (undo.go)
// reverts it. Neither compares texts.

// decidedText is a range of the note's text that a decision covers, deletes along with its items, or keeps.
type decidedText struct {
	diffwrap.Span
	role    model.Role
	mark    int  // index in Decision.Marks
	comment bool // the text is part of a comment that is to be removed; no view shows the text
}

// stays reports whether x is text that can anchor restored text. Comments cannot, because they may be removed with
// any text.
func (x decidedText) stays() bool {
	return !x.role.Deletes() && x.role != model.RoleCommentAccepted && !x.comment && !x.Empty()
}

// Decide implements note.Decide.
func Decide(current *model.Version, x *attribution.Layout, chosen []model.Suggestion, d model.Decision, instead []diffwrap.Edit) Plan {
	p := decider{Layout: x, decision: &d, accept: d.Verdict != model.Rejected, marks: make(map[int]int)}
	var marks []diffwrap.Suggestion
	for i, s := range chosen {
		d.Items = append(d.Items, model.DecidedItem{
			ID: s.ID, Kind: s.Kind.String(), Line: s.Line, Old: s.Old, New: s.New, Author: s.Author, Session: s.Session, Time: s.Time, Comments: s.Comments, Proposal: s.Proposal,
		})
		if s.Kind == diffwrap.Comment {
			continue
		}
		marks = append(marks, s.Suggestion)
		for _, at := range s.Stretches() {
			p.choose(i, at)
		}
	}
	edits := x.Known.Decide(x.Raw, p.accept, x.IsOlder, marks...)
	comments, with := p.comments(chosen, edits)
	parts := p.parts(edits, instead, comments)
	edits = with
	if instead != nil {
		edits = diffwrap.Compose(len(x.Raw), edits, p.amendEdits(edits, instead))
	}
	parts, edits = p.frontMatterBreak(parts, edits)
	d.Runs = p.runs(parts)
	plan := Plan{Record: model.Record{Decision: &d}, Edits: diffwrap.Compose(len(current.Raw()), current.CanonicalEdits(), edits)}
	raw := diffwrap.Apply(x.Raw, edits)
	d.Emptied = !diffwrap.HasBody(raw)
	plan.keepMarks(x.Known.AfterEdits(x.Raw, edits), x.Known.MarksOf(x.Raw).AfterEdits(x.Raw, edits), raw)
	return plan
}

// decider plans one decision. Offsets refer to the layout's text.
type decider struct {
	*attribution.Layout
	decision *model.Decision
	accept   bool
	marks    map[int]int     // layout mark index to Decision.Marks index
	amended  []model.IDRange // places in the text after the decision
}

// choose adds the marks that start in a span to the decision, for the item with the given index.
func (p *decider) choose(item int, at diffwrap.Span) {
	k, _ := p.MarkAt(at.Start)
	for ; k < len(p.Marks) && p.Marks[k].Start < at.End; k++ {
		p.marks[k] = len(p.decision.Marks)
		p.decision.Marks = append(p.decision.Marks, p.describe(item, p.Marks[k]))
	}
}

// describe returns the data that an undo needs to write the mark again.
func (p *decider) describe(item int, m diffwrap.Mark) model.DecidedMark {
	mark := model.DecidedMark{Item: item}
	switch body := m.Deleted; {
	case strings.HasPrefix(p.Raw[m.Start:], "{~~"):
		mark.Open, mark.Close = "{~~", p.Raw[max(m.Added.End, m.Start):m.End]
		if m.Added.Empty() {
			mark.Close = "~~}"
		}
	case body.Empty() && m.Added.Empty():
	default:
		plain := model.DecidedMark{Item: item, Open: "{--", Close: "--}"}
		if body.Empty() {
			plain.Open, plain.Close, body = "{++", "++}", m.Added
		}
		mark.Open, mark.Close = p.Raw[m.Start:body.Start], p.Raw[body.End:m.End]
		if mark == plain {
			mark = model.DecidedMark{Item: item}
		}
	}
	return mark
}

// parts returns four kinds of text in document order: the decided text, the text that is removed along with it, the
// given comments, and the nearest texts around each of them that stay.
func (p *decider) parts(edits, instead []diffwrap.Edit, comments []decidedText) []decidedText {
	others := append(p.collateralDeletes(edits), comments...)
	slices.SortStableFunc(others, func(a, b decidedText) int { return a.Start - b.Start })
	var list []decidedText
	for _, c := range p.Text {
		for ; len(others) > 0 && others[0].Start <= c.Start; others = others[1:] {
			list = append(list, others[0])
		}
		k, chosen := p.marks[c.Mark]
		x := decidedText{Span: c.Span, mark: k, comment: c.Mark >= 0 && p.Marks[c.Mark].Comment}
		switch {
		case !chosen && !x.stays():
			continue
		case !chosen:
			if n := len(list); n > 1 && list[n-1].role == 0 && list[n-2].role == 0 {
				list = list[:n-1]
			}
		case c.Added && p.accept:
			var parted []decidedText
			parted, instead = p.partial(x, instead)
			list = append(list, parted...)
			continue
		case c.Added:
			x.role = model.RoleAdditionRejected
		case p.accept:
			x.role = model.RoleDeletionAccepted
		default:
			x.role = model.RoleDeletionRejected
		}
		list = append(list, x)
	}
	return append(list, others...)
}

// collateralDeletes returns the text that edits delete in addition to the chosen marks and their content.
func (p *decider) collateralDeletes(edits []diffwrap.Edit) (list []decidedText) {
	one := func(from, to, mark int) {
		if from < to {
			list = append(list, decidedText{Span: diffwrap.Span{Start: from, End: to}, role: model.RoleCommentRemoved, mark: mark})
		}
	}
	syntax, inside := p.Syntax, 0
	add := func(from, to, mark int) {
		for ; len(syntax) > 0 && syntax[0].Start < to; syntax = syntax[1:] {
			f := syntax[0]
			opens, closes := strings.HasPrefix(p.Raw[f.Start:], "{=="), strings.HasPrefix(p.Raw[f.Start:], "==}")
			if f.Start < from || !opens && !closes {
				continue
			}
			if next, _ := p.MarkAt(f.End); opens { // both delimiters are deleted with the text that they enclose
				inside = p.marks[next]
			}
			one(from, f.Start, mark)
			one(f.Start, f.End, inside)
			from = f.End
		}
		one(from, to, mark)
	}
	chosen, mark := slices.Sorted(maps.Keys(p.marks)), 0
	for _, e := range edits {
		at, end := e.Off, e.Off+e.Len
		for ; len(chosen) > 0 && p.Marks[chosen[0]].Start < end; chosen = chosen[1:] {
			m := p.Marks[chosen[0]]
			add(at, m.Start, mark)
			mark, at = p.marks[chosen[0]], max(at, min(m.End, end))
			if m.End > end {
				break
			}
		}
		add(at, end, mark)
	}
	return list
}

// partial splits the proposed text x into accepted and rejected parts. It also returns the parts of the edits that
// remove text after x, with offsets relative to the end of x.
func (p *decider) partial(x decidedText, instead []diffwrap.Edit) (list []decidedText, rest []diffwrap.Edit) {
	at, size := 0, x.Len()
	add := func(to int, role model.Role) {
		if at < to {
			list = append(list, decidedText{diffwrap.Span{Start: x.Start + at, End: x.Start + to}, role, x.mark, false})
			at = to
		}
	}
	for _, e := range instead {
		add(min(e.Off, size), model.RoleAdditionAccepted)
		add(min(e.Off+e.Len, size), model.RoleAdditionRejected)
		if left := e.Off + e.Len - size; left > 0 {
			rest = append(rest, diffwrap.Edit{Off: max(e.Off-size, 0), Len: min(left, e.Len)})
		}
	}
	add(size, model.RoleAdditionAccepted)
	return list, rest
}

// amendEdits converts the offsets of the user's edits to offsets in the text after the acceptance. It sets p.amended to
// the text that the edits insert.
func (p *decider) amendEdits(accepting, instead []diffwrap.Edit) []diffwrap.Edit {
	first := slices.Min(slices.Collect(maps.Keys(p.marks)))
	edits := offsetBy(instead, acceptedAt(accepting, p.Marks[first].Start))
	p.amended = inserted(edits)
	return edits
}

// acceptedAt returns the offset that start, an offset of the text before an acceptance, has after it. An acceptance may
// also remove the highlight around a deletion.
func acceptedAt(accepting []diffwrap.Edit, start int) int {
	at := start
	for _, e := range accepting {
		if e.Off < start {
			at -= min(e.Off+e.Len, start) - e.Off
		}
	}
	return at
}

// frontMatterBreak adds the removal of the line break after the front matter to parts and edits, if a rejection leaves
// no body and an agent added that line break for the body.
func (p *decider) frontMatterBreak(parts []decidedText, edits []diffwrap.Edit) ([]decidedText, []diffwrap.Edit) {
	end, ok := diffwrap.FrontMatter(p.Raw)
	from := len(strings.TrimRight(p.Raw[:end], "\r\n"))
	if !ok || p.accept || from == end || len(p.decision.Marks) == 0 || diffwrap.HasBody(diffwrap.Apply(p.Raw, edits)) {
		return parts, edits
	}
	at := diffwrap.Span{Start: from, End: end}
	i := slices.IndexFunc(parts, func(x decidedText) bool { return x.Start < from && x.End == end && x.role == 0 })
	if i < 0 || !p.AddedAfter(at) {
		return parts, edits
	}
	parts = slices.Insert(parts, i+1, decidedText{Span: at, role: model.RoleLineBreakRemoved})
	parts[i].End = from
	return parts, diffwrap.Compose(len(p.Raw), []diffwrap.Edit{{Off: from, Len: end - from}}, offsetBy(edits, from-end))
}

func offsetBy(edits []diffwrap.Edit, by int) []diffwrap.Edit {
	out := slices.Clone(edits)
	for i := range out {
		out[i].Off += by
	}
	return out
}

func (p *decider) runs(parts []decidedText) (runs []model.DecidedRun) {
	right := make([]model.IDRange, len(parts)) // for each part, the first character of the next text that stays
	var next, left model.IDRange
	for i, x := range slices.Backward(parts) {
		right[i] = next
		if x.stays() {
			_, size := utf8.DecodeRuneInString(x.Of(p.Raw))
			next = model.OffsetRange(diffwrap.Span{Start: x.Start, End: x.Start + size})
		}
	}
	for i, x := range parts {
		if x.role != 0 {
			run := model.DecidedRun{At: model.OffsetRange(x.Span), Role: x.role, Mark: x.mark, Text: x.Of(p.Raw)}
			if x.role.Deletes() {
				run.Left, run.Right = left, right[i]
			}
			if len(p.Units.Runs) > 0 {
				runs = append(runs, resolvedRun(run, p.Units)...)
			} else { // the note has no document yet
				runs = append(runs, run)
			}
		}
		if x.stays() {
			_, size := utf8.DecodeLastRuneInString(x.Of(p.Raw))
			left = model.OffsetRange(diffwrap.Span{Start: x.End - size, End: x.End})
		}
	}
	for _, r := range p.amended {
		if r.Len > 0 {
			runs = append(runs, model.DecidedRun{At: r, Role: model.RoleReplacement})
		}
	}
	return runs
}

var errMarkup = errors.New("the text would be read as CriticMarkup there")

var errComment = errors.New("a comment cannot be amended: reject it, and write another one")

// Amend implements note.Amend.
func Amend(current *model.Version, s model.Suggestion, text string) ([]diffwrap.Edit, error) {
	if s.Kind == diffwrap.Comment {
		return nil, model.RefusedError(errComment)
	}
	accepting := current.Known().Accept(current.Canonical(), s.Suggestion)
	accepted, at := diffwrap.Apply(current.Canonical(), accepting), acceptedAt(accepting, s.Start)
	known := current.Known().AfterEdits(current.Canonical(), accepting).Read(accepted)
	if s.Parts != nil || !strings.HasPrefix(accepted[at:], s.New) {
		return nil, model.RefusedError(errors.New("its proposed text consists of several parts"))
	}
	amending := []diffwrap.Edit{{Off: at, Len: len(s.New), New: text}}
	amended := diffwrap.Apply(accepted, amending)
	after := known.AfterEdits(accepted, amending).Read(amended)
	view, shown := known.Accepted(accepted), diffwrap.ViewOff(known.Segments(accepted, diffwrap.AcceptedView), at)
	rest, ok := strings.CutPrefix(view[shown:], s.New)
	if !ok || after.Accepted(amended) != view[:shown]+text+rest || len(after.Suggestions(amended)) != len(known.Suggestions(accepted)) {
		return nil, model.RefusedError(fmt.Errorf("%w: %q", errMarkup, text))
	}
	return diffwrap.Diff(s.New, text), nil
}
