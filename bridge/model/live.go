package model

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// ContentsName is the name of a note's root Text in Relay's data model.
const ContentsName = "contents"

// Documents is a Source whose notes are live documents, which peers may change at any time. It stores everything that
// it receives, and everything that Change writes, in the root's Store. It reports EventChanged for changes by peers.
type Documents interface {
	// Document returns the note's document. If the document was never fetched and MayBlock allows it, Document first
	// waits a limited time for it. It returns ErrNotFetched if there is still no document.
	Document(ctx context.Context, rel string) (Document, error)

	// NewDocument creates a note and missing parent folders. fn fills its empty document, which NewDocument stores like
	// Document.Change. It returns fs.ErrExist if the name is taken.
	NewDocument(ctx context.Context, rel string, rec *Record, fn func(*ycrdt.Doc) error) (Document, error)
}

// Document is one live document. It stays valid across renames and evictions.
type Document interface {
	// ID is the document's ID in the Store.
	ID() DocID

	// View calls fn with the document, which does not change until fn returns.
	View(ctx context.Context, fn func(doc *ycrdt.Doc, modTime time.Time) error) error

	// Change calls fn, which may change the document. It then stores the change durably as rec and sends it to the
	// peers. fn fills in rec except for Seq, Update, Client, Clock and Len. If fn returns an error, fn must have
	// changed nothing, and Change returns that error unchanged. After an error the document is unchanged, unless only
	// the sync of the Store has failed. Change returns ErrReadOnly if the peers would refuse the change.
	Change(ctx context.Context, rec *Record, fn func(*ycrdt.Doc) error) error
}

type SyncStatus struct {
	Server    string `json:"server"`
	Connected bool   `json:"connected"`
	Unsent    int    `json:"unsent"`             // number of documents with changes that the server has not acknowledged
	Unfetched int    `json:"unfetched"`          // number of notes of which only the name has been fetched
	Queued    int    `json:"queued"`             // number of documents that wait for a comparison with the server
	ReadOnly  bool   `json:"readOnly,omitempty"` // the server refuses changes
	// Hidden are paths that are not shown because their names have control characters. The user has to rename them on
	// the server.
	Hidden []string `json:"hidden,omitempty"`
	// LastError is the reason why the connection was lost or the server refused it, with the fix.
	LastError string `json:"lastError,omitempty"`
	// Warnings are disadvantages that relayfs causes for the server's other clients, with the fix.
	Warnings []string `json:"warnings,omitempty"`
	// SilentSince is the time of the server's last message if the connection exists and an answer is overdue. Some
	// seconds later the connection counts as lost.
	SilentSince time.Time `json:"silentSince,omitzero"`
	Synced      time.Time `json:"synced,omitzero"` // last time when no difference from the server was known
	// Compared is the time of the last comparison with the server for the note that was compared longest ago.
	// Uncompared is the number of notes that were not compared since the process started.
	Compared   time.Time `json:"compared,omitzero"`
	Uncompared int       `json:"uncompared,omitempty"`
}

type Syncer interface {
	SyncStatus() SyncStatus
	// Opened may compare the note at rel with the server's copy, in the background. Call it when the note is opened,
	// because the note may have changed without an event.
	Opened(rel string)
	// Attempted waits, at most some seconds, until an attempt to reach the server has succeeded or failed.
	Attempted(ctx context.Context)
	// Acknowledged waits, for some seconds at most, until the server has acknowledged the note at rel. It reports
	// whether the server has. It does not wait for a server that is not connected.
	Acknowledged(ctx context.Context, rel string) bool
}

type noWaitKey struct{}

// WithoutBlocking returns a context whose operations use the data that is available instead of waiting for a server.
func WithoutBlocking(ctx context.Context) context.Context {
	return context.WithValue(ctx, noWaitKey{}, true)
}

// MayBlock reports whether a Source may wait a limited time for content that it has not fetched yet.
func MayBlock(ctx context.Context) bool { return ctx.Value(noWaitKey{}) == nil }

type progressKey struct{}

// WithProgress returns a context under which long operations call report with the number of notes read and their total
// number. They call it often and on the caller's goroutine.
func WithProgress(ctx context.Context, report func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ProgressOf returns the function of WithProgress. If there is none, it returns a function that does nothing.
func ProgressOf(ctx context.Context) func(done, total int) {
	if report, ok := ctx.Value(progressKey{}).(func(done, total int)); ok {
		return report
	}
	return func(int, int) {}
}
