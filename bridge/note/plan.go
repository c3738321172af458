package note

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/note/internal/planner"
	"github.com/relayfs/relayfs/diffwrap"
)

// Plan is how the raw text of a note changes, and what the record of that tells. A Change computes one.
type Plan = planner.Plan

// Outcome is what a person made of a suggestion.
type Outcome = attribution.Outcome

// Layout has the marks of a version and who made them.
type Layout = attribution.Layout

// ErrNoteGone refuses an undo in a note that does not exist any more.
var ErrNoteGone = planner.ErrNoteGone

// Decide plans a decision on suggestions of the current version. With instead, which makes
// something else of what the only one proposes, that stands in the place of it.
func Decide(cur *model.Version, x *Layout, chosen []model.Suggestion, d model.Decision, instead []diffwrap.Edit) Plan {
	return planner.Decide(cur, x, chosen, d, instead)
}

// Amend returns the edits that make text of what the suggestion proposes: where the
// suggestion stood, since acceptance changes nothing before that. What both have in common
// is accepted, the rest rejected.
func Amend(cur *model.Version, s model.Suggestion, text string) ([]diffwrap.Edit, error) {
	return planner.Amend(cur, s, text)
}

// Remark plans a person's comment at an offset of the marked text.
func Remark(cur *model.Version, at int, text string, dialect diffwrap.Dialect, d model.Decision) (Plan, error) {
	return planner.Remark(cur, at, text, dialect, d)
}

// Resolve plans the removal of a thread. pending has those of its comments that wait for a person.
func Resolve(cur *model.Version, x *Layout, t model.Thread, pending []model.Suggestion, d model.Decision) Plan {
	return planner.Resolve(cur, x, t, pending, d)
}

// FrontMatterChange names by place what turns one front matter block into another.
func FrontMatterChange(before, after string) *model.FrontMatterChange {
	return planner.FrontMatterChange(before, after)
}

// Renamed returns the suggestions of a note that is at p now.
func Renamed(list []model.Suggestion, p model.Path) []model.Suggestion {
	return attribution.Renamed(list, p)
}

// RenamedThreads returns the threads of a note that is at p now.
func RenamedThreads(list []model.Thread, p model.Path) []model.Thread {
	return attribution.RenamedThreads(list, p)
}
