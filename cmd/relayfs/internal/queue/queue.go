// Package queue is the review queue of a workspace: what is pending, decisions on it and
// what they did, in the form that commands, other processes and the review page share.
// It prints nothing, but it has the words for each suggestion.
package queue

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
)

// Queue is the review queue of a workspace: a running owner's, or that of one
// which this process opened.
type Queue interface {
	// List returns the pending suggestions; detailed ones have their context.
	List(ctx context.Context, detailed bool) ([]Suggestion, error)
	Decide(ctx context.Context, r DecideRequest) (Outcome, error)
	Undo(ctx context.Context, r UndoRequest) (Outcome, error)
	Log(ctx context.Context, limit int) ([]LogEntry, error)
	// Changed returns when the workspace is in another state than seen names, or
	// after a while, and names the state then.
	Changed(ctx context.Context, seen uint64) (uint64, error)
}

// DecideRequest asks for a decision. With Text the one suggestion named becomes
// that text instead of what it proposed, and Verdict is model.Changed.
type DecideRequest struct {
	IDs     []string      `json:"ids"`
	Verdict model.Verdict `json:"verdict"`
	Text    string        `json:"text,omitempty"`
	By      string        `json:"by"`
	Reason  string        `json:"reason,omitempty"`
	Force   bool          `json:"force,omitempty"` // accept stale proposals, too
	// Shown has the revision in which each was shown. If it is given, all is decided
	// as it was shown, or nothing.
	Shown map[string]string `json:"shown,omitempty"`
}

// UndoRequest asks to take a batch back, the newest if it is "".
type UndoRequest struct {
	Batch string `json:"batch"`
	By    string `json:"by"`
}
