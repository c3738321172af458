package reviewqueue

import (
	"os/user"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Change names the paths that changed between two states of a workspace.
type Change struct {
	Now   uint64   `json:"now"`   // number of the newer state
	Paths []string `json:"paths"` // notes or folders; "" is the whole workspace
}

// Pending is a short list of the suggestions at or below some paths. Suggestions in notes come without texts and lines,
// which Note has. All proposals are in it, wherever they are.
type Pending struct {
	Suggestions []Suggestion `json:"suggestions"`
	Commented   []string     `json:"commented"` // notes with comments
}

// DecideRequest is the JSON of a decision. With model.Changed, Text replaces the new text of the one suggestion.
type DecideRequest struct {
	IDs     []string          `json:"ids,omitempty"` // only with Unseen; else the keys of Shown
	Verdict model.Verdict     `json:"verdict"`
	Text    string            `json:"text,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Force   bool              `json:"force,omitempty"`  // also stale proposals, and folders that Relay's plugin shares
	Unseen  bool              `json:"unseen,omitempty"` // decide by ID alone, as command lines do
	Shown   map[string]string `json:"shown,omitempty"`  // revisions by ID, as shown; if one has changed, nothing is decided
}

// UndoRequest is the JSON of an undo: of a batch, the newest batch, or a session. With IDs, it undoes the newest decision on
// each of these suggestions, or the one in Batch.
type UndoRequest struct {
	Batch   string   `json:"batch,omitempty"`
	IDs     []string `json:"ids,omitempty"` // IDs or their beginnings
	Session string   `json:"session,omitempty"`
	Newest  bool     `json:"newest,omitempty"`
}

// ManyAtOnce is the number of suggestions that are decided together without a confirmation.
const ManyAtOnce = 10

// MaxReason bounds a reason in bytes: the journal repeats it for each note.
const MaxReason = 1000

// OneLineReason puts a typed or pasted reason on one line.
func OneLineReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

// Imperative returns "Accept" for model.Accepted, and so on.
func Imperative(v model.Verdict) string {
	verb := strings.TrimSuffix(string(v), "ed")
	return strings.ToUpper(verb[:1]) + verb[1:]
}

// reviewer returns the author of decisions and comments: the user of this machine, whatever a request says.
func reviewer() model.Author {
	var a model.Author
	if u, err := user.Current(); err == nil {
		a.Name = u.Username
	}
	return a
}

// Conflict is the error of a request that does not fit the current state.
type Conflict string

func (c Conflict) Error() string { return string(c) }
