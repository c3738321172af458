package attribution

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Table has the combined effect of a document's records on its characters. Records are added in the order of the log,
// so a restarted process computes the same table. Characters are keyed by their original identities, so restored or
// moved text keeps its facts.
type Table struct {
	LastSeq uint64             // greatest sequence number of a record
	Breaks  []model.DecidedRun // line breaks after front matter that decisions removed
	// Rewritten are the links that were rewritten in place, oldest first.
	Rewritten []model.LinkRewrite

	first        *model.Record
	seqs         []uint64 // sequence numbers of the records so far; those of other machines' records are not ascending
	facts        model.Ranges[*Fact]
	byID         map[string]*Suggestion
	restoredFrom model.Ranges[origin]
	hasBroken    bool                     // some character is part of a broken delimiter
	rejected     model.Ranges[*rejection] // characters that a rejection kept, and the neighbours of rejected text

	rejections []*rejection
}

// Fact is the attribution of a character. It is immutable: a record that changes it creates another Fact.
type Fact struct {
	By        *Writer // program or decision that wrote the character; nil for users' typing and the delimiters of users' marks
	Ins       Atom    // zero if the character was not proposed
	Dels      []Atom
	Syntax    bool   // part of a mark or comment that relayfs wrote
	Literal   bool   // the character belongs to an opener that is text wherever it stands
	Broken    bool   // the character belongs to an unmatched delimiter and is not text
	Displaced bool   // a user typed the character instead of a suggestion that is pending again
	Older     bool   // the character belongs to a comment that is older than the suggestion next to the comment
	Undone    bool   // an undo removed the character or left it deleted
	Relinked  string // batch of the last decision on a rename that rewrote the link of the character; "" if there is none
}

// Atom is one character's part of a suggestion.
type Atom struct {
	Of     *Suggestion
	Status Status
	by     uint64 // sequence number of the deciding record
}

type Status uint8

const (
	Pending Status = iota
	Accepted
	Rejected
)

// Suggestion is the proposal of one write at one place.
type Suggestion struct {
	ID string
	*Writer
	Comment bool
	Outcome *Outcome // outcome of the last decision on the suggestion; nil if that decision was undone

	add, del []model.IDRange // the suggestion's text after the author's last write, and the text that undos have marked since
	next     []*Suggestion   // suggestions that later writes made from this suggestion
	refused  bool            // refuse has rejected the remaining text
	unmarked bool            // another mount's acceptance or write may have deleted its delimiters, and no record has drawn them again
	replaced uint64          // order of the record that turned it into other suggestions; 0 if a later record wrote it again
}

// Outcome is a user's decision on a suggestion.
type Outcome struct {
	Verdict  model.Verdict
	Reason   string
	Comments []string
	// Withdrawn is set if no user decided.
	Withdrawn bool
	Time      time.Time
}

// mark returns the suggestion as a record's mark without text.
func (s *Suggestion) mark() model.MarkRecord {
	return model.MarkRecord{
		ID: s.ID, Author: s.author, Session: s.session, Time: s.time, Proposal: s.proposal, Comment: s.Comment,
	}
}

type Writer struct {
	author, session, proposal string
	time                      time.Time
	order                     uint64 // order of the record in the table
	agent                     bool   // a program wrote the text; false for a user's decision
}

// FollowsRename reports whether the change rewrote links for a rename.
func (w *Writer) FollowsRename() bool { return w.proposal != "" }

// Pending returns the pending suggestion to add the character or, if deleted is set, to delete it. It returns nil if
// there is none.
func (f *Fact) Pending(deleted bool) *Suggestion {
	if !deleted && f.Ins.Status == Pending {
		return f.Ins.Of
	}
	for _, d := range slices.Backward(f.Dels) {
		if deleted && d.Status == Pending {
			return d.Of
		}
	}
	return nil
}

// IsPending reports whether a suggestion to add the character or to delete it is pending.
func (f *Fact) IsPending() bool { return f.Pending(false) != nil || f.Pending(true) != nil }

// LinkOf considers the suggestions with this character that rewrite a link for a rename. It reports whether one of them
// is pending, and whether a user has rejected one of them.
func (f *Fact) LinkOf(rename string) (pending, rejected bool) {
	for _, a := range append(slices.Clip(f.Dels), f.Ins) {
		if a.Of != nil && a.Of.proposal == rename {
			pending = pending || a.Status == Pending
			rejected = rejected || a.Status == Rejected && (a.Of.Outcome == nil || !a.Of.Outcome.Withdrawn)
		}
	}
	return pending, rejected
}

// Since returns the time at which an agent wrote a pending character or a user accepted it. It returns zero for users'
// text.
func (f *Fact) Since() (at time.Time) {
	switch s := f.Ins.Of; {
	case s == nil || s.author == "":
	case f.Ins.Status == Pending && f.By != nil:
		at = f.By.time
	case f.Ins.Status == Accepted && s.Outcome != nil:
		at = s.Outcome.Time
	}
	return at
}

func isPending(a Atom) bool { return a.Status == Pending }

// InViews reports whether the original view (o) and the accepted view (a) have the character if it is not deleted.
func (f *Fact) InViews() (o, a bool) {
	o, a = true, true
	if s := f.Ins.Of; s != nil && !s.Comment {
		o, a = f.Ins.Status == Accepted, f.Ins.Status != Rejected
	}
	for _, d := range f.Dels {
		o, a = o && d.Status != Accepted, a && d.Status == Rejected
	}
	return o && !f.Displaced, a && !f.Displaced
}

// IsDecidedAway reports whether a decision has removed the character from both views.
func (f *Fact) IsDecidedAway() bool {
	return f.Ins.Status == Rejected || slices.ContainsFunc(f.Dels, func(a Atom) bool { return a.Status == Accepted })
}

func statusOf(role model.Role) Status {
	switch role {
	case model.RoleAdditionAccepted, model.RoleDeletionAccepted, model.RoleCommentAccepted:
		return Accepted
	}
	return Rejected
}

// Decided returns the fact after record seq decided on s. The decision overrides the fact: users remove marks by hand
// and restore files, and only the decision shows the state that the character was in.
func (f Fact) Decided(role model.Role, s *Suggestion, seq uint64) Fact {
	now := Atom{s, statusOf(role), seq}
	switch role {
	case model.RoleAdditionAccepted, model.RoleAdditionRejected:
		f.Displaced = false
		f.Ins, f.Dels = now, slices.DeleteFunc(slices.Clone(f.Dels), func(a Atom) bool { return a.Status != Rejected })
	case model.RoleCommentAccepted, model.RoleCommentRejected:
		f.Ins = now
	case model.RoleDeletionAccepted, model.RoleDeletionRejected:
		f.Displaced = false
		if f.Ins.Status != Accepted && f.Ins.Of != nil && !f.Ins.Of.Comment {
			f.Ins = Atom{}
		}
		f.Dels = slices.DeleteFunc(slices.Clone(f.Dels), func(a Atom) bool { return a.Status == Accepted })
		if s.author == "" || !slices.ContainsFunc(f.Dels, isPending) { // only decisions record users' suggestions
			f.Dels = append(slices.DeleteFunc(f.Dels, func(a Atom) bool { return a.Of == s }), now)
		}
		for i, a := range f.Dels {
			if a.Status == Pending {
				f.Dels[i] = Atom{a.Of, now.Status, seq}
			}
		}
	}
	return f
}

// Again returns the fact after an undo of the decision in record seq. role is the effect that the decision had on the
// text.
func (f Fact) Again(role model.Role, seq uint64) Fact {
	switch role {
	case model.RoleReplacement:
		f.Displaced = true
	case model.RoleAdditionAccepted, model.RoleAdditionRejected, model.RoleCommentAccepted, model.RoleCommentRejected:
		if f.Ins.by == seq || f.Broken { // otherwise a newer decision counts
			f.Ins.Status, f.Broken = Pending, false
		}
	case model.RoleDeletionAccepted, model.RoleDeletionRejected:
		var again, rest []Atom
		for _, d := range f.Dels {
			if d.by == seq {
				again = append(again, Atom{Of: d.Of})
			} else {
				rest = append(rest, d)
			}
		}
		if role == model.RoleDeletionAccepted { // the text was deleted, so its mark is the one that the undo writes
			again, rest = rest, again
		}
		f.Dels = append(again, rest...) // the mark belongs to the last pending deletion
	}
	return f
}

// Settled returns the fact without pending parts.
func (f Fact) Settled() Fact {
	if f.Ins.Status == Pending {
		f.Ins = Atom{}
	}
	f.Dels = slices.DeleteFunc(slices.Clone(f.Dels), isPending)
	return f
}

func NewTable(records []model.Record) *Table {
	t := &Table{facts: make(model.Ranges[*Fact]), byID: make(map[string]*Suggestion), restoredFrom: make(model.Ranges[origin]), rejected: make(model.Ranges[*rejection])}
	for i := range records {
		t.Add(&records[i])
	}
	return t
}

// order returns the order of the newest record. Orders count the records from 1.
func (t *Table) order() uint64 { return uint64(len(t.seqs)) }

// OrderOf returns the order of the record with the given sequence number.
func (t *Table) OrderOf(seq uint64) uint64 { return uint64(slices.Index(t.seqs, seq) + 1) }

func (t *Table) Add(rec *model.Record) {
	if t.first == nil {
		t.first = &model.Record{Author: rec.Author, Proposal: rec.Proposal, Client: rec.Client, Clock: rec.Clock, Len: rec.Len}
	}
	t.LastSeq = max(t.LastSeq, rec.Seq)
	t.seqs = append(t.seqs, rec.Seq)
	d := rec.Decision
	w := &Writer{author: rec.Author, session: rec.Session, proposal: rec.Proposal, time: rec.Time, order: t.order(), agent: d == nil}
	own := model.IDRange{Client: rec.Client, Clock: rec.Clock, Len: rec.Len}
	if rec.Author != "" || rec.Proposal != "" || d != nil {
		t.facts.Set(own, &Fact{By: w, Syntax: !rec.Direct})
	}
	t.addRemaps(rec.Remaps)
	if d != nil {
		t.addRemaps(d.Remaps)
		t.addMarks(rec, w) // which were pending before the decision
		t.decide(rec)
	}
	if fm := rec.FrontMatter; fm != nil {
		t.update(fm.Typed, func(f Fact) Fact { f.Syntax = false; return f })
	}
	for _, l := range rec.Links {
		t.rewrite(l, d)
	}
	t.update(rec.Restored, func(f Fact) Fact {
		if f.Literal, f.Broken = false, false; f.IsDecidedAway() {
			f.Ins, f.Dels = Atom{}, nil
		}
		return f
	})
	t.update(rec.Older, func(f Fact) Fact { f.Older = true; return f })
	t.update(rec.KeptOpeners, func(f Fact) Fact { f.Syntax = true; return f })
	t.update(rec.LiteralOpeners, func(f Fact) Fact { f.Literal = true; return f })
	t.update(rec.Restored, Fact.Settled)
	if d == nil {
		t.addMarks(rec, w)
	}
	t.update(rec.Plain, Fact.Settled)
	t.hasBroken = t.hasBroken || len(rec.BrokenDelimiters) > 0
	t.update(rec.BrokenDelimiters, func(f Fact) Fact { f.Broken = true; return f })
}

func (t *Table) addMarks(rec *model.Record, w *Writer) {
	var written []*Suggestion
	for i, m := range rec.Marks {
		s := t.made(rec, w, i)
		t.update(m.Add, func(f Fact) Fact {
			if f.Ins.Status == Pending || len(rec.Restored) > 0 { // otherwise the writer had not read the decision
				f.Ins = Atom{Of: s}
			}
			f.Syntax, f.Broken = f.Syntax && m.Comment, false
			return f
		})
		t.update(m.Del, func(f Fact) Fact {
			f.Dels, f.Syntax = append(slices.DeleteFunc(slices.Clone(f.Dels), isPending), Atom{Of: s}), false
			return f
		})
		s.add, s.del = slices.Clip(m.Add), slices.Clip(m.Del)
		if len(rec.Restored) > 0 { // the suggestion is pending again, as in the restored state
			s.pendAgain()
		}
		written = append(written, s)
		late := s.isRejected()
		s.unmarked = t.replacedByAnother(s)
		for _, id := range m.Replaces {
			if old := t.byID[id]; old != nil && old != s {
				s.unmarked = t.replacedByAnother(old) || s.unmarked || old.unmarked || old.isAccepted()
				old.next, old.replaced = append(old.next, s), t.order()
				late = late || old.isRejected()
			}
		}
		if s.refused = false; late {
			t.refuse(s, rec.Seq)
		}
	}
	for _, s := range written {
		s.replaced = 0
	}
}

// replacedByAnother reports whether the newest record, which writes s or replaces it, did not know of an earlier record
// that replaced s: two mounts wrote at the same time, and each deleted delimiters around text of the other.
func (t *Table) replacedByAnother(s *Suggestion) bool {
	if s.replaced == 0 || s.replaced == t.order() {
		return false
	}
	for _, next := range s.next {
		next.unmark()
	}
	return true
}

// with returns list with the characters of more that it does not have.
func with(list, more []model.IDRange) []model.IDRange {
	has := make(model.Ranges[bool])
	for _, r := range list {
		has.Set(r, true)
	}
	for _, r := range more {
		has.Each(r, func(part model.IDRange, _ bool, ok bool) {
			if !ok {
				list = append(list, part)
			}
		})
		has.Set(r, true)
	}
	return list
}

// rewrite gives the new text of a link the fact of its old text. d is the decision on the rename, or nil.
func (t *Table) rewrite(l model.LinkRewrite, d *model.Decision) {
	fact := *t.At(l.Removed[0].At)
	if d != nil {
		fact.Relinked = d.Batch
	}
	t.update(l.Typed, func(Fact) Fact { return fact })
	if s := fact.Ins.Of; s != nil {
		s.add = append(s.add, l.Typed...)
	}
	for _, d := range fact.Dels {
		d.Of.del = append(d.Of.del, l.Typed...)
	}
	t.Rewritten = append(t.Rewritten, l)
}

// pendAgain forgets the decision on the suggestion, and the suggestions that earlier writes made from it: a later rejection
// is about the text that is pending now, and marked again.
func (s *Suggestion) pendAgain() {
	s.Outcome, s.refused, s.unmarked, s.next, s.replaced = nil, false, false, nil, 0
}

func (s *Suggestion) isRejected() bool {
	return s.refused || s.Outcome != nil && s.Outcome.Verdict == model.Rejected
}

func (s *Suggestion) isAccepted() bool {
	return s.Outcome != nil && s.Outcome.Verdict != model.Rejected
}

// unmark notes that an acceptance has deleted the delimiters around text that a mount wrote for the suggestion before it had
// read the acceptance. See also Corrected.
func (s *Suggestion) unmark() {
	if s.unmarked {
		return
	}
	s.unmarked = true
	for _, next := range s.next {
		next.unmark()
	}
}

// refuse rejects the remaining text of a rejected suggestion, which a mount wrote before it had read the rejection. See
// also Leftovers.
func (t *Table) refuse(s *Suggestion, seq uint64) {
	if s.refused {
		return
	}
	s.refused = true
	t.update(s.add, func(f Fact) Fact {
		if f.Ins.Of == s && f.Ins.Status == Pending {
			f.Ins = Atom{s, Rejected, seq}
		}
		return f
	})
	t.update(s.del, func(f Fact) Fact {
		f.Dels = slices.DeleteFunc(slices.Clone(f.Dels), func(a Atom) bool { return a.Of == s && a.Status == Pending })
		return f
	})
	for _, next := range s.next {
		t.refuse(next, seq)
	}
}

// made returns the suggestion of the mark with index i in a record, and creates it if it is new.
func (t *Table) made(rec *model.Record, w *Writer, i int) *Suggestion {
	m := &rec.Marks[i]
	s := t.byID[m.ID]
	switch {
	case m.ID == "":
		s = &Suggestion{ID: shortSum("%d:%d:%d:%d:%d:%q", rec.Client, rec.Clock, rec.Len, rec.Time.UnixNano(), i, m.Replaces), Writer: w, Comment: m.Comment}
	case s == nil:
		by := &Writer{author: m.Author, session: m.Session, proposal: m.Proposal, time: m.Time, order: t.order()}
		s = &Suggestion{ID: m.ID, Writer: by, Comment: m.Comment}
	}
	t.byID[s.ID] = s
	return s
}

func (t *Table) decide(rec *model.Record) {
	d := rec.Decision
	t.update(d.ByHand, func(f Fact) Fact { f.By = nil; return f })
	t.addRejected(rec)
	if d.Verdict == model.Undone {
		t.undo(d)
		return
	}
	for _, run := range d.Runs {
		at := []model.IDRange{run.At}
		switch run.Role {
		case model.RoleReplacement:
			t.update(at, func(f Fact) Fact { f.Syntax = false; return f })
		case model.RoleLineBreakRemoved:
			t.Breaks = append(t.Breaks, run)
		default:
			if s := t.decided(d, run, rec); s != nil {
				t.update(at, func(f Fact) Fact { return f.Decided(run.Role, s, rec.Seq) })
			}
		}
	}
	for _, item := range d.Items {
		if s := t.byID[item.ID]; s != nil {
			s.Outcome = &Outcome{d.Verdict, d.Reason, item.Comments, d.Withdrawn, rec.Time}
			for _, next := range s.next {
				if s.isRejected() {
					t.refuse(next, rec.Seq)
				} else {
					next.unmark()
				}
			}
		}
	}
}

func (t *Table) undo(d *model.Decision) {
	for _, run := range d.Runs {
		t.update([]model.IDRange{run.At}, func(f Fact) Fact { f.Undone = true; return f })
	}
	t.update(d.Plain, func(f Fact) Fact {
		if f.Ins.Of != nil && f.Ins.Of.Comment { // the comment may be pending at its present place
			return f
		}
		return f.Settled()
	})
	added, deleted := make(map[*Suggestion][]model.IDRange), make(map[*Suggestion][]model.IDRange) // what the undo has marked
	for _, run := range d.Again {
		t.update([]model.IDRange{run.At}, func(f Fact) Fact {
			again := f.Again(run.Role, d.UndoesSeq)
			for _, a := range again.Dels { // also a suggestion below the one that was decided
				if isPending(a) && !slices.Contains(f.Dels, a) {
					a.Of.pendAgain()
					deleted[a.Of] = append(deleted[a.Of], run.At)
				}
			}
			if a := again.Ins; a.Of != nil && isPending(a) && a != f.Ins {
				a.Of.pendAgain()
				added[a.Of] = append(added[a.Of], run.At)
			}
			return again
		})
	}
	for s, runs := range added {
		s.add = with(s.add, runs)
	}
	for s, runs := range deleted {
		s.del = with(s.del, runs)
	}
	for _, item := range d.Items {
		if s := t.byID[item.ID]; s != nil {
			s.pendAgain()
		}
	}
}

// decided returns the suggestion of a decision's run. A user's suggestion has no record except the decision.
func (t *Table) decided(d *model.Decision, run model.DecidedRun, rec *model.Record) *Suggestion {
	if run.Mark >= len(d.Marks) {
		return nil
	}
	item := &d.Items[d.Marks[run.Mark].Item]
	s := t.byID[item.ID]
	if s == nil {
		s = &Suggestion{ID: item.ID, Writer: &Writer{author: item.Author, session: item.Session, proposal: item.Proposal, time: item.Time, order: t.order()}}
		if s.time.IsZero() && s.author != "" {
			s.time = rec.Time
		}
		t.byID[item.ID] = s
	}
	return s
}

// update changes the facts of the characters in runs. Facts are stored under the original identities.
func (t *Table) update(runs []model.IDRange, f func(Fact) Fact) {
	var was, fact *Fact // equal facts are shared
	for _, r := range runs {
		for _, first := range t.OriginalIDs(r) {
			var parts []model.RangeValue[*Fact]
			t.facts.Each(first, func(part model.IDRange, old *Fact, ok bool) {
				if !ok {
					old = &noFact
				}
				if old != was || fact == nil {
					changed := f(*old)
					was, fact = old, &changed
				}
				parts = append(parts, model.RangeValue[*Fact]{Of: part, Value: fact})
			})
			for _, p := range parts {
				t.facts.Set(p.Of, p.Value)
			}
		}
	}
}

var noFact Fact // the fact of users' text

// Each calls f for the parts of r, each with its fact.
func (t *Table) Each(r model.IDRange, f func(part model.IDRange, fact *Fact)) {
	t.EachOriginal(r, func(now, first model.IDRange, _ uint64) {
		t.facts.Each(first, func(part model.IDRange, fact *Fact, ok bool) {
			if !ok {
				fact = &noFact
			}
			f(now.Part(part.Clock-first.Clock, part.Len), fact)
		})
	})
}

// At returns the fact of r's first character.
func (t *Table) At(r model.IDRange) (fact *Fact) {
	t.Each(r.Part(0, 1), func(_ model.IDRange, f *Fact) { fact = f })
	return fact
}

func shortSum(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:5])
}

// hasNoAgentText reports whether only users are known to have written in the document.
func (t *Table) hasNoAgentText() bool { return t == nil || len(t.facts) == 0 }

// origin maps later identities to the original identities. since is the order of the record that assigned the later
// identities.
type origin struct{ client, shift, since uint64 }

// addRemaps stores the new identities that a record gave to text.
func (t *Table) addRemaps(moved []model.IDRemap) {
	for _, r := range moved {
		done := uint64(0)
		for _, first := range t.OriginalIDs(r.Old) {
			t.restoredFrom.Set(r.New.Part(done, first.Len), origin{first.Client, first.Clock - (r.New.Clock + done), t.order()})
			done += first.Len
		}
	}
}

// EachOriginal calls f for the parts of r, with the original identities of the characters. since is the order of the
// record that assigned the identities in r, or 0 if they are the original identities.
func (t *Table) EachOriginal(r model.IDRange, f func(part, first model.IDRange, since uint64)) {
	if len(t.restoredFrom) == 0 {
		f(r, r, 0)
		return
	}
	t.restoredFrom.Each(r, func(part model.IDRange, from origin, ok bool) {
		first := part
		if ok {
			first.Client, first.Clock = from.client, part.Clock+from.shift
		}
		f(part, first, from.since)
	})
}

// EachRestored calls f for the identities that records assigned to restored or moved text, with the original identities.
func (t *Table) EachRestored(f func(now, first model.IDRange)) {
	t.restoredFrom.All(func(now model.IDRange, from origin) {
		f(now, model.IDRange{Client: from.client, Clock: now.Clock + from.shift, Len: now.Len})
	})
}

func (t *Table) OriginalIDs(r model.IDRange) (list []model.IDRange) {
	t.EachOriginal(r, func(_, first model.IDRange, _ uint64) { list = append(list, first) })
	return list
}

func (t *Table) OriginalRuns(runs []ycrdt.Run) []ycrdt.Run {
	if len(t.restoredFrom) == 0 {
		return runs
	}
	out := make([]ycrdt.Run, 0, len(runs))
	for _, run := range runs {
		for _, r := range t.OriginalIDs(model.RangeOf(run)) {
			out = append(out, r.Run())
		}
	}
	return out
}

// Bytes returns the approximate memory of the table in bytes. It assumes that each range has its own fact.
func (t *Table) Bytes() int {
	if t == nil {
		return 0
	}
	const ofRange, ofFact, ofSuggestion = 24, 72, 208
	return ofRange*(t.facts.Size()+t.restoredFrom.Size()+t.rejected.Size()) + ofFact*t.facts.Size() + ofSuggestion*len(t.byID)
}
