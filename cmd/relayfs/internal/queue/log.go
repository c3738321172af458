package queue

import (
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// FrontMatterChanged is what a change of front matter is called beside the verdicts.
const FrontMatterChanged = "frontmatter"

// LogEntry is the JSON of one journalled decision or change, in one note.
type LogEntry struct {
	Batch       string                   `json:"batch"` // for undo
	Time        time.Time                `json:"time"`
	Path        string                   `json:"path"`   // "" if the note is gone
	Action      string                   `json:"action"` // a verdict, or "frontmatter"
	By          string                   `json:"by"`
	Reason      string                   `json:"reason,omitempty"`
	Session     string                   `json:"session"`
	Lapsed      bool                     `json:"lapsed,omitempty"` // no person decided: it gave way, or its author took it back
	Undoes      string                   `json:"undoes,omitempty"` // a batch
	Suggestions []model.Decided          `json:"suggestions"`
	FrontMatter *model.FrontMatterChange `json:"frontMatter,omitempty"`
	Away        []model.Away             `json:"away,omitempty"` // what an undo could not bring back
}

func newLogEntry(e model.JournalEntry) LogEntry {
	out := LogEntry{
		Batch: e.BatchOf(), Time: e.Time, Path: string(e.Path), Action: FrontMatterChanged,
		By: e.Author, Session: e.Session, Suggestions: []model.Decided{}, FrontMatter: e.FrontMatter,
	}
	if d := e.Decision; d != nil {
		out.Action, out.By, out.Reason, out.Undoes = string(d.Verdict), d.By, d.Reason, d.Undoes
		out.Lapsed, out.Away = d.Lapsed, d.Away
		out.Session = ""
		out.Suggestions = append(out.Suggestions, d.Items...)
	}
	return out
}
