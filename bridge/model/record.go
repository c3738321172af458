package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

type History struct {
	Records []Record // the first record may contain several merged records
	FileSeq uint64   // Seq of the last record whose text the source's file is known to have
	Sum     ContentSum
	File    Stamp // that file; only the part that Stamp.File returns
}

type Record struct {
	Seq     uint64 `json:"-"`                         // set by the Store
	Update  []byte `json:"-" cbor:"update,omitempty"` // Yjs update V1
	Author  string `json:"author,omitempty"`
	Session string `json:"session,omitempty"`
	Batch   string `json:"batch,omitempty"` // name shared by the changes of one call, if there were several; a change of front matter always has one
	Time    time.Time
	// Order is the place of a journalled record in the journals of its workspace; see Sequence. The Store sets it.
	Order uint64 `json:"order,omitempty"`
	// Client, Clock and Len identify the CRDT units that this change inserted. They trace a suggestion to its author.
	Client uint64 `json:"client,omitempty"`
	Clock  uint64 `json:"clock,omitempty"`
	Len    uint64 `json:"len,omitempty"`
	// Direct is set if the text was written verbatim: relayfs made none of its marks.
	Direct bool `json:"direct,omitempty"`
	// Created is set for the change by which an agent created the note.
	Created bool `json:"created,omitempty"`
	// Made are the folders that agents created for the note, innermost first.
	Made []string `json:"made,omitempty"`
	// Unsent is set for a change that a server has yet to acknowledge. Only the Store of a source with a server keeps
	// it. Load does not return it.
	Unsent bool `json:"-" cbor:"unsent,omitempty"`
	// FrontMatter is set if the change touched the front matter, which carries no marks. It is the data for undo.
	FrontMatter *FrontMatterChange `json:"frontMatter,omitempty"`
	// Proposal is the ID of the rename for which the change made suggestions that update links.
	Proposal string `json:"proposal,omitempty"`
	// Links are the links that the change rewrote in place, for undo.
	Links []LinkRewrite `json:"links,omitempty"`
	// Marks are the suggestions that the change made, changed, or made pending again. Before them are the suggestions of
	// which the change wrote the delimiters again, with the text that they had before the change.
	Marks []MarkRecord `json:"marks,omitempty"`
	// Decision is set if a user decided on suggestions or on a proposal. It includes the data for undo.
	Decision *Decision `json:"decision,omitempty"`
	// SessionNote is set if an agent described its session. Approval is set if a user was asked about a change in the
	// session. Such records belong to no document.
	SessionNote *SessionNote `json:"sessionNote,omitempty"`
	Approval    *Approval    `json:"approval,omitempty"`
	// Remaps maps text that the change inserted again (moved, or restored by a user's save) to the original text,
	// whose authors it keeps.
	Remaps []IDRemap `json:"returned,omitempty"`
	// Restored is all text of an earlier state that a user's save restored. Marks are then the suggestions pending in
	// that state.
	Restored []IDRange `json:"restored,omitempty"`
	// BrokenDelimiters are delimiters that no longer belong to a mark, because a user's save deleted the other
	// delimiter of the pair.
	BrokenDelimiters []IDRange `json:"torn,omitempty"`
	// Plain is text of suggestions that a save or a write took out of its marks, or whose marks a save deleted. It is no
	// longer pending, even if it is inside another mark.
	Plain []IDRange `json:"plain,omitempty"`
	// Older are comments that existed before the change put suggestions next to them. They belong to the text.
	Older []IDRange `json:"older,omitempty"`
	// KeptOpeners are the openers of users' older marks that the accepted text around them would otherwise turn into
	// literal text, such as code.
	KeptOpeners []IDRange `json:"kept,omitempty"`
	// LiteralOpeners are openers in literal text, such as code, that the decided text around them would otherwise turn
	// into marks.
	LiteralOpeners []IDRange `json:"literal,omitempty"`
	// DetectedLate is set for a change that was made while no process followed the note. Time is then the time of its
	// discovery.
	DetectedLate bool `json:"found,omitempty"`
	// Save describes the file before and after the change. It is set if the change was stored before the source's file
	// was written.
	Save *Save `json:"save,omitempty"`
}

// Save is the effect of a change on the source's file. A file with the stamp Pre does not have the change yet. A file
// with the stamp Post has it, completely or torn by a power cut; Sum distinguishes the two.
type Save struct {
	Pre  Stamp  `json:"pre,omitzero"` // zero if the file is new
	Post Stamp  `json:"post"`
	Sum  []byte `json:"sum"` // a ContentSum
}

// ApplyTo applies the record's update to a document. The error wraps ErrDamagedRecord.
func (r *Record) ApplyTo(doc *ycrdt.Doc) error {
	if err := doc.ApplyUpdate(r.Update); err != nil {
		return fmt.Errorf("%w (%w)", ErrDamagedRecord, err)
	}
	return nil
}

func (r *Record) Journalled() bool { return r.FrontMatter != nil || r.Decision != nil }

// IsByUser reports whether a user has changed the text by other means than a decision.
func (r *Record) IsByUser() bool {
	return r.Author == "" && r.Decision == nil && r.Proposal == "" && len(r.Links) == 0
}

// SurvivesCompaction reports whether the record stays when the checkpoint merges the updates of its document, because
// attribution and undo need it.
func (r *Record) SurvivesCompaction() bool {
	return r.Author != "" || r.Proposal != "" || r.Journalled() || len(r.Remaps)+len(r.Restored)+len(r.BrokenDelimiters)+len(r.Plain)+len(r.Older)+len(r.KeptOpeners)+len(r.LiteralOpeners)+len(r.Links) > 0
}

// IsFirstText reports whether the record took over the text of a note that had no document yet, and the given character
// is part of that text.
func (r *Record) IsFirstText(client ycrdt.ClientID, clock uint64) bool {
	return r.Author == "" && r.Proposal == "" && r.Clock == 0 && r.Client == uint64(client) && clock < r.Len
}

// MarkRecord is a suggestion as a change left it: its additions and its deletions.
type MarkRecord struct {
	// ID, Author, Session, Time and Proposal are set for a suggestion that an undo made pending again. Otherwise the
	// record's values count.
	ID       string    `json:"id,omitempty"`
	Author   string    `json:"author,omitempty"`
	Session  string    `json:"session,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	Proposal string    `json:"proposal,omitempty"`
	// Comment is set for a comment. Add is then its whole text.
	Comment bool `json:"comment,omitempty"`
	// Replaces are the IDs of the suggestions that a write turned into this suggestion. If a mount that has not
	// received that write rejects one of these suggestions, this suggestion is rejected, too.
	Replaces []string  `json:"was,omitempty"`
	Add      []IDRange `json:"add,omitempty"`
	Del      []IDRange `json:"del,omitempty"`
}

func (m *MarkRecord) AddRange(r IDRange, added bool) {
	if added {
		m.Add = append(m.Add, r)
	} else {
		m.Del = append(m.Del, r)
	}
}

// FrontMatterChange is a note's front matter before and after one write, and the characters that the write deleted and
// inserted.
type FrontMatterChange struct {
	Before  string         `json:"before"`
	After   string         `json:"after"`
	Removed []DeletedRange `json:"removed,omitempty"`
	Typed   []IDRange      `json:"typed,omitempty"`
}

// LinkRewrite has the old and the new linkpath of a link to a renamed document. The new linkpath has the attribution of
// the old linkpath: both are part of the text, or of a pending suggestion, which keeps its author.
type LinkRewrite struct {
	Removed []DeletedRange `json:"removed"`
	Typed   []IDRange      `json:"typed"`
}

// DeletedRange is deleted text with its CRDT IDs, which identify its place.
type DeletedRange struct {
	At   IDRange `json:"at"`
	Text string  `json:"text"`
}

// JournalEntry is a journalled record with the current path of its document, or "". In a Store's journal, decisions on
// proposals, session notes and approvals have neither ID nor Path.
type JournalEntry struct {
	Path Path
	ID   DocID
	Record

	Root string // root of the journal; set by Workspace.Journal
	Rel  string // source path, or ""; set by Workspace.Journal
}

// LastSeq returns the Seq of the last record, or 0 if there is none.
func (h History) LastSeq() uint64 {
	if len(h.Records) == 0 {
		return 0
	}
	return h.Records[len(h.Records)-1].Seq
}

// FileIsCurrent reports whether the file with this checksum is known to have the text of the last record, or is empty
// if there is no record.
func (h History) FileIsCurrent(sum ContentSum) bool {
	if len(h.Records) == 0 {
		return sum == SumOf("")
	}
	last := h.Records[len(h.Records)-1]
	return last.Save != nil && bytes.Equal(last.Save.Sum, sum[:]) || h.FileIsDurable(sum)
}

// FileIsDurable reports whether the source's file durably has the text of the last record. sum is the checksum of that
// text.
func (h History) FileIsDurable(sum ContentSum) bool {
	return h.Sum == sum && h.FileSeq == h.LastSeq()
}

// WroteText reports whether relayfs has stored a write of the text with this checksum to the file, or last found that
// text in the file.
func (h History) WroteText(sum ContentSum) bool {
	return h.Sum == sum || slices.ContainsFunc(h.Records, func(r Record) bool { return r.Save != nil && bytes.Equal(r.Save.Sum, sum[:]) })
}

// IsOf reports whether relayfs has written a text of the document to that file, or has read one from it.
func (h History) IsOf(file Stamp) bool {
	return file.IsFile(h.File) || slices.ContainsFunc(h.Records, func(r Record) bool {
		return r.Save != nil && (file.IsFile(r.Save.Pre) || file.IsFile(r.Save.Post))
	})
}

// MayHaveHumanEdits reports whether a user may have typed in the note since the first agent wrote in it, or whether only
// the records tell some literal text from a mark.
func (h History) MayHaveHumanEdits() bool {
	agents := false
	for i := range h.Records {
		r := &h.Records[i]
		byAgent := r.Author != "" || r.Decision != nil
		if len(r.LiteralOpeners) > 0 || agents && (!byAgent || r.Seq != h.Records[i-1].Seq+1) {
			return true
		}
		agents = agents || byAgent
	}
	return false
}

// OnlyBy reports whether the note is known to have been changed only by authors that isOwnAuthor accepts, without
// decisions and rewritten links.
func (h History) OnlyBy(isOwnAuthor func(Author) bool) bool {
	return h.All(func(r *Record) bool {
		return r.Decision == nil && r.Proposal == "" && isOwnAuthor(Author{Name: r.Author, Session: r.Session})
	})
}

// All reports whether ok returns true for every change of the note. It returns false if a record was compacted, because
// the author of its change is unknown.
func (h History) All(ok func(*Record) bool) bool {
	for i := range h.Records {
		if r := &h.Records[i]; r.Seq != uint64(i+1) || !ok(r) {
			return false
		}
	}
	return true
}

// ContentSum is the SHA-256 of a document's raw text.
type ContentSum [sha256.Size]byte

func SumOf(raw string) ContentSum {
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(raw), len(raw))) // avoids a copy of the text
}

// EmptyUpdate returns the Yjs update that changes nothing.
func EmptyUpdate() []byte { return []byte{0, 0} }

// Author identifies who makes a change. Session distinguishes the sessions of an author. All fields may be empty.
type Author struct {
	Name, Session string
	Batch         string // shared by changes that are made together; "" for a single change
	// Reason is the user's reason for a decision. The journal keeps it, and the suggestion's author gets it.
	Reason string
}

func (a Author) Is(b Author) bool { return a.Name == b.Name && a.Session == b.Session }

// IDRange is a range of Len units of a document's text with consecutive CRDT IDs. In a change that is only planned, it
// refers to a span of the text: Client is 0, and Clock and Len are in bytes.
type IDRange struct{ Client, Clock, Len uint64 }

func (r IDRange) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]uint64{r.Client, r.Clock, r.Len})
}

func (r *IDRange) UnmarshalJSON(data []byte) error {
	var v [3]uint64
	err := json.Unmarshal(data, &v)
	*r = IDRange{v[0], v[1], v[2]}
	return err
}

func RangeOf(r ycrdt.Run) IDRange {
	return IDRange{Client: uint64(r.ID.Client), Clock: r.ID.Clock, Len: uint64(r.Len)}
}

func (r IDRange) Run() ycrdt.Run {
	return ycrdt.Run{ID: ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock}, Len: int(r.Len)}
}

func (r IDRange) Last() ycrdt.ID { return r.Part(r.Len-1, 1).Run().ID }

func (r IDRange) Part(off, n uint64) IDRange { return IDRange{r.Client, r.Clock + off, n} }

// StartsIn reports whether the first character of r is in other.
func (r IDRange) StartsIn(other IDRange) bool {
	return r.Client == other.Client && other.Clock <= r.Clock && r.Clock < other.Clock+other.Len
}

func OffsetRange(s diffwrap.Span) IDRange {
	return IDRange{Clock: uint64(s.Start), Len: uint64(s.Len())}
}

// Span is the inverse of OffsetRange.
func (r IDRange) Span() diffwrap.Span {
	return diffwrap.Span{Start: int(r.Clock), End: int(r.Clock + r.Len)}
}
