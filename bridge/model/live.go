package model

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// ContentsName is the name of a note's root Text in Relay's data model.
const ContentsName = "contents"

// Documents is a Source whose notes are live documents, which peers change at any time. It stores everything that it receives,
// and what Change makes, in the root's Store, and reports EventChanged for changes of peers.
type Documents interface {
	// Document returns the note's document. It waits for one that was never fetched, within a bound, and then returns
	// ErrNotFetched.
	Document(ctx context.Context, rel string) (Document, error)

	// NewDocument creates a note, and missing parent folders, with what fn puts into its empty document, and stores it as
	// Document.Change does. fs.ErrExist if the name is taken.
	NewDocument(ctx context.Context, rel string, rec *Record, fn func(*ycrdt.Doc) error) (Document, error)
}

// Document is one live document. It stays valid over renames and evictions.
type Document interface {
	// ID is the document's ID in the Store.
	ID() DocID

	// View calls fn with the document, which does not change until fn returns.
	View(ctx context.Context, fn func(doc *ycrdt.Doc, modTime time.Time) error) error

	// Change calls fn, which may change the document, stores the change durably as rec, and then sends it to the peers. fn
	// fills in rec except for Seq, Update, Client, Clock and Len. Change returns an error of fn, which must have changed
	// nothing, as it is. After any error the document is as before. ErrReadOnly if the peers would refuse the change.
	Change(ctx context.Context, rec *Record, fn func(*ycrdt.Doc) error) error
}

type SyncStatus struct {
	Server    string `json:"server"`
	Connected bool   `json:"connected"`
	Unsent    int    `json:"unsent"`             // documents with changes that the server has not acknowledged
	Unfetched int    `json:"unfetched"`          // notes that are known by name only
	Queued    int    `json:"queued"`             // documents that wait to be compared with the server's
	ReadOnly  bool   `json:"readOnly,omitempty"` // the server refuses changes
	// Hidden are paths that are not shown because of control characters in their names: the user has to rename them on the
	// server.
	Hidden []string `json:"hidden,omitempty"`
	// LastError is the reason for a lost connection or the server's refusal, with the fix.
	LastError string `json:"lastError,omitempty"`
	// Warnings are costs of relayfs for the server's other clients, with the fix.
	Warnings []string `json:"warnings,omitempty"`
	// SilentSince is the time of the server's last message if it is connected and an answer is overdue. Some seconds later the
	// connection counts as lost.
	SilentSince time.Time `json:"silentSince,omitzero"`
	Synced      time.Time `json:"synced,omitzero"` // last time without a known difference
	// Compared is the oldest time at which a note was last compared with the server's. Uncompared is the number of notes that
	// were not compared since the process started.
	Compared   time.Time `json:"compared,omitzero"`
	Uncompared int       `json:"uncompared,omitempty"`
}

type Syncer interface {
	SyncStatus() SyncStatus
	// Opened compares the note at rel with the server's in the background: it is being opened, and may have changed unnoticed.
	Opened(rel string)
	// Attempted waits, at most some seconds, until it is known whether the server can be reached.
	Attempted(ctx context.Context)
	// Acknowledged waits, at most some seconds, until the server has acknowledged the note at rel, and reports whether it
	// has. It does not wait for a server that is not connected.
	Acknowledged(ctx context.Context, rel string) bool
}

type noWaitKey struct{}

// WithoutBlocking returns a context whose operations use the data at hand instead of waiting for a server.
func WithoutBlocking(ctx context.Context) context.Context {
	return context.WithValue(ctx, noWaitKey{}, true)
}

// MayBlock reports whether a Source may wait, within its bound, for content that it has yet to fetch.
func MayBlock(ctx context.Context) bool { return ctx.Value(noWaitKey{}) == nil }

type progressKey struct{}

// WithProgress returns a context under which long operations call report, often and on the caller's goroutine, with the number
// of notes read and their total.
func WithProgress(ctx context.Context, report func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ProgressOf returns the function of WithProgress, or one that does nothing.
func ProgressOf(ctx context.Context) func(done, total int) {
	if report, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return report
	}
	return func(int, int) {}
}
