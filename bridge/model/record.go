package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"
	"unsafe"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// History is what a Store kept of one document.
type History struct {
	Records      []Record // the first one may be many merged into one
	Materialized uint64   // Seq of the last record known to be in the source's file
	Sum          ContentSum
}

// Record is one durable change of a document.
type Record struct {
	Seq     uint64 `json:"-"`                         // set by the Store
	Update  []byte `json:"-" cbor:"update,omitempty"` // Yjs update V1
	Author  string `json:"author,omitempty"`
	Session string `json:"session,omitempty"`
	Batch   string `json:"batch,omitempty"` // the changes of one call, if there were several
	Time    time.Time
	// Client, Clock and Len name the CRDT units this change inserted, so that a
	// suggestion can be traced to its author whatever was typed since.
	Client uint64 `json:"client,omitempty"`
	Clock  uint64 `json:"clock,omitempty"`
	Len    uint64 `json:"len,omitempty"`
	// Direct is set for a change whose text was written as it is: no mark in it is relayfs's.
	Direct bool `json:"direct,omitempty"`
	// Created is set for the change with which an agent made the note.
	Created bool `json:"created,omitempty"`
	// Made are the folders of that note that agents made, from the innermost.
	Made []string `json:"made,omitempty"`
	// Unsent is set for a change that a server has yet to acknowledge. A Store that
	// serves such sources remembers it; it is not part of what Load returns.
	Unsent bool `json:"-" cbor:"unsent,omitempty"`
	// FrontMatter is set when the change touched the front matter, which carries
	// no marks: the way back.
	FrontMatter *FrontMatterChange `json:"frontMatter,omitempty"`
	// Proposal is the ID of the rename that the change belongs to: it rewrote links.
	Proposal string `json:"proposal,omitempty"`
	// Marks are the suggestions that the change made, or changed, or made pending again.
	Marks []MadeMark `json:"marks,omitempty"`
	// Decision is set when a person decided on suggestions: what, and the way back.
	Decision *Decision `json:"decision,omitempty"`
	// SessionNote is set when an agent said what Session is, and Approval when a person was asked about a change
	// of it. Such records belong to no document.
	SessionNote *SessionNote `json:"sessionNote,omitempty"`
	Approval    *Approval    `json:"approval,omitempty"`
	// Returned is what the change typed again: what a person's save brought back or moved, and what an agent's write moved. It is still
	// by whoever wrote it.
	Returned []Revival `json:"returned,omitempty"`
	// Restored is all of the text of a state that a person's save brought back: Marks are what waited in it.
	Restored []IDRun `json:"restored,omitempty"`
	// Torn are delimiters of marks whose other half a person's save took away: they mark nothing any more.
	Torn []IDRun `json:"torn,omitempty"`
	// Plain is text of suggestions whose marks a person's save took away: it waits for nothing any more, whatever stands around it.
	Plain []IDRun `json:"plain,omitempty"`
	// Found is set for a change that was made while nobody followed the note: Time is when
	// it was found.
	Found bool `json:"found,omitempty"`
	// Save is set for a change that was kept before the source's file got its text: the
	// file before and after it.
	Save *Save `json:"save,omitempty"`
}

// Save is what a change makes of the source's file. A file that is as Pre says does not
// have the change yet; one that is as Post says has it, in whole or torn by a power cut,
// which Sum tells.
type Save struct {
	Pre  Stamp  `json:"pre,omitzero"` // zero for a new file
	Post Stamp  `json:"post"`
	Sum  []byte `json:"sum"` // a ContentSum
}

// Journalled says whether the record is one that Journal lists.
func (r *Record) Journalled() bool { return r.FrontMatter != nil || r.Decision != nil }

// Outlives says whether the record is kept when updates are merged into one, as attribution and undo need it.
func (r *Record) Outlives() bool {
	return r.Author != "" || r.Proposal != "" || r.Journalled() || len(r.Returned)+len(r.Restored)+len(r.Torn)+len(r.Plain) > 0
}

// IsFirstText says whether the record took over the text of a note that had no
// document, with the character of that identity.
func (r *Record) IsFirstText(client ycrdt.ClientID, clock uint64) bool {
	return r.Author == "" && r.Proposal == "" && r.Clock == 0 && r.Client == uint64(client) && clock < r.Len
}

// MadeMark is a suggestion as the change left it that made it: what it adds, what it
// deletes, and the comments directly behind it that were there before it.
type MadeMark struct {
	// ID, Author, Session, Time and Proposal are set for one that an undo made pending
	// again. Else they are those of the record.
	ID       string    `json:"id,omitempty"`
	Author   string    `json:"author,omitempty"`
	Session  string    `json:"session,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	Proposal string    `json:"proposal,omitempty"`
	// Comment is set for a comment: Add is all of it.
	Comment bool `json:"comment,omitempty"`
	// Was are the suggestions that a write made this one of. Their rejection by somebody who did not know of it is its own.
	Was   []string `json:"was,omitempty"`
	Add   []IDRun  `json:"add,omitempty"`
	Del   []IDRun  `json:"del,omitempty"`
	Older []IDRun  `json:"older,omitempty"`
}

func (m *MadeMark) Put(r IDRun, added bool) {
	if added {
		m.Add = append(m.Add, r)
	} else {
		m.Del = append(m.Del, r)
	}
}

// Placement is a piece of the text that a change inserts: Len bytes of it, behind the
// character that is named, or else behind what is before it.
type Placement struct {
	Len    int   `json:"len"`
	Behind IDRun `json:"behind,omitzero"`
}

// FrontMatterChange is a note's front matter before and after one write, and the
// characters that the write took away and put there.
type FrontMatterChange struct {
	Before  string    `json:"before"`
	After   string    `json:"after"`
	Removed []GoneRun `json:"removed,omitempty"`
	Typed   []IDRun   `json:"typed,omitempty"`
}

// GoneRun is deleted text by its identities: the place that it had.
type GoneRun struct {
	At   IDRun  `json:"at"`
	Text string `json:"text"`
}

// JournalEntry is a journalled record and where its document lives now; Path is
// "" if the document is at no path any more. A decision on a proposal has no
// document, and so no ID and no Path in a Store's journal; nor has what is told of a session.
type JournalEntry struct {
	Path Path
	ID   DocID
	Record

	Folder string // whose journal it is in; set by Workspace.Journal
	Rel    string // where people have the note, "" if the document is at no path any more; likewise
}

// Undoable says whether the entry is of a kind that can be taken back.
func (e JournalEntry) Undoable() bool { return e.Decision != nil || e.FrontMatter != nil }

// InStep says whether the last record is known to have led to the text of sum.
func (h History) InStep(sum ContentSum) bool {
	last := h.Records[len(h.Records)-1]
	return last.Save != nil && bytes.Equal(last.Save.Sum, sum[:]) || h.Settled(sum)
}

// Settled says whether the source's file is known to hold the text that the last record
// led to, whose sum that is, whatever happens.
func (h History) Settled(sum ContentSum) bool {
	return h.Sum == sum && h.Materialized == h.Records[len(h.Records)-1].Seq
}

// Made says whether relayfs put the text of that sum into the file, as far as the history
// tells.
func (h History) Made(sum ContentSum) bool {
	return h.Sum == sum || slices.ContainsFunc(h.Records, func(r Record) bool { return r.Save != nil && bytes.Equal(r.Save.Sum, sum[:]) })
}

// IsOf says whether relayfs has put a text of the document into that file, or found it there.
func (h History) IsOf(file Stamp) bool {
	return slices.ContainsFunc(h.Records, func(r Record) bool {
		return r.Save != nil && (file.IsFile(r.Save.Pre) || file.IsFile(r.Save.Post))
	})
}

// MayHaveTyped says whether somebody may have typed in the note since the first agent
// wrote in it.
func (h History) MayHaveTyped() bool {
	agents := false
	for i := range h.Records {
		r := &h.Records[i]
		theirs := r.Author != "" || r.Decision != nil
		if agents && (!theirs || r.Seq != h.Records[i-1].Seq+1) {
			return true
		}
		agents = agents || theirs
	}
	return false
}

// OnlyBy says whether the history is all theirs.
func (h History) OnlyBy(theirs func(Author) bool) bool {
	return h.All(func(r *Record) bool {
		return r.Decision == nil && r.Proposal == "" && theirs(Author{Name: r.Author, Session: r.Session})
	})
}

// LeadsTo says whether raw is what the history ends with.
func (h History) LeadsTo(raw string) bool {
	if len(h.Records) == 0 {
		return raw == ""
	}
	return h.InStep(SumOf(raw))
}

// All says whether ok holds for every change of the note. Where a number is missing it
// has been compacted, and tells no more who took part.
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

// SumOf is the sum of a raw text.
func SumOf(raw string) ContentSum {
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(raw), len(raw))) // without a copy
}

// EmptyUpdate is the Yjs update that changes nothing.
func EmptyUpdate() []byte { return []byte{0, 0} }

// Author is who makes a change. Session tells one sitting of an author from
// the next; all may be empty.
type Author struct {
	Name, Session string
	Batch         string // names what is changed in one go; "" for a change by itself
	// Reason is why a person decides on a suggestion as they do, in their words:
	// the journal keeps it, and whose suggestion it was is told.
	Reason string
}

// Is says whether two are one sitting of one author.
func (a Author) Is(b Author) bool { return a.Name == b.Name && a.Session == b.Session }

// IDRun names Len units of a document's text whose identities follow one another.
// Until a change is carried out, what it is about is named by places in the text
// instead: Client is 0 then, and Clock the place in UTF-16 units.
type IDRun struct{ Client, Clock, Len uint64 }

// MarshalJSON writes a run in short: there may be many.
func (r IDRun) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]uint64{r.Client, r.Clock, r.Len})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *IDRun) UnmarshalJSON(data []byte) error {
	var v [3]uint64
	err := json.Unmarshal(data, &v)
	*r = IDRun{v[0], v[1], v[2]}
	return err
}

// RunOf is a run of a document as it is kept.
func RunOf(r ycrdt.Run) IDRun {
	return IDRun{Client: uint64(r.ID.Client), Clock: r.ID.Clock, Len: uint64(r.Len)}
}

// Run is r as the document has it.
func (r IDRun) Run() ycrdt.Run {
	return ycrdt.Run{ID: ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock}, Len: int(r.Len)}
}

// Last names the last unit.
func (r IDRun) Last() ycrdt.ID { return r.Part(r.Len-1, 1).Run().ID }

// Part is the n units of the run from the one at off on.
func (r IDRun) Part(off, n uint64) IDRun { return IDRun{r.Client, r.Clock + off, n} }

// PlaceRun names units by where they are.
func PlaceRun(from, to int) IDRun { return IDRun{Clock: uint64(from), Len: uint64(to - from)} }
