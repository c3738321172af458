package bridge

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/diffwrap"
)

// This file lets the comments of agents wait for a person, as suggestions do. A
// comment stands in the note at once, since it changes no text. It waits as long as
// all of its characters are the agent's: so a comment that a person has reworded is
// the person's, and an acceptance types the last character anew and needs no other
// account.

// comments lists the comments of the current version that belong to no suggestion
// and wait for a person. The write lock is held.
func (n *note) comments(p Path, cur *Version, who attribution) []Suggestion {
	if n.ws.o.Mode == Direct {
		return nil // what is written there waits for nobody
	}
	return slices.DeleteFunc(allComments(p, cur, who), func(s Suggestion) bool { return s.Author == "" })
}

// allComments lists the comments that belong to no suggestion. Those that wait for
// a person have an author.
func allComments(p Path, cur *Version, who attribution) []Suggestion {
	var list []Suggestion
	cursor := utf16Cursor{text: cur.raw}
	for _, c := range diffwrap.Comments(cur.raw) {
		from, to := cursor.posAt(c.Start), cursor.posAt(c.End)
		s := Suggestion{Suggestion: c, Path: p, anchor: who.anchor(from)}
		s.ID, s.Author = s.id(), ""
		if rec := who.commentBy(from, to); rec != nil && (c.Author == "" || c.Author == rec.Author) {
			s.Author, s.Session, s.Time = rec.Author, rec.Session, rec.Time
		}
		list = append(list, s)
	}
	return list
}

// commentBy is the agent's record that began the comment between the UTF-16
// positions from and to, nil if not all of it is an agent's. What was once the text of
// an accepted addition does not count as written as a comment: its opener was cut.
func (a attribution) commentBy(from, to int) *Record {
	var first *Record
	for i := a.run(from); i < len(a.runs) && a.starts[i] < to; i++ {
		r := a.runs[i]
		clock := r.ID.Clock + uint64(max(from-a.starts[i], 0))
		end := r.ID.Clock + uint64(min(to-a.starts[i], r.Len))
		for clock < end {
			rec := a.agentsRecord(uint64(r.ID.Client), clock)
			if rec == nil {
				return nil
			}
			if first == nil && end-clock < uint64(markEdge) {
				return nil
			}
			first = cmp.Or(first, rec)
			clock = rec.Clock + rec.Len
		}
	}
	return first
}

// agentsRecord is the record of an agent that inserted a unit, or put it back; nil if
// a person did.
func (a attribution) agentsRecord(client, clock uint64) *Record {
	i := slices.IndexFunc(a.records, func(r Record) bool {
		return r.Client == client && r.Clock <= clock && clock < r.Clock+r.Len && r.Author != "" && !r.Ahead &&
			(r.Decision == nil || r.Decision.Verdict == Undone)
	})
	if i < 0 {
		return nil
	}
	return &a.records[i]
}

// withComments adds to a decision's edits of raw those of the comments among what was
// chosen.
func withComments(edits []diffwrap.Edit, raw string, chosen []Suggestion, v Verdict) []diffwrap.Edit {
	for _, s := range chosen {
		switch {
		case s.Kind != diffwrap.Comment:
		case v == Rejected:
			edits = append(edits, diffwrap.Edit{Off: s.Start, Len: s.End - s.Start})
		default:
			edits = append(edits, typedAnew(raw, s))
		}
	}
	slices.SortFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	return edits
}

// typedAnew types the last character of a comment anew.
func typedAnew(raw string, s Suggestion) diffwrap.Edit {
	return diffwrap.Edit{Off: s.End - 1, Len: 1, New: raw[s.End-1 : s.End]}
}

// reopened adds to the edits of cur that take a decision back those of the comments
// that it accepted. The write lock is held.
func (n *note) reopened(edits []diffwrap.Edit, p Path, cur *Version, d *Decision) ([]diffwrap.Edit, error) {
	if d == nil || d.Verdict != Accepted {
		return edits, nil
	}
	who, err := n.attribution(cur)
	if err != nil {
		return nil, err
	}
	accepted := slices.DeleteFunc(allComments(p, cur, who), func(s Suggestion) bool {
		return s.Author != "" || !slices.ContainsFunc(d.Items, func(x Decided) bool { return x.ID == s.ID }) ||
			slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.Off <= s.End && e.Off+e.Len >= s.End-1 })
	})
	return withComments(edits, cur.raw, accepted, Accepted), nil
}

// hasMarks says whether there is something in raw that an author may have made.
func hasMarks(raw string) bool {
	return len(diffwrap.Suggestions(raw)) > 0 || len(diffwrap.Comments(raw)) > 0
}
