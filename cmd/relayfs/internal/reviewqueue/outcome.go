package reviewqueue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

func (o *Outcome) Err() error {
	var errs []error
	for _, p := range slices.Sorted(maps.Keys(o.Failed)) {
		errs = append(errs, fmt.Errorf("%q: nothing changed: %s", p, o.Failed[p]))
	}
	if len(o.Missing) > 0 {
		errs = append(errs, fmt.Errorf("not pending any more: %s", strings.Join(o.Missing, ", ")))
	}
	return errors.Join(errs...)
}

// WithContext adds the context of the listed suggestions to the decided suggestions with the same IDs. It returns
// decided.
func WithContext(decided, listed []Suggestion) []Suggestion {
	byID := make(map[string]*Suggestion, len(listed))
	for i := range listed {
		byID[listed[i].ID] = &listed[i]
	}
	for i := range decided {
		if s := byID[decided[i].ID]; s != nil {
			decided[i].Before, decided[i].After = s.Before, s.After
		}
	}
	return decided
}

func IDsOf(list []Suggestion) []string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids
}

func NotesOf(list []Suggestion) int {
	paths := make(map[string]bool)
	for i := range list {
		path := list[i].Path
		if list[i].Kind == string(model.ProposedRename) {
			path = list[i].New // suggestions in the renamed note have this path
		}
		paths[path] = true
	}
	return len(paths)
}

type Outcome struct {
	Batch       string             `json:"batch"` // batch to name for an undo; "" if nothing has changed
	Verdict     model.Verdict      `json:"verdict"`
	Notes       int                `json:"notes"` // number of changed notes
	Suggestions []Suggestion       `json:"suggestions"`
	Missing     []string           `json:"missing"`          // IDs that are not pending any more
	Failed      map[string]string  `json:"failed"`           // reasons by path; the notes at these paths did not change
	Unrestored  []model.Unrestored `json:"away,omitempty"`   // text that an undo could not restore
	Undone      []LogEntry         `json:"undone,omitempty"` // decisions and changes that an undo reverted
	// FrontMatterRemoved has the notes of a rejection whose front matter a program has removed, with the batch that
	// restores it when undone. Front matter is no suggestion, so a rejection does not restore it.
	FrontMatterRemoved map[string]string `json:"frontMatterRemoved,omitempty"`
	Older              string            `json:"older,omitempty"` // batch to undo next if this batch had nothing to undo
	Now                uint64            `json:"now,omitempty"`   // state of the workspace after the change; see Change
}

func (q *Queue) outcome(o bridge.Outcome, verdict model.Verdict) Outcome {
	out := Outcome{
		Batch: o.Batch, Verdict: verdict, Notes: o.Notes, Suggestions: make([]Suggestion, len(o.Decided), len(o.Decided)+len(o.Proposals)),
		Missing: append([]string{}, o.Missing...), Failed: make(map[string]string, len(o.Failed)), Older: o.Older, Unrestored: o.Unrestored, Now: q.ws.Last(),
	}
	for i, s := range o.Decided {
		out.Suggestions[i] = newSuggestion(s)
	}
	for _, p := range o.Proposals {
		out.Suggestions = append(out.Suggestions, newProposal(p))
	}
	if len(out.Suggestions)+out.Notes == 0 {
		out.Batch = ""
	}
	for _, e := range o.Undone {
		out.Undone = append(out.Undone, newLogEntry(e, nil))
	}
	for p, err := range o.Failed {
		out.Failed[string(p)] = cli.Text(err)
		if errors.Is(err, model.ErrStale) {
			out.Failed[string(p)] += "; look at it, then accept it alone, on the command line with --force"
		}
	}
	return out
}

func (q *Queue) frontMatterRemovals(decided []model.Suggestion) map[string]string {
	journal, err := q.ws.Journal(maxJournal)
	if err != nil {
		return nil // the decisions are made
	}
	newest := make(map[model.Path]*model.JournalEntry)
	for i, e := range slices.Backward(journal) {
		if e.FrontMatter != nil {
			newest[e.Path] = &journal[i]
		}
	}
	removed, undos := make(map[string]string), model.UndosOf(journal)
	for _, s := range decided {
		if e := newest[s.Path]; e != nil && e.FrontMatter.After == "" {
			if _, ok := undos.Undoable(*e); ok {
				removed[string(s.Path)] = e.BatchOf()
			}
		}
	}
	return removed
}

// maxJournal is the number of journal entries in which frontMatterRemovals looks.
const maxJournal = 300

const (
	FrontMatterChanged = "frontmatter"
	SessionNamed       = "session" // an agent has described its session
	Asked              = "asked"   // an MCP client has asked the user for approval
)

// LogEntry is the JSON of one decision or change in one note, from the journal.
type LogEntry struct {
	Batch       string                   `json:"batch"` // batch to name for an undo
	Time        time.Time                `json:"time"`
	Order       uint64                   `json:"order"`  // later decisions have higher numbers, in all folders and after a restart
	Path        string                   `json:"path"`   // "" if the note no longer exists
	Action      string                   `json:"action"` // a verdict, or FrontMatterChanged, SessionNamed or Asked
	By          string                   `json:"by"`
	Reason      string                   `json:"reason,omitempty"`
	Session     string                   `json:"session"`
	Lapsed      bool                     `json:"lapsed,omitempty"` // dropped or withdrawn without a decision
	Undoes      string                   `json:"undoes,omitempty"` // batch that this entry undoes
	Undone      bool                     `json:"undone,omitempty"` // whether the whole entry was undone later
	Suggestions []LogItem                `json:"suggestions"`
	FrontMatter *model.FrontMatterChange `json:"frontMatter,omitempty"`
	Unrestored  []model.Unrestored       `json:"away,omitempty"` // text that an undo could not restore
	SessionNote *model.SessionNote       `json:"sessionNote,omitempty"`
	Approval    *model.Approval          `json:"approval,omitempty"`
}

func (x *LogEntry) Undoable() bool {
	return !x.Undone && x.Action != string(model.Undone) && x.SessionNote == nil && x.Approval == nil
}

func Batches(log []LogEntry) [][]LogEntry {
	return Runs(log, func(a, b *LogEntry) bool { return a.Batch == b.Batch })
}

// Runs splits a list into runs of adjacent elements. An element continues a run if together(first element of the run,
// element) returns true.
func Runs[T any](list []T, together func(first, next *T) bool) (runs [][]T) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && together(&list[0], &list[n]) {
			n++
		}
		runs, list = append(runs, list[:n]), list[n:]
	}
	return runs
}

type LogItem struct {
	model.DecidedItem
	Undone bool `json:"undone,omitempty"` // whether the decision on the suggestion was undone later
}

func (x *LogItem) AsSuggestion(path string) Suggestion {
	return Suggestion{ID: x.ID, Path: path, Line: x.Line, Kind: x.Kind, Old: x.Old, New: x.ResultText()}
}

func newLogEntry(e model.JournalEntry, undos model.Undos) LogEntry {
	out := LogEntry{
		Batch: e.BatchOf(), Time: e.Time, Order: e.Order, Path: string(e.Path), Action: FrontMatterChanged,
		By: e.Author, Session: e.Session, Suggestions: []LogItem{}, FrontMatter: e.FrontMatter,
		SessionNote: e.SessionNote, Approval: e.Approval,
	}
	switch {
	case e.SessionNote != nil:
		out.Action = SessionNamed
	case e.Approval != nil:
		out.Action = Asked
	}
	root, _ := e.Path.Split()
	left, ok := undos.Undoable(e)
	if d := e.Decision; d != nil {
		out.Action, out.By, out.Reason, out.Undoes = string(d.Verdict), d.By, d.Reason, d.Undoes
		out.Lapsed, out.Unrestored = d.Withdrawn, d.Unrestored
		out.Session = ""
		for _, item := range d.Items {
			if item.Kind == string(model.ProposedRename) { // the journal of a folder has paths in it
				item.New = string(model.Path(root).Join(item.New))
			}
			x := LogItem{DecidedItem: item, Undone: d.Verdict != model.Undone}
			if len(left) > 0 && left[0].ID == item.ID {
				x.Undone, left = false, left[1:]
			}
			out.Suggestions = append(out.Suggestions, x)
		}
	}
	out.Undone = !ok && e.Journalled() && out.Action != string(model.Undone)
	return out
}
