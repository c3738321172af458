package model

import (
	"context"
	"io"
	"io/fs"
	"path"
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
	// returns. A power cut leaves either content, whole, once Scan has been called again;
	// that it leaves the new one is certain a moment later (Synced).
	Replace(ctx context.Context, rel string, r Replacement) (Stamp, error)

	// Run watches the source until ctx is done and reports each change made by
	// others, after it has settled. It reports nothing for what Replace and
	// the Structure methods did themselves. It returns nil when ctx ends.
	Run(ctx context.Context, changed func(SourceEvent)) error
}

// Replacement is what a Source is to put instead of what a note, or another
// file, holds.
type Replacement struct {
	IfMatch Stamp // of what it holds
	// KnownText is the text that it holds, "" if the caller does not have that: then it is read.
	KnownText string
	Data      []byte
	ModTime   time.Time // is given to the file, to the nanosecond where the disk can
	// Sync is set if Data has to be on the disk before it has the name: the writer has
	// synced its own copy.
	Sync bool
	// BeforeRename, unless nil, is called once, when it is certain which stamp Data will
	// have (except for the time of change, which a rename sets), before Data has the name.
	// After an error of it, which Replace returns as it is, nothing has changed.
	BeforeRename func(post Stamp) error
	// OnAbort, unless nil, is called before Replace returns an error, if BeforeRename has not failed. The next
	// process is told that Data did not get the name (Placer) until then.
	OnAbort func()
	// OnDurable, unless nil, is called once, from any goroutine, when Replace has succeeded and a power
	// cut cannot bring back what the note held before. It is not called if that fails.
	OnDurable func()
}

// Prepare calls BeforeRename, if it is set.
func (r *Replacement) Prepare(post Stamp) error {
	if r.BeforeRename == nil {
		return nil
	}
	return r.BeforeRename(post)
}

// Abort calls Aborted, if it is set.
func (r *Replacement) Abort() {
	if r.OnAbort != nil {
		r.OnAbort()
	}
}

// Settle calls Settled, if it is set.
func (r *Replacement) Settle() {
	if r.OnDurable != nil {
		r.OnDurable()
	}
}

// RenameChecker is a Source that can tell which of the last process's files got their names.
type RenameChecker interface {
	// Renamed says whether the new file of a save, of which BeforeRename was told, got the name that it was
	// for. It is known if either file of the Replace was found where the other one belongs: until that has
	// settled or was aborted, both are there, except for what a power cut takes.
	Renamed(save Save) (placed, known bool)
}

// Durable is a Source that can tell when what it did is certain to outlive a power
// cut.
type Durable interface {
	// Sync returns when everything that was done at rel, or right below it if that is
	// a folder ("" for the root), outlives a power cut.
	Sync(ctx context.Context, rel string) error
}

// Structure is the part of a Source that creates, moves and removes. Each
// operation is durable when it returns.
type Structure interface {
	// Create makes a new file; fs.ErrExist if the name is taken. Missing parent
	// folders are made.
	Create(ctx context.Context, rel string, file NewFile) (Stamp, error)
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

// NewFile is what a Source is to make.
type NewFile struct {
	Data    []byte
	Mode    fs.FileMode
	ModTime time.Time
	// BeforeRename is that of a Replacement.
	BeforeRename func(post Stamp) error
}

// Prepare calls BeforeRename, if it is set.
func (f *NewFile) Prepare(post Stamp) error {
	r := Replacement{BeforeRename: f.BeforeRename}
	return r.Prepare(post)
}

// Stater is a Source that can be asked about one name. What Run reports may have been
// seen before the last change of names that was made here.
type Stater interface {
	// Stat describes what is at rel now; fs.ErrNotExist.
	Stat(rel string) (SourceEntry, error)
}

// Retractor is a Structure that can take back what Create made.
type Retractor interface {
	// Retract takes the new file at rel away for good. If it is not the one that
	// stamp names, or somebody is about to write to it, it changes nothing and
	// returns ErrConflict; fs.ErrNotExist if nothing is there.
	Retract(ctx context.Context, rel string, stamp Stamp) error
}

// Restorer is a Structure that keeps what Remove takes away.
type Restorer interface {
	// Restore gives a file that Remove has taken away the name rel. stamp names it as it was
	// then, except for what a rename changes. fs.ErrNotExist if it is not kept with that content
	// any more, fs.ErrExist if the name is taken.
	Restore(ctx context.Context, rel string, stamp Stamp, data []byte) (SourceEntry, error)
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
	// PutFile puts a new file instead of the one at rel, atomically, and has it on
	// the disk when it returns. Whoever has the old file open keeps that.
	PutFile(rel string, data []byte, perm fs.FileMode) (Stamp, error)
}

// ConfigReader is a Source that has the configuration of Obsidian, beside what it serves.
type ConfigReader interface {
	// ReadConfig returns a file of it, such as "daily-notes.json"; fs.ErrNotExist.
	ReadConfig(name string) ([]byte, error)
}

// NameChecker is a Source that does not take every name.
type NameChecker interface {
	// CheckName says why nothing new can have the name, one element of a path, with an
	// ErrBadName; nil if it can. What has it already is served as anything else.
	CheckName(name string) error
}

// FileMerger is a Source with files that are no notes and that several people may change at a time.
type FileMerger interface {
	// CanMerge says whether what is at rel, or would be, is such a file.
	CanMerge(rel string) bool
	// Normalize returns the bytes that such a file holds once data was written to it. Errors: ErrContent.
	Normalize(data []byte) ([]byte, error)
	// Merge makes of the file at rel what somebody who had read base made of that: data. What
	// others have changed there since stays.
	Merge(ctx context.Context, rel string, base, data []byte) (Stamp, error)
}

// MergerOf returns s if it merges what is written to the file at rel, else nil.
func MergerOf(s Source, rel string) FileMerger {
	if m, ok := s.(FileMerger); ok && m.CanMerge(rel) {
		return m
	}
	return nil
}

// Permissions is a Source whose files and folders have permission bits.
type Permissions interface {
	// Chmod sets those of what is at rel, and returns the stamp that it has then.
	Chmod(ctx context.Context, rel string, mode fs.FileMode) (Stamp, error)
}

// ReadOnlyReporter is a Source that may turn read-only while it is served: its disk is
// remounted, its permission revoked.
type ReadOnlyReporter interface {
	// ReadOnlyErr says why nothing can be written now, with an ErrReadOnly; nil if it can.
	// It is asked often.
	ReadOnlyErr() error
}

// ReadOnlyErrOf says why s takes no changes, nil if it does.
func ReadOnlyErrOf(s Source) error {
	if lock, ok := s.(ReadOnlyReporter); ok {
		return lock.ReadOnlyErr()
	}
	return nil
}

// MisnamedReporter is a Source that knows which files it does not serve because their names are not UTF-8.
type MisnamedReporter interface {
	Misnamed() []string // sorted paths
}

// ProblemReporter is a Source or a Store that knows what does not work now.
type ProblemReporter interface {
	// Problems returns what does not work now, the oldest first. What failed last is tried
	// again, where that changes nothing.
	Problems() []Problem
}

// Problem is a thing of which the last attempt has failed. It is over with the next success.
type Problem struct {
	About string `json:"about"` // the thing: one of the constants, or the name of a document at the server
	// Text says what fails, where, and what to do.
	Text string `json:"text"`
	// Since is when the first attempt failed.
	Since time.Time `json:"since"`
}

// What a Problem may be about.
const (
	AboutStore       = "store"       // changes are kept on this machine
	AboutFiles       = "files"       // the vault's disk takes what is written
	AboutCheckpoint  = "checkpoint"  // the store's file keeps up with its log
	AboutDamage      = "damage"      // the store can be read
	AboutConnection  = "connection"  // to the server
	AboutReports     = "reports"     // of the server, which notes have changed
	AboutAttachments = "attachments" // all of them are here
)

// ProblemsOf returns what does not work now of a Source or a Store.
func ProblemsOf(part any) []Problem {
	if t, ok := part.(ProblemReporter); ok {
		return t.Problems()
	}
	return nil
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
	Device, Inode  uint64
	Size           int64
	ModTime, CTime int64 // Unix nanoseconds
	Birth          int64 // when the file was made, likewise; 0 where the disk does not say
}

// IsFile says whether two stamps are of one file, whatever it held and was called. The number of a file that was deleted
// is given out again, on many disks to the next one that is made: the time of birth tells them apart.
func (s Stamp) IsFile(other Stamp) bool {
	return s.Inode != 0 && s.Inode == other.Inode && s.Birth == other.Birth && (s.Birth != 0 || s.Device == other.Device)
}

// SameFile says whether two stamps are of one state of a file, which may have been renamed
// between: that changes its time of change and nothing else.
func (s Stamp) SameFile(other Stamp) bool {
	s.CTime, other.CTime = 0, 0
	return s == other
}

// Next is the modification time of a file that takes the place of the one with this stamp, t
// if that is later: by their times the states of a note are told apart.
func (s Stamp) Next(t time.Time) time.Time {
	if least := time.Unix(0, s.ModTime+1); t.Before(least) {
		return least
	}
	return t
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
// next to the text. Its paths are relative to the source. Methods may be called from several goroutines. After an error nothing
// of that call has been kept.
type Store interface {
	// DocID returns the document kept under p, or fs.ErrNotExist.
	DocID(p Path) (DocID, error)
	// DocsOf returns the documents that may be that of a file, with the paths that they are kept under: those whose
	// file was this one when the store last knew it, then those whose file held a text of that sum. It is asked seldom.
	DocsOf(file Stamp, sum ContentSum) ([]KeptDoc, error)
	// Load returns everything kept for id, oldest first; an unknown id gives an
	// empty History.
	Load(id DocID) (History, error)
	// Append keeps recs, all or none, for the document id, which lives at p, and
	// returns the sequence number of the last one. They outlive the process when
	// Append returns, and a power cut a moment later; records that are journalled
	// or Unsent, of which the source has no copy, outlive a power cut at once. Calls
	// for one document come one at a time.
	Append(id DocID, p Path, recs ...Record) (seq uint64, err error)
	// Materialized notes that the source's file holds the text as of seq, whose
	// fingerprint is sum, and that no power cut takes that from it. It is kept soon, not durably: the
	// file itself is the proof. Records up to seq may from now on be compacted.
	Materialized(id DocID, seq uint64, sum ContentSum)
	// Rename moves every document at or below oldPath, durably.
	Rename(oldPath, newPath Path) error
	// End moves every document at or below p to where ended ones are (Path.Ended). It outlives the process, and a power cut a
	// moment later: if it is lost, the file at p decides.
	End(p Path) error
	// Forget takes the document id out for good, with its history and its entries in
	// the journal, durably. An unknown id is no error.
	Forget(id DocID) error
	// Abort takes back the records of a document from number seq on: what they say did
	// not happen. A document of which no record remains is unknown. It is durable when
	// Abort returns.
	Abort(id DocID, seq uint64) error
	// Unsettled are the paths of documents whose source's file may lack their newest text.
	Unsettled() ([]Path, error)
	// Past returns what is known of the states of a document.
	Past(id DocID) (Past, error)
	// Sync returns when everything that was appended outlives a power cut.
	Sync() error
	// Place notes that the source's file is about to hold the text as of seq; the zero Save, that it is
	// not.
	Place(id DocID, seq uint64, save Save) error
	// Journal returns the newest journalled records, newest first, at most limit.
	Journal(limit int) ([]JournalEntry, error)
	// Proposals returns the pending proposals in the order in which they were made.
	Proposals() ([]ProposalRecord, error)
	// SessionNote returns the newest one of a session that was journalled, the zero one if there is none.
	SessionNote(session string) SessionNote
	// Propose changes the pending proposals and adds to the journal what was
	// decided on them, and told of sessions: all of it or nothing, durably.
	Propose(ProposalChange) error
}

// KeptDoc is a document and where a Store keeps it, "" if nowhere.
type KeptDoc struct {
	ID   DocID
	Path Path
}

// NodeKind says what a path names.
type NodeKind uint8

const (
	KindDir  NodeKind = iota // a Folder or a folder in it
	KindNote                 // a Markdown document
	KindFile                 // anything else, served byte for byte
	KindLink                 // a symbolic link, whatever its name, see bridge/namespace/internal/tree
)

// NodeKind is what the entry is a node of.
func (e *SourceEntry) Kind() NodeKind {
	if e.Link != "" {
		return KindLink
	}
	return KindOf(path.Base(e.Rel), e.Dir)
}

func KindOf(name string, dir bool) NodeKind {
	switch {
	case dir:
		return KindDir
	case Path(name).IsNote():
		return KindNote
	}
	return KindFile
}
