package model

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// ContentsName is the root Text of a document that holds a note's raw text, as the
// Relay data model names it.
const ContentsName = "contents"

// Documents is a Source whose notes are live documents, which peers change at
// any time. The source keeps everything
// that it receives, and what Change makes, in the Folder's Store. It reports
// EventChanged for what peers did.
type Documents interface {
	// Document returns the note's document. For one that was never fetched it
	// waits, within a bound, and then fails with ErrNotFetched.
	Document(ctx context.Context, rel string) (Document, error)

	// NewDocument makes a new note with what fn puts into its empty document, and
	// keeps that as Document.Change does. Missing parent folders are made.
	// fs.ErrExist if the name is taken.
	NewDocument(ctx context.Context, rel string, rec *Record, fn func(*ycrdt.Doc) error) (Document, error)
}

// Document is one live document. It stays valid over renames and evictions.
type Document interface {
	// ID is the document's name in the Store.
	ID() DocID

	// View calls fn with the document, which does not change until fn returns.
	View(ctx context.Context, fn func(doc *ycrdt.Doc, modTime time.Time) error) error

	// Change calls fn, which may change the document, and keeps what it did: as rec,
	// whose Seq, Update, Client, Clock and Len it fills in and fn the rest, in the Store, durably, and
	// then on its way to the peers. An error of fn, which has changed nothing then,
	// is returned unchanged. After any error the document is as it was. ErrReadOnly
	// if the peers would not take a change.
	Change(ctx context.Context, rec *Record, fn func(*ycrdt.Doc) error) error
}

// SyncStatus says how far a Source and its server are in step.
type SyncStatus struct {
	Server    string `json:"server"`
	Connected bool   `json:"connected"`
	// Unsent are the documents with changes that the server has not acknowledged.
	Unsent int `json:"unsent"`
	// Unfetched are the notes that are known by name only.
	Unfetched int `json:"unfetched"`
	// Queued are the documents that wait for their turn to be compared with the server's.
	Queued   int  `json:"queued"`
	ReadOnly bool `json:"readOnly,omitempty"` // the server takes no changes
	// Hidden are the paths of what is not shown because its name holds control
	// characters: a user has to give it another one on the server.
	Hidden []string `json:"hidden,omitempty"`
	// LastError says why there is no connection, or what the server refused, and
	// what to do about it.
	LastError string `json:"lastError,omitempty"`
	// Warnings say what relayfs costs the server's other clients, and what to do about it.
	Warnings []string `json:"warnings,omitempty"`
	// SilentSince is since when nothing has come from the server, if it is connected and an
	// answer is overdue. After some more seconds it counts as not connected.
	SilentSince time.Time `json:"silentSince,omitzero"`
	Synced      time.Time `json:"synced,omitzero"` // when both were last known to be in step
	// Compared is when that note was compared with the server which was compared longest ago, of
	// those that were since the process began. Uncompared is how many were not.
	Compared   time.Time `json:"compared,omitzero"`
	Uncompared int       `json:"uncompared,omitempty"`
}

// Syncer is a Source that is in step with a server.
type Syncer interface {
	SyncStatus() SyncStatus
	// Opened has the note at rel compared with the server's in the background, since somebody
	// opens it and it may have changed without a sign.
	Opened(rel string)
	// Attempted waits until it is known whether the server can be reached, within a
	// bound of some seconds.
	Attempted(ctx context.Context)
	// Acknowledged waits until the server has all of the note at rel, within a bound
	// of some seconds, and says whether it has. It does not wait for a server that
	// is not connected.
	Acknowledged(ctx context.Context, rel string) bool
}

// noWaitKey marks a context whose holder takes what is there.
type noWaitKey struct{}

// WithoutBlocking is ctx for a caller that takes what is there.
func WithoutBlocking(ctx context.Context) context.Context {
	return context.WithValue(ctx, noWaitKey{}, true)
}

// MayBlock says whether a Source is to wait, within its bound, for what it has yet
// to fetch. Indexes do not wait: they hear of it when it is there.
func MayBlock(ctx context.Context) bool { return ctx.Value(noWaitKey{}) == nil }

type progressKey struct{}

// WithProgress has long operations under ctx say how many of how many notes they
// have read. report is called often, on the caller's goroutine.
func WithProgress(ctx context.Context, report func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ProgressOf is what WithProgress was given, or a function that does nothing.
func ProgressOf(ctx context.Context) func(done, total int) {
	if report, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return report
	}
	return func(int, int) {}
}
