package reviewqueue

import (
	"os/user"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

type Change struct {
	Now   uint64   `json:"now"`   // number of the newer state
	Paths []string `json:"paths"` // notes or folders; "" is the whole workspace
}

// Pending is a short list of the suggestions at or below some paths. Suggestions in notes have no texts and lines here;
// Note has them. All proposals are included, independent of their paths.
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
	Force   bool              `json:"force,omitempty"`  // allow stale proposals, and folders that Relay's plugin shares
	Unseen  bool              `json:"unseen,omitempty"` // decide by ID alone, as on the command line
	Shown   map[string]string `json:"shown,omitempty"`  // revisions by ID, as shown; if one has changed, nothing is decided
}

// UndoRequest is the JSON of an undo: of a batch, the newest batch, or a session. With IDs, it undoes the newest
// decision on each of these suggestions, or the decision in Batch.
type UndoRequest struct {
	Batch   string   `json:"batch,omitempty"`
	IDs     []string `json:"ids,omitempty"` // IDs or their beginnings
	Session string   `json:"session,omitempty"`
	Newest  bool     `json:"newest,omitempty"`
}

// ManyAtOnce is the maximum number of suggestions that are decided together without a confirmation.
const ManyAtOnce = 10

// MaxReason is the maximum length of a reason in bytes: the journal repeats it for each note.
const MaxReason = 1000

func OneLineReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

func Imperative(v model.Verdict) string {
	verb := strings.TrimSuffix(string(v), "ed")
	return strings.ToUpper(verb[:1]) + verb[1:]
}

// reviewer returns the author of decisions and comments: always the user of this machine.
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
