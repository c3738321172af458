package model

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
)

type Verdict string

const (
	Accepted  Verdict = "accepted"
	Rejected  Verdict = "rejected"
	Changed   Verdict = "changed"   // the user edited the suggestion and accepted the result
	Commented Verdict = "commented" // the user wrote a comment and decided on nothing
	Resolved  Verdict = "resolved"  // the user removed a thread of comments
	Undone    Verdict = "undone"    // an earlier decision or front matter change was undone
)

// Decision is the journal's record of a user's decision on suggestions of one note, or on one proposal.
type Decision struct {
	Batch   string        `json:"batch"` // name shared by decisions that were made together
	Verdict Verdict       `json:"verdict"`
	By      string        `json:"by,omitempty"`
	Reason  string        `json:"reason,omitempty"` // the user's reason
	Items   []DecidedItem `json:"items,omitempty"`
	// Withdrawn is set if no user decided: the source changed under the proposal, or the author withdrew the proposal.
	Withdrawn bool `json:"lapsed,omitempty"`
	// Undoes is the batch that this decision undoes. It undoes the batch's decisions on Items, or all of them if there
	// are no Items.
	Undoes string `json:"undoes,omitempty"`
	// UndoesSeq is the number of the record that this decision undoes. It is 0 for a decision on a proposal.
	UndoesSeq uint64 `json:"undoesSeq,omitempty"`
	// Follows is the ID of the decided rename for which this change rewrote links in place.
	Follows string `json:"follows,omitempty"`
	// Runs are the characters that were decided on, and Marks the marks around them.
	Runs  []DecidedRun  `json:"runs,omitempty"`
	Marks []DecidedMark `json:"marks,omitempty"`
	// Emptied is set if the decision left nothing of the note, or only front matter.
	Emptied bool `json:"emptied,omitempty"`
	// Remaps maps the characters that an undo or a decision inserted again to their original IDs. Unrestored is text
	// that an undo could not restore.
	Remaps     []IDRemap    `json:"revived,omitempty"`
	Unrestored []Unrestored `json:"away,omitempty"`
	// Again has the characters that an undo made pending again, with their roles in the undone decision. Plain has the
	// characters of Again that were in no mark before the undo: no other suggestion is pending there.
	Again []DecidedRun `json:"again,omitempty"`
	Plain []IDRange    `json:"plain,omitempty"`
	// ByHand are the delimiters of users' marks that an undo inserted again.
	ByHand []IDRange `json:"byHand,omitempty"`
	// Proposal is set if the decision concerns a proposal.
	Proposal *ProposalRecord `json:"proposal,omitempty"`
}

// Role is the effect of a decision on a run of characters.
type Role int

const (
	RoleAdditionAccepted Role = iota + 1
	RoleDeletionAccepted      // the text was deleted
	RoleAdditionRejected      // the text was deleted
	RoleDeletionRejected
	RoleCommentRemoved   // deleted: a comment, or a part of a mark or highlight
	RoleReplacement      // the user's text that replaces the proposed text
	RolePlainRemoved     // deleted text of front matter
	RoleAbsorbed         // text that an undo made pending inside another deletion; deleted until both are decided
	RoleCommentAccepted  // an agent's comment, which stays
	RoleCommentRejected  // deleted: an agent's comment
	RoleContextDeleted   // text that an undo did not restore, because the text around it is deleted
	RoleCommentAdded     // a comment of the user; Text is all of it
	RoleCommentResolved  // deleted: a comment that was not pending
	RoleLineBreakRemoved // deleted: the line break after the front matter, which an agent added with the body
)

func (r Role) Deletes() bool {
	return r == RoleDeletionAccepted || r == RoleAdditionRejected || r == RoleCommentRemoved || r == RoleCommentRejected || r == RoleCommentResolved || r == RoleLineBreakRemoved
}

// DecidedRun is a run of characters that a decision covers. If the decision deleted the characters, DecidedRun has
// their text and the nearest characters that remained.
type DecidedRun struct {
	At    IDRange `json:"at"`
	Role  Role    `json:"role"`
	Mark  int     `json:"mark,omitempty"` // index in Decision.Marks
	Text  string  `json:"text,omitempty"`
	Left  IDRange `json:"left,omitzero"`
	Right IDRange `json:"right,omitzero"`
}

// DecidedMark is a mark that a decision covers. It has the index of its item, and the delimiters if they were not the
// plain delimiters.
type DecidedMark struct {
	Item  int    `json:"item"`
	Open  string `json:"open,omitempty"`
	Close string `json:"close,omitempty"`
}

// IDRemap maps deleted characters to the characters that replace them.
type IDRemap struct {
	Old IDRange `json:"old"`
	New IDRange `json:"new"`
}

// Unrestored is text that an undo could not restore.
type Unrestored struct {
	Path Path   `json:"path,omitempty"` // not stored in the journal
	Text string `json:"text"`
	Why  string `json:"why"`
}

func (a Unrestored) String() string {
	return fmt.Sprintf("%s not restored: %s", quoteShort(a.Text), a.Why)
}

func quoteShort(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return fmt.Sprintf("%q...", string(r[:limit]))
	}
	return fmt.Sprintf("%q", s)
}

type DecidedItem struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Line     int       `json:"line"`
	Old      string    `json:"old"`
	New      string    `json:"new"`
	Author   string    `json:"author,omitempty"`
	Session  string    `json:"session,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	Comments []string  `json:"comments,omitempty"`
	// ReplacedBy is the user's text in place of New. It is set for the verdict Changed.
	ReplacedBy *string `json:"instead,omitempty"`
	// Proposal is the ID of the rename for which the item rewrote a link.
	Proposal string `json:"proposal,omitempty"`
}

// ResultText returns the text that an acceptance leaves: ReplacedBy if it is set, else New.
func (d *DecidedItem) ResultText() string {
	if d.ReplacedBy != nil {
		return *d.ReplacedBy
	}
	return d.New
}

// BatchOf returns the name by which Undo finds the batch of a journalled record.
func (r *Record) BatchOf() string {
	if r.Decision != nil {
		return r.Decision.Batch
	}
	return r.Batch
}

// batchTime is the layout of the time with which the name of a batch begins.
const batchTime = "20060102T150405.000"

// lastBatch is the number of the last batch. It starts at random, because other processes name batches, too.
var lastBatch = rand.Uint32()

// NewBatch returns a name for decisions that are made together.
func NewBatch() string {
	return fmt.Sprintf("%s-%08x", time.Now().UTC().Format(batchTime), atomic.AddUint32(&lastBatch, 1))
}

// BatchStart returns a number that is less than the Order of all entries of a batch. It returns 0 if NewBatch did not
// make the name.
func BatchStart(name string) uint64 {
	t, err := time.Parse(batchTime, name[:min(len(batchTime), len(name))])
	if err != nil {
		return 0
	}
	return uint64(max(0, t.UnixMicro()))
}

func (e JournalEntry) Withdrawn() bool { return e.Decision != nil && e.Decision.Withdrawn }

type Suggestion struct {
	diffwrap.Suggestion
	ID      string // stable until the author changes the suggestion, even across a decision and its undo; never reused
	Path    Path
	Session string
	// Proposal is the ID of the pending rename for which the suggestion rewrites a link.
	Proposal string

	// PreviousRejection is the newest rejection of an earlier suggestion by the same author at this place, or nil.
	PreviousRejection *Rejection
}

type Rejection struct {
	DecidedItem
	By     string
	Reason string
	At     time.Time
}

// Thread is a list of adjacent comments in a note.
type Thread struct {
	diffwrap.Thread
	ID         string // ID made from its first comment
	Path       Path
	Suggestion string // ID of the suggestion to which the thread is attached; "" in plain text
	Entries    []ThreadComment
	// Answered is set if the author of the suggestion has changed it since the last comment by anyone else.
	Answered bool
}

type ThreadComment struct {
	diffwrap.Suggestion
	Session string
	Agent   bool
	Pending string // ID of the pending suggestion that adds the comment
}

// EndsCell reports whether a comment with this text, at an offset of a note, would end a cell of a table.
func EndsCell(note string, at int, text string) bool {
	row := strings.TrimLeft(note[strings.LastIndexByte(note[:at], '\n')+1:], " \t>")
	return strings.HasPrefix(row, "|") && strings.Contains(strings.ReplaceAll(text, `\|`, ""), "|")
}
