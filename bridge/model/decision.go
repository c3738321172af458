package model

import (
	"fmt"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
)

// Verdict is what became of a suggestion.
type Verdict string

const (
	Accepted Verdict = "accepted"
	Rejected Verdict = "rejected"
	// Changed: a person made something else of it.
	Changed Verdict = "changed"
	// Commented: a person wrote a comment, and decided on nothing.
	Commented Verdict = "commented"
	// Resolved: a person took a thread of comments out of the text.
	Resolved Verdict = "resolved"
	// Undone: an earlier decision or front matter change was taken back.
	Undone Verdict = "undone"
)

// Decision is the journal's account of a person's decision on one note.
type Decision struct {
	Batch   string    `json:"batch"` // what was decided in one go
	Verdict Verdict   `json:"verdict"`
	By      string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"` // in the person's words
	Items   []Decided `json:"items,omitempty"`
	// Lapsed says that no person decided: a proposal gave way to what people did in
	// the source, or its author took it back.
	Lapsed bool `json:"lapsed,omitempty"`
	// Undoes names the batch of which this decision took back Items, or what has none.
	Undoes string `json:"undoes,omitempty"`
	// UndoesSeq is the number of the record that it took them back of, among the document's; 0 for a decision on a
	// proposal.
	UndoesSeq uint64 `json:"undoesSeq,omitempty"`
	// Follows is the ID of the accepted rename whose links in front matter it changed.
	Follows string `json:"follows,omitempty"`
	// Runs are the characters that it was about, and Marks the marks that they stood in.
	Runs  []DecidedRun  `json:"runs,omitempty"`
	Marks []DecidedMark `json:"marks,omitempty"`
	// Emptied is set if nothing of the note was left, or only front matter.
	Emptied bool `json:"emptied,omitempty"`
	// Revived is what an undo brought back, or a decision typed anew, under new identities,
	// and Away what an undo could not bring back.
	Revived []Revival `json:"revived,omitempty"`
	Away    []Away    `json:"away,omitempty"`
	// Again are the characters that an undo made pending again, as the decision had them, and Plain those that stood in no mark before:
	// nothing else waits there.
	Again []DecidedRun `json:"again,omitempty"`
	Plain []IDRun      `json:"plain,omitempty"`
	// ByHand are the delimiters of people's marks that an undo wrote anew.
	ByHand []IDRun `json:"byHand,omitempty"`
	// Proposal is set instead when it is a proposal that was decided on.
	Proposal *ProposalRecord `json:"proposal,omitempty"`
}

// Role is what a decision did to a run of characters.
type Role int

const (
	AcceptedAddition Role = iota + 1
	AcceptedDeletion      // gone
	RejectedAddition      // gone
	RejectedDeletion
	TakenAlong      // a comment, or what belongs to a mark or highlight: gone
	TakenAlongOlder // the same of a comment that is older than the suggestion
	TypedInstead    // a person's text in the place of what was proposed
	RemovedPlain    // text of front matter: gone
	Absorbed        // what an undo let wait and another suggestion deletes: gone until both are decided
	AcceptedComment // an agent's
	RejectedComment // gone
	Covered         // what an undo could not bring back, as the text around it has been deleted: gone
	Remarked        // a comment that a person wrote; Text is all of it
	ResolvedComment // one that waited for nobody: gone
	TakenBreak      // the line break behind front matter that ended the note before: gone
)

// Gone says whether the decision deleted the characters.
func (r Role) Gone() bool {
	return r == AcceptedDeletion || r == RejectedAddition || r == TakenAlong || r == TakenAlongOlder || r == RejectedComment || r == ResolvedComment || r == TakenBreak
}

// DecidedRun is a run of characters that was decided on. Of one that is gone it has the
// text, and the characters that remained on either side, if any.
type DecidedRun struct {
	At    IDRun  `json:"at"`
	Role  Role   `json:"role"`
	Mark  int    `json:"mark,omitempty"` // index in Decision.Marks
	Text  string `json:"text,omitempty"`
	Left  IDRun  `json:"left,omitzero"`
	Right IDRun  `json:"right,omitzero"`
}

// DecidedMark is a mark that was decided on: of which of the items, and its delimiters
// where they were not the plain ones.
type DecidedMark struct {
	Item  int    `json:"item"`
	Open  string `json:"open,omitempty"`
	Close string `json:"close,omitempty"`
}

// Revival says which characters have come back as which.
type Revival struct {
	Old IDRun `json:"old"`
	New IDRun `json:"new"`
}

// Away is text that an undo could not bring back, and why.
type Away struct {
	Path Path   `json:"path,omitempty"` // not in the journal
	Text string `json:"text"`
	Why  string `json:"why"`
}

// String tells of text that stays away.
func (a Away) String() string { return fmt.Sprintf("%s stays away: %s", quoteShort(a.Text), a.Why) }

func quoteShort(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return fmt.Sprintf("%q...", string(r[:limit]))
	}
	return fmt.Sprintf("%q", s)
}

// Decided is one suggestion that was decided on.
type Decided struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Line     int       `json:"line"`
	Old      string    `json:"old"`
	New      string    `json:"new"`
	Author   string    `json:"author,omitempty"`
	Session  string    `json:"session,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	Comments []string  `json:"comments,omitempty"`
	// Instead is what a person put in the place of New; nil if that was not Changed.
	Instead *string `json:"instead,omitempty"`
	// Proposal is the ID of the rename that it belonged to: it rewrote a link.
	Proposal string `json:"proposal,omitempty"`
}

// Became is what the decision made of New.
func (d *Decided) Became() string {
	if d.Instead != nil {
		return *d.Instead
	}
	return d.New
}

// Made is the item as a mark that is pending again.
func (d *Decided) Made(decided time.Time) MadeMark {
	m := MadeMark{ID: d.ID, Author: d.Author, Session: d.Session, Time: d.Time, Proposal: d.Proposal, Comment: d.Kind == diffwrap.Comment.String()}
	if m.Time.IsZero() && m.Author != "" {
		m.Time = decided
	}
	return m
}

// BatchOf names a journal entry for Undo.
func (e JournalEntry) BatchOf() string {
	if e.Decision != nil {
		return e.Decision.Batch
	}
	if e.Batch != "" {
		return e.Batch
	}
	return fmt.Sprintf("%s-%d", e.ID[:min(8, len(e.ID))], e.Seq)
}

// Lapsed says that no person decided.
func (e JournalEntry) Lapsed() bool { return e.Decision != nil && e.Decision.Lapsed }

// Suggestion is one pending change of a note, and who made it.
type Suggestion struct {
	diffwrap.Suggestion
	ID      string // the same until its author changes it, also when it was decided and is pending again; nobody else's ever
	Path    Path
	Session string
	// Proposal is the ID of the pending rename that the suggestion belongs to: it
	// rewrites a link.
	Proposal string

	Anchor string // of one that no record tells of: which of those with the same text it is

	// Answers is the newest rejection of what its author had proposed at its place before; nil if there was none.
	Answers *Rejection
}

// Rejection is a suggestion that was rejected, and why.
type Rejection struct {
	Decided
	By     string
	Reason string
	At     time.Time
}

// Thread is a conversation in the text of a note: comments that touch.
type Thread struct {
	diffwrap.Thread
	ID         string // the same as long as its first comment is
	Path       Path
	Suggestion string // the ID of the one that it hangs on; "" in plain text
	Remarks    []Remark
	Anchor     string // of the first comment
	// Answered says that the author of the suggestion has changed it since somebody else wrote last.
	Answered bool
}

// Remark is a comment of a thread, and who wrote it, as far as that is known.
type Remark struct {
	diffwrap.Suggestion
	Session string
	Agent   bool
	Pending string // the ID of the suggestion that it is, if it waits for a person
}
