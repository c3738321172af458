package reviewqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/diffwrap"
)

// errNotCommented is the error for a comment whose place in the text has changed.
var errNotCommented = Conflict("nothing was written")

type Queue struct {
	ws *bridge.Workspace
	// Guarded returns the folders in which decisions need Force, and the reason for this. It may be nil.
	Guarded func() (folders []model.Path, why string)

	deciding sync.Mutex // held from the check of the shown suggestions until the decision is made
}

func New(ws *bridge.Workspace) *Queue { return &Queue{ws: ws} }

func (q *Queue) allPending(ctx context.Context) (list []model.Suggestion, proposals []model.Proposal, err error) {
	if list, err = q.ws.Suggestions(ctx, ""); err == nil {
		proposals, err = q.ws.Proposals(ctx, "")
	}
	return list, proposals, err
}

func (q *Queue) List(ctx context.Context, detailed bool) ([]Suggestion, error) {
	list, proposals, err := q.allPending(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Suggestion, 0, len(list)+len(proposals))
	for _, ofNote := range Runs(list, func(a, b *model.Suggestion) bool { return a.Path == b.Path }) {
		if detailed {
			out = append(out, q.withContext(ctx, ofNote)...)
		} else {
			out = append(out, newSuggestions(ofNote)...)
		}
	}
	for _, p := range proposals {
		s := newProposal(p)
		s.Pieces = s.InPieces()
		out = append(out, s)
	}
	q.addSessionNotes(out)
	return out, nil
}

func (q *Queue) Pending(ctx context.Context, paths []string) (Pending, error) {
	list, proposals, err := q.allPending(ctx)
	if err != nil {
		return Pending{}, err
	}
	threads, err := q.ws.Threads(ctx, "")
	if err != nil {
		return Pending{}, err
	}
	wanted := make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[p] = true
	}
	out := Pending{Suggestions: []Suggestion{}, Commented: []string{}}
	for _, s := range list {
		if !within(wanted, s.Path) {
			continue
		}
		brief := newSuggestion(s)
		if s.Proposal == "" { // otherwise the page shows the suggestion together with the rename
			brief.Line, brief.Old, brief.New, brief.Answers = 1, "", "", nil
		}
		out.Suggestions = append(out.Suggestions, brief)
	}
	for _, p := range proposals {
		s := newProposal(p)
		s.Pieces = s.InPieces()
		out.Suggestions = append(out.Suggestions, s)
	}
	q.addSessionNotes(out.Suggestions)
	for _, t := range threads {
		if n := len(out.Commented); within(wanted, t.Path) && (n == 0 || out.Commented[n-1] != string(t.Path)) {
			out.Commented = append(out.Commented, string(t.Path))
		}
	}
	return out, nil
}

func within(paths map[string]bool, p model.Path) bool {
	for at := string(p); ; at = at[:max(0, strings.LastIndexByte(at, '/'))] {
		if paths[at] {
			return true
		}
		if at == "" {
			return false
		}
	}
}

func newSuggestions(list []model.Suggestion) []Suggestion {
	out := make([]Suggestion, len(list))
	for i, s := range list {
		out[i] = newSuggestion(s)
		if i > 0 && continuesGroup(&list[i-1], &s) {
			out[i-1].Group = cmp.Or(out[i-1].Group, out[i-1].ID)
			out[i].Group = out[i-1].Group
		}
	}
	return out
}

func Groups(list []Suggestion) [][]Suggestion {
	return Runs(list, func(a, b *Suggestion) bool { return a.Group != "" && a.Group == b.Group })
}

func continuesGroup(last, s *model.Suggestion) bool {
	return last.Line == s.Line && last.Author == s.Author && last.Session == s.Session && last.Parts == nil && s.Parts == nil && s.Gap <= MaxGroupGap
}

// withContext returns the suggestions of one note with their context. It reads the suggestions and the text from the
// note again, because the offsets in list may belong to an older text. If the note cannot be opened, it returns the
// suggestions of list without context.
func (q *Queue) withContext(ctx context.Context, list []model.Suggestion) []Suggestion {
	v, now, _, err := q.ws.OpenMarked(ctx, list[0].Path)
	if err != nil {
		return newSuggestions(list)
	}
	c := contextOf(v)
	out := newSuggestions(now)
	for i, s := range now {
		out[i].Before, out[i].After = c.around(s.Start, s.End)
		out[i].After = cutComments(out[i].After, len(s.Comments))
	}
	n := Note{Text: v.Canonical(), Known: v.Known().Offsets(), Literal: v.Known().Literal()}
	all, at := n.stretches(), 0
	for _, group := range Groups(out) {
		from, last := at, at+len(group)-1
		if at = last + 1; from < last {
			group[0].Pieces = slices.Concat([]Piece{{UnchangedPiece, out[from].Before}}, n.pieces(all, now[from].Start, now[last].End), []Piece{{UnchangedPiece, out[last].After}})
		}
	}
	return out
}

func (q *Queue) addSessionNotes(list []Suggestion) {
	for i := range list {
		if n := q.ws.SessionNote(list[i].Session); n != (model.SessionNote{}) {
			list[i].SessionNote = &n
		}
	}
}

func (q *Queue) Decide(ctx context.Context, r DecideRequest) (Outcome, error) {
	if v := r.Verdict; v != model.Accepted && v != model.Rejected && v != model.Changed {
		return Outcome{}, cli.Usagef("the verdict %q is not one of %s, %s, %s", v, model.Accepted, model.Rejected, model.Changed)
	}
	if r.Reason = OneLineReason(r.Reason); len(r.Reason) > MaxReason {
		return Outcome{}, cli.Usagef("the reason is longer than %d bytes", MaxReason)
	}
	if !r.Unseen {
		r.IDs = slices.Sorted(maps.Keys(r.Shown))
	}
	if len(r.IDs) == 0 {
		return Outcome{}, cli.Usagef("no suggestion is named: for each displayed suggestion, send its ID and revision")
	}
	q.deciding.Lock()
	defer q.deciding.Unlock()
	if err := q.check(ctx, r); err != nil {
		return Outcome{}, err
	}
	author := reviewer()
	author.Reason = r.Reason
	if r.Verdict != model.Changed {
		decide := q.ws.Decide
		if r.Force {
			decide = q.ws.DecideStale
		}
		done, err := decide(ctx, r.IDs, r.Verdict, author)
		out := q.outcome(done, r.Verdict)
		if r.Verdict == model.Rejected {
			out.FrontMatterRemoved = q.frontMatterRemovals(done.Decided)
		}
		return out, err
	}
	switch {
	case len(r.IDs) != 1:
		return Outcome{}, cli.Usagef("%d suggestions are named: change one at a time", len(r.IDs))
	case r.Text == nil:
		return Outcome{}, cli.Usagef("the request has no text: an empty text deletes")
	}
	out, err := q.ws.Amend(ctx, r.IDs[0], *r.Text, author)
	return q.outcome(out, r.Verdict), err
}

// check returns a Conflict if a suggestion has changed or was decided since it was shown, or if it is in a guarded
// folder and the request has no Force.
func (q *Queue) check(ctx context.Context, r DecideRequest) error {
	var folders []model.Path
	var why string
	if q.Guarded != nil && !r.Force {
		folders, why = q.Guarded()
	}
	if r.Shown == nil && len(folders) == 0 {
		return nil
	}
	list, proposals, err := q.allPending(ctx)
	if err != nil {
		return err
	}
	named := make(map[string]*Suggestion, len(r.IDs)) // nil for a suggestion that is not pending
	for _, id := range r.IDs {
		named[id] = nil
	}
	for _, s := range list {
		if _, ok := named[s.ID]; ok {
			named[s.ID] = new(newSuggestion(s))
		}
	}
	for _, p := range proposals {
		if _, ok := named[p.ID]; ok {
			named[p.ID] = new(newProposal(p))
		}
	}
	var deleted, changed int
	for id, s := range named {
		switch {
		case s != nil && slices.ContainsFunc(folders, func(dir model.Path) bool { return dir.Contains(model.Path(s.Path)) }):
			return Conflict("nothing was decided: " + why)
		case r.Shown == nil:
		case s == nil:
			deleted++
		case s.Revision != r.Shown[id]:
			changed++
		}
	}
	var found []string
	count := func(n int, one, several string) {
		if n == 1 {
			several = one
		}
		if n > 0 {
			found = append(found, cli.Plural(n, "suggestion")+" "+several)
		}
	}
	count(deleted, "is not pending any more", "are not pending any more")
	count(changed, "has changed since it was shown", "have changed since they were shown")
	if len(found) == 0 {
		return nil
	}
	return Conflict("nothing was decided: " + strings.Join(found, ", ") + "; look again")
}

func (q *Queue) Undo(ctx context.Context, r UndoRequest) (Outcome, error) {
	q.deciding.Lock()
	defer q.deciding.Unlock()
	verdict := model.Undone
	var out bridge.Outcome
	var err error
	switch {
	case slices.Contains(r.IDs, ""):
		return Outcome{}, cli.Usagef("an ID is empty")
	case r.Batch == "" && len(r.IDs) == 0 && r.Session == "" && !r.Newest:
		return Outcome{}, cli.Usagef("name the batch or the suggestions to undo")
	case r.Session != "":
		verdict = model.Rejected
		out, err = q.ws.UndoSession(ctx, r.Session, reviewer())
	default:
		out, err = q.ws.Undo(ctx, r.Batch, reviewer(), r.IDs...)
	}
	if errors.Is(err, bridge.ErrNothingToUndo) {
		err = fmt.Errorf("%w; 'relayfs suggestions log' shows all decisions, undone or not", err)
	}
	return q.outcome(out, verdict), err
}

// Log lists the entries of the newest batches, newest first. limit is the maximum number of batches.
func (q *Queue) Log(ctx context.Context, limit int) ([]LogEntry, error) {
	// Reading the notes adds to the journal the decisions that a crash has interrupted.
	if err := q.ws.ReadNotes(ctx); err != nil {
		return nil, err
	}
	var entries []model.JournalEntry
	for n := min(limit, 1<<20) + 1; ; n *= 2 {
		more, err := q.ws.Journal(n)
		if err != nil {
			return nil, err
		}
		batches := Runs(more, func(a, b *model.JournalEntry) bool { return a.BatchOf() == b.BatchOf() })
		if len(batches) > limit || len(more) == len(entries) { // the last batch of a longer journal may be incomplete
			entries = slices.Concat(batches[:min(limit, len(batches))]...)
			break
		}
		entries = more
	}
	undos := model.UndosOf(entries)
	out := make([]LogEntry, len(entries))
	for i, e := range entries {
		out[i] = newLogEntry(e, undos)
	}
	for _, batch := range Batches(out) { // the notes of a batch were decided in any order
		slices.SortStableFunc(batch, func(a, b LogEntry) int { return strings.Compare(a.Path, b.Path) })
	}
	return out, nil
}

const (
	contextLines = 2    // number of whole lines before and after the lines of a suggestion
	maxContext   = 2000 // maximum number of bytes on each side; needed because a line may be as long as the note
)

type noteContext struct {
	view     string
	segments []diffwrap.Segment
}

func contextOf(v *model.Version) noteContext {
	known, text := v.Known(), v.Canonical()
	return noteContext{known.Accepted(text), known.Segments(text, diffwrap.AcceptedView)}
}

// around returns the parts of the accepted view before start and after end, which are offsets in the raw text. Each
// part is the rest of the line and contextLines more lines, but at most maxContext bytes.
func (c noteContext) around(start, end int) (before, after string) {
	if before = lastLines(c.view[:diffwrap.ViewOff(c.segments, start)]); len(before) > maxContext {
		before = "… " + strings.ToValidUTF8(before[len(before)-maxContext:], "")
	}
	lines := strings.SplitN(c.view[diffwrap.ViewOff(c.segments, end):], "\n", contextLines+2)
	after = strings.Join(lines[:min(len(lines), contextLines+1)], "\n")
	if len(after) > maxContext {
		after = strings.ToValidUTF8(after[:maxContext], "") + " …"
	}
	return before, after
}

func cutComments(after string, n int) string {
	for range n {
		body, ok := strings.CutPrefix(after, "{>>")
		_, rest, closed := strings.Cut(body, "<<}")
		if !ok || !closed {
			break
		}
		after = rest
	}
	return after
}

// lastLines returns the text of s after its last line break, and the contextLines lines before that text.
func lastLines(s string) string {
	at := len(s)
	for range contextLines + 1 {
		if at = strings.LastIndexByte(s[:at], '\n'); at < 0 {
			return s
		}
	}
	return s[at+1:]
}
