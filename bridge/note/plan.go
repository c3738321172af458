package note

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/note/internal/planner"
	"github.com/relayfs/relayfs/diffwrap"
)

// Plan has the edits of a note's raw text and the metadata of their record. The Plan function of a Change computes one.
type Plan = planner.Plan

// Outcome is a user's decision on a suggestion.
type Outcome = attribution.Outcome

// Layout has the marks of a version and their authors.
type Layout = attribution.Layout

var ErrNoteGone = planner.ErrNoteGone

// Decide plans a decision on suggestions of the current version. If instead is not nil, it has edits of the proposed
// text, and chosen must have exactly one suggestion.
func Decide(current *model.Version, x *Layout, chosen []model.Suggestion, d model.Decision, instead []diffwrap.Edit) Plan {
	return planner.Decide(current, x, chosen, d, instead)
}

// Amend returns the edits that turn the suggestion's new text into text. Their offsets are relative to the start of the
// new text. Decide accepts the parts of the new text that the edits keep, and rejects the other parts.
func Amend(current *model.Version, s model.Suggestion, text string) ([]diffwrap.Edit, error) {
	return planner.Amend(current, s, text)
}

// ErrNoComment is the error for a comment that cannot be placed.
var ErrNoComment = planner.ErrNoComment

// AddComment plans a user's comment at a byte offset of the canonical text.
func AddComment(current *model.Version, at int, text string, dialect diffwrap.Dialect, d model.Decision) (Plan, error) {
	return planner.AddComment(current, at, text, dialect, d)
}

// Resolve plans the removal of a thread. pending has the note's pending suggestions, among them the thread's comments
// that await a decision.
func Resolve(current *model.Version, x *Layout, t model.Thread, pending []model.Suggestion, d model.Decision) Plan {
	return planner.Resolve(current, x, t, pending, d)
}

// LinkPlaces finds the links of a view in a note's marked text.
type LinkPlaces = planner.LinkPlaces

type LinkPlace = planner.LinkPlace

// LinkPlaces finds links of a view of current. rename is the ID of the rename for which the links are to be rewritten,
// or "".
func (n *Locked) LinkPlaces(current *model.Version, v diffwrap.View, rename string) (*LinkPlaces, error) {
	x, err := n.layout(current)
	if err != nil {
		return nil, err
	}
	return planner.NewLinkPlaces(x, v, rename), nil
}

// LinksWithin returns the suggestions of current that an undo of the given items of e would affect, and the layout: they
// rewrite links for a rename, inside text that the undo makes pending.
func (n *Locked) LinksWithin(p model.Path, current *model.Version, e model.JournalEntry, items []model.DecidedItem) ([]model.Suggestion, *Layout, error) {
	x, err := n.layout(current)
	if err != nil {
		return nil, nil, model.WrapError("open", p, err)
	}
	ids := planner.LinksWithin(x, e, items)
	if len(ids) == 0 {
		return nil, x, nil
	}
	list, x, err := n.Suggestions(p, current)
	return slices.DeleteFunc(slices.Clone(list), func(s model.Suggestion) bool { return !slices.Contains(ids, s.ID) }), x, err
}

// RewriteLinks plans edits of linkpaths in current's marked text, without marks. d is the decision on the rename, or
// nil if there is none.
func (n *Locked) RewriteLinks(current *model.Version, edits []diffwrap.Edit, d *model.Decision) (Plan, error) {
	if current.ReadOnly() {
		return Plan{}, model.ErrNotText
	}
	x, err := n.layout(current)
	if err != nil {
		return Plan{}, err
	}
	return planner.RewriteLinks(current, x, edits, d), nil
}

func Renamed(list []model.Suggestion, p model.Path) []model.Suggestion {
	return attribution.Renamed(list, p)
}

func RenamedThreads(list []model.Thread, p model.Path) []model.Thread {
	return attribution.RenamedThreads(list, p)
}
