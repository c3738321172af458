package model

import (
	"context"
	"io"
	"io/fs"
	"path"
	"time"
)

// Source is the origin of one root's documents. Paths are relative to the root, '/'-separated, not empty, and checked by
// CleanPath. Methods are safe for concurrent use. Errors wrap the sentinels of this package and of io/fs.
type Source interface {
	// Scan reports all contents, parents before children. A missing or unreadable root is ErrOffline.
	Scan(ctx context.Context, found func(SourceEntry)) error

	// Read returns the bytes of a note, which are the caller's, and their stamp. It waits, within a bound, for a save under
	// way.
	Read(ctx context.Context, rel string) ([]byte, Stamp, error)

	// Replace atomically replaces the content of rel with r.Data if the content still has the stamp r.IfMatch; else it returns
	// ErrConflict. When Replace returns, the change survives the process. After a power cut and a Scan the file has one of the
	// contents completely; the new one is certain a moment later (Durable).
	Replace(ctx context.Context, rel string, r Replacement) (Stamp, error)

	// Run watches the source until ctx ends, and then returns nil. It reports each settled change by others, but not what
	// Replace and the methods of Structure did.
	Run(ctx context.Context, changed func(SourceEvent)) error
}

// Replacement is the new content of a note or another file.
type Replacement struct {
	IfMatch Stamp // of the present content
	// KnownText is the present content, "" if the caller does not have it.
	KnownText string
	Data      []byte
	ModTime   time.Time // of the new file
	// Sync requires that Data is on the disk before the rename: the writer has synced its own copy.
	Sync bool
	// BeforeRename, unless nil, is called once with the stamp that Data will have, except for CTime, which the rename
	// sets. If it returns an error, Replace changes nothing and returns that error unchanged.
	BeforeRename func(post Stamp) error
	// OnAbort, unless nil, is called before Replace returns an error, if BeforeRename has succeeded. Until then the next
	// process learns from RenameChecker that Data did not get the name.
	OnAbort func()
	// OnDurable, unless nil, is called once, from any goroutine, after Replace has succeeded and when a power cut cannot
	// restore the old content any more. It is not called if the sync fails.
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

// RenameChecker is a Source that knows which renames of the last process took place.
type RenameChecker interface {
	// Renamed reports whether the new file of a save got its name. known is set if one of the two files was found under the
	// other's name: until OnDurable or OnAbort both files exist, except for what a power cut takes.
	Renamed(save Save) (placed, ok bool)
}

type Durable interface {
	// Sync returns when everything that was done at rel, or directly below a folder ("" for the root), survives a power cut.
	Sync(ctx context.Context, rel string) error
}

// Structure is the part of a Source that creates, moves and removes. Operations are durable when they return.
type Structure interface {
	// Create creates a file and missing parent folders; fs.ErrExist if the name is taken.
	Create(ctx context.Context, rel string, file NewFile) (Stamp, error)
	Mkdir(ctx context.Context, rel string) error
	// Rename moves a file or a folder. It replaces an existing file only if replace is set, and never a folder.
	Rename(ctx context.Context, oldRel, newRel string, replace bool) error
	// Remove removes a file or an empty folder, recoverably if the source can (a vault's .trash). A folder with any contents,
	// including what Scan does not report, is ErrNotEmpty.
	Remove(ctx context.Context, rel string) error
	// Hidden returns the names at rel, or directly below a folder, that Scan does not report.
	Hidden(ctx context.Context, rel string) ([]string, error)
}

type NewFile struct {
	Data         []byte
	Mode         fs.FileMode
	ModTime      time.Time
	BeforeRename func(post Stamp) error // see Replacement
}

func (f *NewFile) Prepare(post Stamp) error {
	r := Replacement{BeforeRename: f.BeforeRename}
	return r.Prepare(post)
}

// Stater is a Source that can describe one name: an event of Run may be older than the last change of names made here.
type Stater interface {
	// Stat describes what is at rel now, or returns fs.ErrNotExist.
	Stat(rel string) (SourceEntry, error)
}

// Retractor is a Structure that can undo Create.
type Retractor interface {
	// Retract deletes the new file at rel for good. If it does not have this stamp any more, or a program is about to write to
	// it, it changes nothing and returns ErrConflict; fs.ErrNotExist if nothing is there.
	Retract(ctx context.Context, rel string, stamp Stamp) error
}

// Restorer is a Structure that keeps removed files.
type Restorer interface {
	// Restore gives a removed file the name rel. stamp is that of the file then, except for what a rename changes.
	// fs.ErrNotExist if it is not kept with that content any more, fs.ErrExist if the name is taken.
	Restore(ctx context.Context, rel string, stamp Stamp, data []byte) (SourceEntry, error)
}

type Linker interface {
	// MakeLink creates a symbolic link; fs.ErrExist if the name is taken.
	MakeLink(ctx context.Context, rel, target string) (SourceEntry, error)
}

// Files is the part of a Source that serves files that are not notes, byte for byte.
type Files interface {
	OpenFile(rel string, flag int, perm fs.FileMode) (File, error)
	// PutFile atomically replaces the file at rel by a new one, durably. Open handles keep the old file.
	PutFile(rel string, data []byte, perm fs.FileMode) (Stamp, error)
}

// ConfigReader is a Source that has Obsidian's configuration.
type ConfigReader interface {
	// ReadConfig returns a file of it, such as "daily-notes.json", or fs.ErrNotExist.
	ReadConfig(name string) ([]byte, error)
}

// NameChecker is a Source that refuses some names.
type NameChecker interface {
	// CheckName returns an ErrBadName if nothing new can have the name, one path element. Existing names are served as usual.
	CheckName(name string) error
}

// FileChecker is a Source that cannot keep every file.
type FileChecker interface {
	// CheckFile returns a *ReadOnlyError if nothing can be written to the file at rel, which is not a note.
	CheckFile(rel string) error
}

// FileMerger is a Source with files, other than notes, that several users may change concurrently.
type FileMerger interface {
	// CanMerge reports whether rel is, or would be, such a file.
	CanMerge(rel string) bool
	// Normalize returns the bytes that such a file has after data was written to it, or ErrContent.
	Normalize(data []byte) ([]byte, error)
	// Merge applies the change from base to data to the file at rel. Changes of others since base stay.
	Merge(ctx context.Context, rel string, base, data []byte) (Stamp, error)
}

// MergerOf returns s if it merges writes to the file at rel, else nil.
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

// ReadOnlyReporter is a Source that may become read-only while it is served: its disk is remounted, its permission revoked.
type ReadOnlyReporter interface {
	// ReadOnlyErr returns an ErrReadOnly with the reason if nothing can be written now. It is called often.
	ReadOnlyErr() error
}

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

// ProblemReporter is a Source or a Store that reports current problems.
type ProblemReporter interface {
	// Problems returns the current problems, oldest first. It repeats the last failed attempt if that changes nothing.
	Problems() []Problem
}

// Problem is an operation whose last attempt failed. The next success ends it.
type Problem struct {
	About string    `json:"about"` // one of the constants, or the name of a document at the server
	Text  string    `json:"text"`  // what fails, where, and the fix
	Since time.Time `json:"since"` // of the first failed attempt
}

// Values of Problem.About, by what works while there is no problem.
const (
	AboutStore       = "store"       // changes are stored on this machine
	AboutFiles       = "files"       // the vault's disk accepts writes
	AboutCheckpoint  = "checkpoint"  // the checkpoint follows the log
	AboutDamage      = "damage"      // reading the store
	AboutConnection  = "connection"  // the connection to the server
	AboutReports     = "reports"     // the server reports changed notes
	AboutAttachments = "attachments" // all attachments are here
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
	Birth          int64 // Unix nanoseconds; 0 where the disk does not record it
}

// IsFile reports whether two stamps are of one file, whatever its content and name. Disks reuse the inode of a deleted
// file, often for the next new one; the birth time distinguishes the two.
func (s Stamp) IsFile(other Stamp) bool {
	return s.Inode != 0 && s.Inode == other.Inode && s.Birth == other.Birth && (s.Birth != 0 || s.Device == other.Device)
}

// SameFile reports whether two stamps are of one state of a file, except for a rename in between, which changes only CTime.
func (s Stamp) SameFile(other Stamp) bool {
	s.CTime, other.CTime = 0, 0
	return s == other
}

// Next returns the modification time of a file that replaces this one: t, or the next later time, because times
// distinguish the states of a note.
func (s Stamp) Next(t time.Time) time.Time {
	if least := time.Unix(0, s.ModTime+1); t.Before(least) {
		return least
	}
	return t
}

type SourceEntry struct {
	Rel   string
	Dir   bool
	Link  string      // target of a symbolic link, relative to its folder
	Mode  fs.FileMode // permission bits
	Stamp Stamp
}

// SourceEvent is one change by others. Rel is "" for the root.
type SourceEvent struct {
	Kind   EventKind
	Rel    string
	OldRel string      // EventRenamed
	Entry  SourceEntry // EventCreated, EventChanged and EventRenamed
}

// Store keeps the Yjs updates of one source's documents, and relayfs's own data about them. Paths are relative to the source.
// Methods are safe for concurrent use. A call that fails has stored nothing.
type Store interface {
	// DocID returns the document at p, or fs.ErrNotExist.
	DocID(p Path) (DocID, error)
	// DocsOf returns candidates for the document of a file: first the documents whose last known file this is, then
	// those whose file had a text with this sum. It is called rarely.
	DocsOf(file Stamp, sum ContentSum) ([]StoredDoc, error)
	// Located returns all documents that have a path, including those of removed notes (Path.Ended).
	Located() ([]StoredDoc, error)
	// Load returns everything stored for id, oldest first; an empty History for an unknown id.
	Load(id DocID) (History, error)
	// Append stores recs, all or none, for the document id at p, and returns the number of the last one. They survive the
	// process when Append returns, and a power cut a moment later. Records that are journalled or Unsent, of which the
	// source has no copy, survive a power cut at once. Calls for one document come one at a time.
	Append(id DocID, p Path, recs ...Record) (seq uint64, err error)
	// RecordFileSeq records that the source's file durably has the text as of record seq; sum is the sum of that text.
	// The store writes this soon but not durably, because the file itself is the proof. Records up to seq may then be
	// compacted.
	RecordFileSeq(id DocID, seq uint64, sum ContentSum)
	// Rename moves every document at or below oldPath, durably.
	Rename(oldPath, newPath Path) error
	// End moves every document at or below p to where removed ones are (Path.Ended). It survives the process, and a power cut a
	// moment later: if it is lost, the file at p decides.
	End(p Path) error
	// Forget deletes the document id with its history and its journal entries, durably. An unknown id is no error.
	Forget(id DocID) error
	// Abort durably deletes the records of a document from number seq on, because their changes did not happen. A
	// document without records is unknown.
	Abort(id DocID, seq uint64) error
	// Unsettled returns the paths of documents whose file in the source may lack their newest text.
	Unsettled() ([]Path, error)
	Revisions(id DocID) (RevisionHistory, error)
	// Sync returns when everything that was appended survives a power cut.
	Sync() error
	// RecordSave records that the source's file is about to get the text as of seq; the zero Save, that it is not.
	RecordSave(id DocID, seq uint64, save Save) error
	// UseSequence makes the store number its journal with s, after the numbers of its journal and proposals. Until then it
	// numbers nothing.
	UseSequence(s *Sequence) error
	// Journal returns at most limit of the newest journalled records, newest first.
	Journal(limit int) ([]JournalEntry, error)
	// Proposals returns the pending proposals, oldest first.
	Proposals() ([]ProposalRecord, error)
	// SessionNote returns the newest note of a session, the zero one for none.
	SessionNote(session string) SessionNote
	// Propose changes the pending proposals, and adds decisions on them and session notes to the journal, durably and
	// atomically.
	Propose(ProposalChange) error
}

type StoredDoc struct {
	ID   DocID
	Path Path
}

type NodeKind uint8

const (
	KindDir  NodeKind = iota // a root or a folder in it
	KindNote                 // a Markdown document
	KindFile                 // anything else, served byte for byte
	KindLink                 // a symbolic link, whatever its name; see bridge/namespace/internal/tree
)

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
