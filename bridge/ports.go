package bridge

import (
	"context"
	"crypto/sha256"
	"io"
	"io/fs"
	"time"
)

// Source is where the documents of one Folder live. Paths are relative to the
// Folder, '/'-separated, never empty, already checked by CleanPath.
//
// Every method may be called from several goroutines. Errors wrap the
// sentinels of this package and of io/fs.
type Source interface {
	// Scan reports everything the Folder holds, parents before children. A
	// missing or unreadable root is ErrOffline.
	Scan(ctx context.Context, found func(SourceEntry)) error

	// Read returns the bytes of a note, which are the caller's, and the stamp that
	// names this state of it. A save in progress is waited for, within a bound.
	Read(ctx context.Context, rel string) ([]byte, Stamp, error)

	// Replace makes r.Data the content of rel, atomically, but only if the content
	// is still the one that r.Expect names: otherwise it changes nothing and returns
	// ErrConflict, and the caller reads again. It outlives the process when Replace
	// returns, and a power cut leaves either content, whole; that it leaves the new
	// one is certain a moment later (Synced).
	Replace(ctx context.Context, rel string, r Replacement) (Stamp, error)

	// Run watches the source until ctx is done and reports each change made by
	// others, after it has settled. It reports nothing for what Replace and
	// the Structure methods did themselves. It returns nil when ctx ends.
	Run(ctx context.Context, changed func(SourceEvent)) error
}

// Replacement is what a Source is to put in the place of what a note, or another
// file, holds.
type Replacement struct {
	Expect  Stamp // of what it holds
	Data    []byte
	ModTime time.Time // is given to the file, to the nanosecond where the disk can
	// Meanwhile, unless nil, is called once, before Data has the name: on its way to
	// the disk there is time for it. After an error of it, which Replace returns as
	// it is, nothing has changed.
	Meanwhile func() error
}

// Prepare calls Meanwhile, if it is set.
func (r *Replacement) Prepare() error {
	if r.Meanwhile == nil {
		return nil
	}
	return r.Meanwhile()
}

// Synced is a Source that can tell when what it did is certain to outlive a power
// cut.
type Synced interface {
	// Sync returns when everything that was done at rel, or right below it if that is
	// a folder ("" for the root), outlives a power cut.
	Sync(ctx context.Context, rel string) error
}

// Structure is the part of a Source that creates, moves and removes. Each
// operation is durable when it returns.
type Structure interface {
	// Create makes a new file; fs.ErrExist if the name is taken. Missing parent
	// folders are made.
	Create(ctx context.Context, rel string, data []byte, mode fs.FileMode, modTime time.Time) (Stamp, error)
	// Mkdir makes one folder.
	Mkdir(ctx context.Context, rel string) error
	// Rename moves a file or a folder; it replaces an existing file only when
	// replace is set, and never a folder.
	Rename(ctx context.Context, oldRel, newRel string, replace bool) error
	// Remove takes a file or an empty folder away, recoverably where the source
	// has a place for that (a vault's .trash). A folder that holds anything, be it
	// what Scan does not report, is ErrNotEmpty.
	Remove(ctx context.Context, rel string) error
	// Hidden names what the source has at rel, or right below it if that is a folder
	// that Scan reports, and Scan does not report.
	Hidden(ctx context.Context, rel string) ([]string, error)
}

// Looker is a Source that can be asked about one name. What Run reports may have been
// seen before the last change of names that was made here.
type Looker interface {
	// Look describes what is at rel now; fs.ErrNotExist.
	Look(rel string) (SourceEntry, error)
}

// Retractor is a Structure that can take back what Create made.
type Retractor interface {
	// Retract takes the new file at rel away for good. If it is not the one that
	// stamp names, or somebody is about to write to it, it changes nothing and
	// returns ErrConflict; fs.ErrNotExist if nothing is there.
	Retract(ctx context.Context, rel string, stamp Stamp) error
}

// Linker is a Structure that has symbolic links.
type Linker interface {
	// MakeLink makes one that says target; fs.ErrExist if the name is taken.
	MakeLink(ctx context.Context, rel, target string) (SourceEntry, error)
}

// Files is the part of a Source that serves what is not a note, byte for byte.
type Files interface {
	// OpenFile opens a file with the flags of os.OpenFile.
	OpenFile(rel string, flag int, perm fs.FileMode) (File, error)
	// PutFile puts a new file in the place of the one at rel, atomically, and has it on
	// the disk when it returns. Whoever has the old file open keeps that.
	PutFile(rel string, data []byte, perm fs.FileMode) (Stamp, error)
}

// Permissions is a Source whose files and folders have permission bits.
type Permissions interface {
	// Chmod sets those of what is at rel, and returns the stamp that it has then.
	Chmod(ctx context.Context, rel string, mode fs.FileMode) (Stamp, error)
}

// Locker is a Source that may turn read-only while it is served: its disk is
// remounted, its permission revoked.
type Locker interface {
	// Locked says why nothing can be written now, with an ErrReadOnly; nil if it can.
	// It is asked often.
	Locked() error
}

// File is an open file that is not a note.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
}

// Stamp names one state of a file's content: if the stamp is the same, so are
// the bytes. It is comparable; the zero Stamp names nothing.
type Stamp struct {
	Device, Inode    uint64
	Size             int64
	ModTime, ChgTime int64 // Unix nanoseconds
}

// SourceEntry is one thing a Source holds.
type SourceEntry struct {
	Rel   string
	Dir   bool
	Link  string      // of a symbolic link: what it says, from the folder it is in
	Mode  fs.FileMode // permission bits
	Stamp Stamp
}

// SourceEvent is one change made by others. Rel is "" for the Folder itself.
type SourceEvent struct {
	Kind   EventKind
	Rel    string
	OldRel string      // EventRenamed
	Entry  SourceEntry // EventCreated, EventChanged and EventRenamed
}

// Store keeps the Yjs updates of one source's documents and what relayfs knows
// beside the text. Its paths are relative to the source. Methods may be called from several goroutines. After an error nothing
// of that call has been kept.
type Store interface {
	// DocID returns the document kept under p, or fs.ErrNotExist.
	DocID(p Path) (DocID, error)
	// Load returns everything kept for id, oldest first; an unknown id gives an
	// empty History.
	Load(id DocID) (History, error)
	// Append keeps recs, all or none, for the document id, which lives at p, and
	// returns the sequence number of the last one. They outlive the process when
	// Append returns, and a power cut a moment later; records that are journalled
	// or Ahead, of which the source has no copy, outlive a power cut at once. Calls
	// for one document come one at a time.
	Append(id DocID, p Path, recs ...Record) (seq uint64, err error)
	// Materialized notes that the source's file holds the text as of seq, whose
	// fingerprint is sum. It is kept soon, not durably: the file itself is the
	// proof. Records up to seq may from now on be compacted.
	Materialized(id DocID, seq uint64, sum ContentSum)
	// Rename moves every document at or below oldPath.
	Rename(oldPath, newPath Path) error
	// Forget takes the document id out for good, with its history and its entries in
	// the journal. An unknown id is no error.
	Forget(id DocID) error
	// Intend notes, before a write, that the file at p is about to hold what has that
	// sum, and how; and Intended answers that: so that a change which a
	// crash kept from Append is still known as its writer's, and a decision is still
	// in the journal. An intent outlives the process when Intend returns nil; it need
	// not outlive a power cut. Intended tells it in any case while the process lives.
	// Once Append has kept something at p, Intended need not tell more than whose the
	// text was, and of a decision its batch. Rename moves intents.
	Intend(p Path, sum ContentSum, in Intent) error
	Intended(p Path, raw string) (in Intent, ok bool)
	// Unsettled returns the last intent at p, if Append has kept nothing there since, as
	// far as is known: a later process may not know.
	Unsettled(p Path) (in Intent, ok bool)
	// Journal returns the newest journalled records, newest first, at most limit.
	Journal(limit int) ([]JournalEntry, error)
	// Proposals returns the pending proposals in the order in which they were made.
	Proposals() ([]ProposalRecord, error)
	// Propose changes the pending proposals and adds to the journal what was
	// decided on them: all of it or nothing, durably.
	Propose(ProposalChange) error
}

// ProposalChange is what Propose does.
type ProposalChange struct {
	Put     []ProposalRecord // new ones, or instead of those with the same IDs
	Drop    []string         // IDs of those that wait no more
	Journal []Record         // journal entries that belong to no document
}

// ProposalRecord is a proposal as a Store keeps it. Paths are the source's.
type ProposalRecord struct {
	ID      string       `json:"id"`
	Kind    ProposalKind `json:"kind"`
	Rel     string       `json:"rel,omitempty"` // where it is; "" for a file that is not there yet
	Dir     bool         `json:"dir,omitempty"`
	ToDir   string       `json:"toDir,omitempty"` // the folder it is to be in, unless it is to go
	Name    string       `json:"name,omitempty"`  // its name there
	Author  string       `json:"author,omitempty"`
	Session string       `json:"session,omitempty"`
	Time    time.Time    `json:"time"`
	Stale   bool         `json:"stale,omitempty"`
	// Stamp and Sum name the state that the proposal was made about.
	Stamp Stamp      `json:"stamp,omitzero"`
	Sum   ContentSum `json:"sum,omitzero"`
	// Old and New are the contents of a ProposedFile; Old is nil for a new file.
	// Old is also what an accepted ProposedDelete took away.
	Old []byte `json:"old"`
	New []byte `json:"new,omitempty"`
	// Link is what the symbolic link said that an accepted ProposedDelete took away.
	Link string `json:"link,omitempty"`
	// Doc is the document of the note that an accepted ProposedDelete took away.
	Doc DocID `json:"doc,omitempty"`
	// Links are what a ProposedRename is to change in the front matter of notes,
	// which takes no suggestions, when it is accepted.
	Links []LinkChange `json:"links,omitempty"`
	// Accepting is set while the source is being changed: a crash leaves it, and
	// the next process finds out whether that was done.
	Accepting *Decision `json:"accepting,omitempty"`
	// Via is set while a file is moved out of another one's way, to that name.
	Via string `json:"via,omitempty"`
}

// LinkChange is a link in the front matter of the note at Rel and what it is to be.
type LinkChange struct {
	Rel string `json:"rel"`
	Old string `json:"old"` // the linkpath as it is written
	New string `json:"new"`
}

// JournalEntry is a journalled record and where its document lives now; Path is
// "" if the document is at no path any more. A decision on a proposal has no
// document, and so no ID and no Path in a Store's journal.
type JournalEntry struct {
	Path Path
	ID   DocID
	Record

	folder string // whose journal it is in; set by Workspace.Journal
	rel    string // where people have the note, "" if the document is at no path any more; likewise
}

// ContentSum is the SHA-256 of a document's raw text.
type ContentSum [sha256.Size]byte

// SumOf is the sum of a raw text.
func SumOf(raw string) ContentSum { return sha256.Sum256([]byte(raw)) }

// History is what a Store kept of one document.
type History struct {
	Records      []Record // the first one may be many merged into one
	Materialized uint64   // Seq of the last record known to be in the source's file
	Sum          ContentSum
}

// Record is one durable change of a document.
type Record struct {
	Seq     uint64 `json:"-"` // set by the Store
	Update  []byte `json:"-"` // Yjs update V1
	Author  string `json:"author,omitempty"`
	Session string `json:"session,omitempty"`
	Time    time.Time
	// Client, Clock and Len name the CRDT units this change inserted, so that a
	// suggestion can be traced to its author whatever was typed since.
	Client uint64 `json:"client,omitempty"`
	Clock  uint64 `json:"clock,omitempty"`
	Len    uint64 `json:"len,omitempty"`
	// Created is set for the change with which an agent made the note.
	Created bool `json:"created,omitempty"`
	// Unsent is set for a change that a server has yet to acknowledge. A Store that
	// serves such sources remembers it; it is not part of what Load returns.
	Unsent bool `json:"-"`
	// FrontMatter is set when the change touched the front matter, which carries
	// no marks: the way back.
	FrontMatter *FrontMatterChange `json:"frontMatter,omitempty"`
	// Proposal is the ID of the rename that the change belongs to: it rewrote links.
	Proposal string `json:"proposal,omitempty"`
	// Marks are the suggestions that the change made, or changed, or made pending again.
	Marks []MadeMark `json:"marks,omitempty"`
	// Decision is set when a person decided on suggestions: what, and the way back.
	Decision *Decision `json:"decision,omitempty"`
	// Ahead says that the change was kept before the source's file had it: one of
	// a shared note, whose file is written a moment later.
	Ahead bool `json:"ahead,omitempty"`
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
	// Comment is set for a comment that belongs to no mark: Add is all of it.
	Comment bool    `json:"comment,omitempty"`
	Add     []IDRun `json:"add,omitempty"`
	Del     []IDRun `json:"del,omitempty"`
	Older   []IDRun `json:"older,omitempty"`
}

// Intent is what a write is about to do: what its record will say beside the
// Update, and which characters it makes anew. That cannot be told afterwards from
// the two texts: a line that was written twice looks like either of the two.
type Intent struct {
	Record
	Edits []EditSpan `json:"edits,omitempty"`
	// Text is what the file is about to hold, if the write ends before the Store has
	// its record: somebody may have changed the file before it is asked for.
	Text string `json:"text,omitempty"`
	// Before is the text that the file holds, if it is a decision's and the Store does
	// not have it.
	Before string `json:"before,omitempty"`
	// Placed tells where new text stands among deleted characters, for an undo.
	Placed []Placement `json:"placed,omitempty"`
}

// Placement is a piece of the text that a change inserts: Len bytes of it, behind the
// character that is named, or else behind what is before it.
type Placement struct {
	Len    int   `json:"len"`
	Behind IDRun `json:"behind,omitzero"`
}

// EditSpan is an edit without its text, which the file holds: New bytes in the place
// of Len bytes at Off. A script of them is as in diffwrap.Edit.
type EditSpan struct {
	Off int `json:"off"`
	Len int `json:"len,omitempty"`
	New int `json:"new,omitempty"`
}

// Journalled says whether the record is one that Journal lists.
func (r *Record) Journalled() bool { return r.FrontMatter != nil || r.Decision != nil }

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
