// Package reviewqueue is the review queue of a workspace: what is pending, decisions and their outcomes, in the form that
// package api serves. It prints nothing, but it has the words for each suggestion.
package reviewqueue

import (
	"os/user"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Change says where something has changed between two states of a workspace.
type Change struct {
	Now   uint64   `json:"now"`   // the state that is seen with it
	Paths []string `json:"paths"` // notes or folders; "" is everywhere
}

// Pending is the JSON of what waits for a person at or below some paths, for a list: suggestions in notes have no texts
// and lines, which Note has. Proposals are all of them, wherever they are.
type Pending struct {
	Suggestions []Suggestion `json:"suggestions"`
	Commented   []string     `json:"commented"` // notes with comments
}

// DecideRequest asks for a decision. With model.Changed, Text replaces the proposal of the one suggestion.
type DecideRequest struct {
	IDs     []string      `json:"ids,omitempty"` // only with Unseen; else they are those shown
	Verdict model.Verdict `json:"verdict"`
	Text    string        `json:"text,omitempty"`
	By      string        `json:"-"` // the user of this machine, whatever a request says
	Reason  string        `json:"reason,omitempty"`
	Force   bool          `json:"force,omitempty"` // accept stale proposals, too
	// Unseen says that the ids alone name what is decided on, as a command line does.
	Unseen bool `json:"unseen,omitempty"`
	// Shown has the revision of each suggestion as it was shown. If one has changed, none is decided.
	Shown map[string]string `json:"shown,omitempty"`
}

// UndoRequest asks to undo a batch, the newest one, or all that a session did. With IDs it is the newest decision on
// each of these suggestions, or the one of the batch.
type UndoRequest struct {
	Batch   string   `json:"batch,omitempty"`
	IDs     []string `json:"ids,omitempty"` // or beginnings of ids
	Session string   `json:"session,omitempty"`
	Newest  bool     `json:"newest,omitempty"`
	By      string   `json:"-"` // the user of this machine, whatever a request says
}

// ManyAtOnce is how many suggestions are decided at once without asking.
const ManyAtOnce = 10

// MaxReason bounds a reason in bytes, because every note's entry in the journal has it.
const MaxReason = 1000

// OneLineReason returns a reason that was typed or pasted, on one line.
func OneLineReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

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

// Conflict is the error of a request that does not fit the present state.
type Conflict string

func (c Conflict) Error() string { return string(c) }
