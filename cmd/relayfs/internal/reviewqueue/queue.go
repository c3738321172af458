package reviewqueue

import (
	"os/user"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

type Change struct {
	Now   uint64   `json:"now"`   // number of the state after the change
	Paths []string `json:"paths"` // notes or folders that have changed; "" means the whole workspace
}

// Pending is a short list of the suggestions at or below some paths. Suggestions in notes have no texts and lines here,
// except link updates that belong to a rename; the type Note has the texts and lines. Pending also includes all
// proposals, whatever their paths are.
type Pending struct {
	Suggestions []Suggestion `json:"suggestions"`
	Commented   []string     `json:"commented"` // notes with comments
}

// DecideRequest is the JSON of a decision. If the verdict is model.Changed, the request names exactly one suggestion,
// and Text replaces the new text of that suggestion.
type DecideRequest struct {
	IDs     []string          `json:"ids,omitempty"` // only with Unseen; otherwise the keys of Shown are the IDs
	Verdict model.Verdict     `json:"verdict"`
	Text    *string           `json:"text,omitempty"` // required for model.Changed
	Reason  string            `json:"reason,omitempty"`
	Force   bool              `json:"force,omitempty"`  // allows stale proposals, and folders that Relay's plugin shares
	Unseen  bool              `json:"unseen,omitempty"` // decides by ID alone, as on the command line
	Shown   map[string]string `json:"shown,omitempty"`  // shown revisions by ID; if one has changed, the request fails
}

// UndoRequest is the JSON of an undo. It undoes the decisions of a batch or of the newest batch. If there are IDs, it
// undoes only the decisions on these suggestions: the decision in Batch or, without Batch, the newest decision on each
// suggestion. With Session it instead rejects everything that is pending from an agent's session, and undoes its
// changes of front matter.
type UndoRequest struct {
	Batch   string   `json:"batch,omitempty"`
	IDs     []string `json:"ids,omitempty"` // IDs of suggestions, or the beginnings of IDs
	Session string   `json:"session,omitempty"`
	Newest  bool     `json:"newest,omitempty"`
}

// ManyAtOnce is the maximum number of suggestions that are decided together without a confirmation.
const ManyAtOnce = 10

// MaxReason is the maximum length of a reason in bytes. It is short because the journal repeats the reason for each
// note.
const MaxReason = 1000

func OneLineReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

func Imperative(v model.Verdict) string {
	verb := strings.TrimSuffix(string(v), "ed")
	return strings.ToUpper(verb[:1]) + verb[1:]
}

// reviewer returns the user of this machine, who is always the author of decisions and comments.
func reviewer() model.Author {
	var a model.Author
	if u, err := user.Current(); err == nil {
		a.Name = u.Username
	}
	return a
}

type Conflict string

func (c Conflict) Error() string { return string(c) }
