// Package queue is the review queue of a workspace: what is pending, decisions and their outcomes, in the
// form that commands, other processes and the review page share. It prints nothing, but it has the words for
// each suggestion.
package queue

import (
	"context"
	"os/user"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Queue is the review queue of a workspace.
type Queue interface {
	// List returns the pending suggestions; detailed ones have their context.
	List(ctx context.Context, detailed bool) ([]Suggestion, error)
	Decide(ctx context.Context, r DecideRequest) (Outcome, error)
	Undo(ctx context.Context, r UndoRequest) (Outcome, error)
	Log(ctx context.Context, limit int) ([]LogEntry, error)
	// Changed returns a number for the state of the workspace: when that is not seen, or after a while.
	Changed(ctx context.Context, seen uint64) (uint64, error)
}

// DecideRequest asks for a decision. With model.Changed, Text replaces the proposal of the one suggestion.
type DecideRequest struct {
	IDs     []string      `json:"ids"`
	Verdict model.Verdict `json:"verdict"`
	Text    string        `json:"text,omitempty"`
	By      string        `json:"by"`
	Reason  string        `json:"reason,omitempty"`
	Force   bool          `json:"force,omitempty"` // accept stale proposals, too
	// Shown has the revision of each suggestion as it was shown. If one has changed, none is decided.
	Shown map[string]string `json:"shown,omitempty"`
}

// UndoRequest asks to undo a batch, the newest if it is "".
type UndoRequest struct {
	Batch string `json:"batch"`
	By    string `json:"by"`
}

// ManyAtOnce is how many suggestions are decided at once without asking.
const ManyAtOnce = 10

// MaxReason bounds a reason in bytes, because every note's entry in the journal has it.
const MaxReason = 1000

// TidyReason returns a reason that was typed or pasted, on one line.
func TidyReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

// Imperative returns the first word of a question about a verdict.
func Imperative(v model.Verdict) string {
	verb := strings.TrimSuffix(string(v), "ed")
	return strings.ToUpper(verb[:1]) + verb[1:]
}

// Reviewer returns the name of the person who decides: the user's, whatever name agents have.
func Reviewer() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
