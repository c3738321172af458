package model

import (
	"context"
	"io"
	"io/fs"
	"path"
	"time"
)

// Source is the origin of one root's documents. Paths are relative to the root, separated by '/', not empty, and
// checked by CleanPath. Methods are safe for concurrent use. Errors wrap the sentinels of this package and of io/fs.
type Source interface {
	// Scan reports all served contents, parents before children. It returns ErrOffline for a missing or unreadable
	// root.
	Scan(ctx context.Context, found func(SourceEntry)) error

	// Read returns the bytes of a note and their stamp. The bytes belong to the caller. If a save is in
	// progress, Read waits for its end, but only for a limited time.
	Read(ctx context.Context, rel string) ([]byte, Stamp, error)

	// Replace atomically replaces the content of rel with r.Data if the content still has the stamp r.IfMatch.
	// Otherwise it returns ErrConflict. When Replace returns, the change survives a crash of the process. After a power
	// cut and a Scan the file has one of the two contents completely; once r.OnDurable was called, it has the new
	// content.
	Replace(ctx context.Context, rel string, r Replacement) (Stamp, error)

	// Run watches the source until ctx ends, and then returns nil. It reports each settled change by others, but not
	// changes by Replace and the methods of Structure.
	Run(ctx context.Context, changed func(SourceEvent)) error
}

// Replacement is the new content of a note or another file.
type Replacement struct {
	IfMatch Stamp // stamp of the present content
	Data    []byte
	ModTime time.Time // modification time of the new file
	// Sync requires that Data is on the disk before the rename, because the writer has synced its own copy.
	Sync bool
	// BeforeRename, unless nil, is called at most once, with the stamp that Data will have, except for CTime, which the
	// rename sets. If it returns an error, Replace changes nothing and returns that error unchanged.
	BeforeRename func(post Stamp) error
	// OnAbort, unless nil, is called before Replace returns an error, if BeforeRename has succeeded. If the process is
	// killed before this call, RenameChecker reports in the next process that Data did not get the name.
	OnAbort func()
	// OnDurable, unless nil, is called at most once, from any goroutine, after the new file has got its name, perhaps
	// before Replace returns. From then on a power cut cannot restore the old content. It is not called if the sync
	// fails.
	OnDurable func()
}

func (r *Replacement) Prepare(post Stamp) error {
	if r.BeforeRename == nil {
		return nil
	}
	return r.BeforeRename(post)
}

func (r *Replacement) Abort() {
	if r.OnAbort != nil {
		r.OnAbort()
	}
}

func (r *Replacement) Durable() {
	if r.OnDurable != nil {
		r.OnDurable()
	}
}

// RenameChecker is a Source that can determine which renames of the last process happened.
type RenameChecker interface {
	// Renamed reports whether the new file of a save got its name. ok is set if the source has evidence: it found the
	// replaced file, or the new file, under a temporary name. Until OnDurable or OnAbort both files exist, unless a
	// power cut removes one.
	Renamed(save Save) (placed, ok bool)
}

type Durable interface {
	// Sync returns when all changes at rel, or directly below it if it is a folder ("" for the root), survive a power
	// cut.
	Sync(ctx context.Context, rel string) error
}

// Structure is the part of a Source that creates, moves and removes files. Its operations are durable when they return,
// unless a sync fails.
type Structure interface {
	// Create creates a file and missing parent folders. It returns fs.ErrExist if the name is taken, and fs.ErrNotExist
	// if the folder file.Within does not exist.
	Create(ctx context.Context, rel string, file NewFile) (Stamp, error)
	Mkdir(ctx context.Context, rel string) error
	// Rename moves a file or a folder. It replaces an existing file only if replace is set, and never a folder.
	Rename(ctx context.Context, oldRel, newRel string, replace bool) error
	// Remove removes a file or an empty folder, recoverably if the source supports that (a vault's .trash). It returns
	// ErrNotEmpty for a folder with any contents, including files that Scan does not report.
	Remove(ctx context.Context, rel string) error
	// Hidden returns the names that Scan does not report: rel itself, or the names directly below rel if it is a
	// folder.
	Hidden(ctx context.Context, rel string) ([]string, error)
}

type NewFile struct {
	Within       string // Create creates folders only below this folder, which a user may just have moved away
	Data         []byte
	Mode         fs.FileMode
	ModTime      time.Time
	BeforeRename func(post Stamp) error // see Replacement
}

func (f *NewFile) Prepare(post Stamp) error {
	r := Replacement{BeforeRename: f.BeforeRename}
	return r.Prepare(post)
}

// Stater is a Source that can describe a single name. Callers need it because an event of Run may be older than the
// last change of names by this process.
type Stater interface {
	// Stat describes the file or folder at rel now, or returns fs.ErrNotExist.
	Stat(rel string) (SourceEntry, error)
}

// Namer is a Source that knows the names of its files.
type Namer interface {
	// PathOf returns the last path that Scan or Run has reported for the file, unless it has another file now.
	PathOf(file Stamp) (rel string, ok bool)
}

// Retractor is a Structure that can undo Create.
type Retractor interface {
	// Retract permanently deletes the new file at rel. If the file no longer has this stamp, or a program is about to
	// write to it, Retract changes nothing and returns ErrConflict. It returns fs.ErrNotExist if nothing is there.
	Retract(ctx context.Context, rel string, stamp Stamp) error
}

// Restorer is a Structure that keeps removed files.
type Restorer interface {
	// Restore gives a removed file the name rel. doc is the file's document, or "". stamp is the stamp that the file
	// had, except for changes by a rename. Restore returns fs.ErrNotExist if the source no longer keeps the file with
	// that content, and fs.ErrExist if the name is taken or a user has restored the file. A document that users may
	// have changed in the meantime is restored with their changes.
	Restore(ctx context.Context, rel string, doc DocID, stamp Stamp, data []byte) (SourceEntry, error)
}

type Linker interface {
	// MakeLink creates a symbolic link. It returns fs.ErrExist if the name is taken.
	MakeLink(ctx context.Context, rel, target string) (SourceEntry, error)
}

// Files is the part of a Source that serves files that are not notes, byte for byte.
type Files interface {
	OpenFile(rel string, flag int, perm fs.FileMode) (File, error)
	// PutFile atomically replaces the file at rel with a new file, and syncs it. Open handles keep the old file.
	PutFile(rel string, data []byte, perm fs.FileMode) (Stamp, error)
}

// ConfigReader is a Source that has Obsidian's configuration.
type ConfigReader interface {
	// ReadConfig returns a file of the configuration, such as "daily-notes.json", or fs.ErrNotExist.
	ReadConfig(name string) ([]byte, error)
}

type NameChecker interface {
	// CheckName returns an ErrBadName if no new file or folder can have the name, which is one path element. Existing
	// names are served as usual.
	CheckName(name string) error
}

// FileChecker is a Source that cannot keep every file.
type FileChecker interface {
	// CheckFile returns a *ReadOnlyError if nothing can be written to the file at rel, which is not a note.
	CheckFile(rel string) error
}

// FileMerger is a Source with files, other than notes, that several users may change concurrently.
type FileMerger interface {
	// CanMerge reports whether the file at rel is such a file, or would be one if it was created.
	CanMerge(rel string) bool
	// Normalize returns the bytes that such a file has after data was written to it, or ErrContent.
	Normalize(data []byte) ([]byte, error)
	// Merge applies the change from base to data to the file at rel. It keeps changes by others since base.
	Merge(ctx context.Context, rel string, base, data []byte) (Stamp, error)
}

func MergerOf(s Source, rel string) FileMerger {
	if m, ok := s.(FileMerger); ok && m.CanMerge(rel) {
		return m
	}
	return nil
}

type Permissions interface {
	// Chmod sets the permission bits, and returns the stamp afterwards.
	Chmod(ctx context.Context, rel string, mode fs.FileMode) (Stamp, error)
}

// ReadOnlyReporter is a Source that may become read-only while it is served: its disk may be remounted, or its
// permission revoked.
type ReadOnlyReporter interface {
	// ReadOnlyErr returns an ErrReadOnly with the reason if nothing can be written now. Callers call it often.
	ReadOnlyErr() error
}

func ReadOnlyErrOf(s Source) error {
	if lock, ok := s.(ReadOnlyReporter); ok {
		return lock.ReadOnlyErr()
	}
	return nil
}

// MisnamedReporter is a Source that lists the files that it does not serve because their names are not UTF-8.
type MisnamedReporter interface {
	Misnamed() []string // sorted paths
}

// ProblemReporter is a Source or a Store that reports current problems.
type ProblemReporter interface {
	// Problems returns the current problems, oldest first. It may first test whether a failed operation works again.
	Problems() []Problem
}

// Problem is an operation whose last attempt failed. The next success ends the problem.
type Problem struct {
	About string    `json:"about"` // one of the constants below, or the name of a document at the server
	Text  string    `json:"text"`  // what fails, where it fails, and the fix
	Since time.Time `json:"since"` // time of the first failed attempt
}

// These are values of Problem.About. Each comment is the condition that holds while there is no such problem.
const (
	AboutStore       = "store"       // changes are stored on this machine
	AboutFiles       = "files"       // the vault's disk accepts writes
	AboutCheckpoint  = "checkpoint"  // the checkpoint follows the log
	AboutDamage      = "damage"      // the store can be read
	AboutConnection  = "connection"  // the server can be reached
	AboutReports     = "reports"     // the server reports changed notes
	AboutAttachments = "attachments" // all attachments are on this machine
)

func ProblemsOf(part any) []Problem {
	if t, ok := part.(ProblemReporter); ok {
		return t.Problems()
	}
	return nil
}

type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Stat() (fs.FileInfo, error)
}

// Stamp identifies one state of a file's content: equal stamps mean equal bytes. The zero Stamp identifies nothing.
type Stamp struct {
	Device, Inode  uint64
	Size           int64
	ModTime, CTime int64 // Unix nanoseconds
	Birth          int64 // Unix nanoseconds; 0 if the disk does not record it
}

// IsFile reports whether two stamps belong to the same file, even if its content and name have changed. Disks reuse the
// inode of a deleted file, often for the next new file; the birth time distinguishes the two files if the disk records
// it.
func (s Stamp) IsFile(other Stamp) bool { return s.Inode != 0 && s.File() == other.File() }

// File returns the part of a stamp that identifies the file. It is zero if the stamp has no inode.
func (s Stamp) File() Stamp {
	switch {
	case s.Inode == 0:
		return Stamp{}
	case s.Birth == 0:
		return Stamp{Device: s.Device, Inode: s.Inode}
	}
	return Stamp{Inode: s.Inode, Birth: s.Birth}
}

// SameFile reports whether two stamps belong to the same state of a file. It ignores renames in between, which change
// only CTime.
func (s Stamp) SameFile(other Stamp) bool {
	s.CTime, other.CTime = 0, 0
	return s == other
}

// Next returns the modification time of a file that replaces this one. It is t if that is after s.ModTime. Otherwise it
// is one nanosecond after s.ModTime, because modification times distinguish the states of a note.
func (s Stamp) Next(t time.Time) time.Time {
	if least := time.Unix(0, s.ModTime+1); t.Before(least) {
		return least
	}
	return t
}

type SourceEntry struct {
	Rel   string
	Link  string // target of a symbolic link, relative to its folder
	Stamp Stamp
	Mode  fs.FileMode // permission bits
	Dir   bool
}

// SourceEvent is one change by others. Rel is "" for the root.
type SourceEvent struct {
	// Next, unless nil, returns the change, or false if there is none any more. The receiver calls Next while it holds the
	// names of the source, so that the change is not about names that the receiver has changed since.
	Next func() (SourceEvent, bool)

	Kind   EventKind
	Rel    string
	OldRel string      // only for EventRenamed
	Entry  SourceEntry // only for EventCreated, EventChanged and EventRenamed
}

// Store keeps the Yjs updates of one source's documents, and relayfs's own data about them. Paths are relative to the
// source. Methods are safe for concurrent use. A call that fails stores nothing, unless only its sync fails.
type Store interface {
	// DocID returns the document at p, or fs.ErrNotExist.
	DocID(p Path) (DocID, error)
	// DocPath returns the path of a document, or "" if it has none.
	DocPath(id DocID) (Path, error)
	// DocsOf returns candidates for the document of a file. First it lists the documents whose last known file has the
	// stamp, then the documents whose file had the given text, if it is not blank. It sets only ID and Path.
	DocsOf(file Stamp, raw string) ([]StoredDoc, error)
	// Located calls fn with each document that has a path, including those of removed notes (Path.Ended). fn must not
	// call the store.
	Located(fn func(StoredDoc)) error
	// Load returns everything stored for id, oldest first. It returns an empty History for an unknown id.
	Load(id DocID) (History, error)
	// Append stores recs, all or none, for the document id at p, and returns the number of the last record. The records
	// survive a crash of the process when Append returns, and a power cut a moment later. Records that are journalled
	// or Unsent survive a power cut when Append returns, because the source has no copy of them. Callers must not call
	// it concurrently for one document.
	Append(id DocID, p Path, recs ...Record) (seq uint64, err error)
	// RecordFileSeq records that the source's file, which has the given stamp, durably has the text as of record seq. sum
	// is the checksum of that text. The store writes this soon but not durably, because the file itself is the proof. The
	// store may then merge the updates of the records up to seq.
	RecordFileSeq(id DocID, seq uint64, sum ContentSum, file Stamp)
	// Rename moves every document at or below oldPath, durably.
	Rename(oldPath, newPath Path) error
	// Relocate moves documents to the given paths in one step, durably. Documents may exchange their paths.
	Relocate([]StoredDoc) error
	// End moves every document at or below p to the path for removed notes (Path.Ended). The move survives
	// a crash of the process at once, but a power cut only after a moment. If a power cut loses the move, relayfs
	// compares the document with the file at p after the next start.
	End(p Path) error
	// Abort durably deletes the records of a document from number seq on, because their changes did not happen. From
	// number 1 on, it deletes the document with its history and its journal entries. An unknown id is not an error.
	Abort(id DocID, seq uint64) error
	// Unsettled returns the paths of documents whose file in the source may lack their newest text.
	Unsettled() ([]Path, error)
	Revisions(id DocID) (RevisionHistory, error)
	// Sync returns when everything that was appended survives a power cut.
	Sync() error
	// RecordSave records that the source's file is about to get the text as of record seq. The zero Save records that
	// the file will not get that text.
	RecordSave(id DocID, seq uint64, save Save) error
	// UseSequence makes the store number new journal records with s. It first passes the numbers in its journal and
	// proposals to s. Before this call the store numbers nothing.
	UseSequence(s *Sequence) error
	// Journal returns at most limit of the newest journalled records, newest first. Callers must not change their data.
	Journal(limit int) ([]JournalEntry, error)
	// Proposals returns the pending proposals, oldest first.
	Proposals() ([]ProposalRecord, error)
	// SessionNote returns an agent's newest description of its session, or the zero SessionNote.
	SessionNote(session string) SessionNote
	// Propose changes the pending proposals. It also adds decisions on proposals and session notes to the journal. All
	// of this is durable and atomic.
	Propose(ProposalChange) error
}

type StoredDoc struct {
	ID   DocID
	Path Path
	// File is the last file that is known to have held a text of the document, and Sum the checksum of that text.
	File Stamp
	Sum  ContentSum
	// Saved is the file of the last save, if the store has no proof yet that this file got the name.
	Saved Stamp
}

type NodeKind uint8

const (
	KindDir  NodeKind = iota // a root or a folder in it
	KindNote                 // a Markdown document
	KindFile                 // anything else, served byte for byte
	KindLink                 // a symbolic link with any name; see bridge/namespace/internal/tree
)

func (k NodeKind) String() string { return [...]string{"folder", "note", "file", "link"}[k] }

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
