package reviewqueue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/diffwrap"
)

// errNotWritten refuses a comment whose place has changed since it was shown.
var errNotWritten = Conflict("nothing was written")

// Queue is the review queue of a workspace.
type Queue struct {
	ws *bridge.Workspace
	// Guarded returns folders in which only a decision with Force is made, and why; it may be nil.
	Guarded func() (folders []model.Path, why string)

	deciding sync.Mutex // one decision at a time, with the look whether all is as it was shown
}

// New returns the queue of ws.
func New(ws *bridge.Workspace) *Queue { return &Queue{ws: ws} }

// pending returns all that waits for a person.
func (q *Queue) pending(ctx context.Context) (list []model.Suggestion, proposals []model.Proposal, err error) {
	if list, err = q.ws.Suggestions(ctx, ""); err == nil {
		proposals, err = q.ws.Proposals(ctx, "")
	}
	return list, proposals, err
}

// List returns the pending suggestions; detailed ones have their context.
func (q *Queue) List(ctx context.Context, detailed bool) ([]Suggestion, error) {
	list, proposals, err := q.pending(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Suggestion, 0, len(list)+len(proposals))
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Path == list[0].Path {
			n++
		}
		if detailed {
			out = append(out, q.detail(ctx, list[:n])...)
		} else {
			out = append(out, newSuggestions(list[:n])...)
		}
		list = list[n:]
	}
	for _, p := range proposals {
		s := newProposal(p)
		s.Pieces = s.InPieces()
		out = append(out, s)
	}
	q.nameSessions(out)
	return out, nil
}

// Pending returns what waits at or below the paths, and all proposals, without texts.
func (q *Queue) Pending(ctx context.Context, paths []string) (Pending, error) {
	list, proposals, err := q.pending(ctx)
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
		if s.Proposal == "" { // else the page shows it beside the rename
			brief.Line, brief.Old, brief.New, brief.Answers = 1, "", "", nil
		}
		out.Suggestions = append(out.Suggestions, brief)
	}
	for _, p := range proposals {
		s := newProposal(p)
		s.Pieces = s.InPieces()
		out.Suggestions = append(out.Suggestions, s)
	}
	q.nameSessions(out.Suggestions)
	for _, t := range threads {
		if n := len(out.Commented); within(wanted, t.Path) && (n == 0 || out.Commented[n-1] != string(t.Path)) {
			out.Commented = append(out.Commented, string(t.Path))
		}
	}
	return out, nil
}

// within reports whether p or a folder that it is in is among the paths.
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

// newSuggestions returns those of one note.
func newSuggestions(list []model.Suggestion) []Suggestion {
	out := make([]Suggestion, len(list))
	for i, s := range list {
		out[i] = newSuggestion(s)
		out[i].Near = s.Gap <= BesideBytes && i > 0 || s.Parts != nil
	}
	return out
}

// detail returns the suggestions of a note with their context. It asks the note for both: the places that an index has
// may be those of an older text. Of a note that is gone, the list is as it was given.
func (q *Queue) detail(ctx context.Context, list []model.Suggestion) []Suggestion {
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
	return out
}

// nameSessions adds to suggestions what the agents said of their sessions.
func (q *Queue) nameSessions(list []Suggestion) {
	for i := range list {
		if n := q.ws.SessionNote(list[i].Session); n != (model.SessionNote{}) {
			list[i].SessionNote = &n
		}
	}
}

// Decide carries a decision out.
func (q *Queue) Decide(ctx context.Context, r DecideRequest) (Outcome, error) {
	if v := r.Verdict; v != model.Accepted && v != model.Rejected && v != model.Changed {
		return Outcome{}, cli.Usagef("the verdict %q is none of %q", v, []model.Verdict{model.Accepted, model.Rejected, model.Changed})
	}
	if r.Reason = TidyReason(r.Reason); len(r.Reason) > MaxReason {
		return Outcome{}, cli.Usagef("the reason is longer than %d bytes", MaxReason)
	}
	if !r.Unseen {
		r.IDs = slices.Sorted(maps.Keys(r.Shown))
	}
	if len(r.IDs) == 0 {
		return Outcome{}, cli.Usagef("say what was shown: the revision of each suggestion by its id")
	}
	q.deciding.Lock()
	defer q.deciding.Unlock()
	if err := q.checkShown(ctx, r); err != nil {
		return Outcome{}, err
	}
	if err := q.checkGuarded(ctx, r); err != nil {
		return Outcome{}, err
	}
	by := model.Author{Name: r.By, Reason: r.Reason}
	if r.Verdict != model.Changed {
		decide := q.ws.Decide
		if r.Force {
			decide = q.ws.DecideStale
		}
		out, err := decide(ctx, r.IDs, r.Verdict, by)
		return q.outcome(out, r.Verdict), err
	}
	if len(r.IDs) != 1 {
		return Outcome{}, cli.Usagef("one suggestion at a time can be changed, not %d", len(r.IDs))
	}
	out, err := q.ws.Amend(ctx, r.IDs[0], r.Text, by)
	return q.outcome(out, r.Verdict), err
}

// checkShown returns an error if a suggestion of r is not as it was shown.
func (q *Queue) checkShown(ctx context.Context, r DecideRequest) error {
	if r.Shown == nil {
		return nil
	}
	list, proposals, err := q.pending(ctx)
	if err != nil {
		return err
	}
	pending := make(map[string]string, len(r.Shown))
	for i := range list {
		if _, ok := r.Shown[list[i].ID]; ok {
			pending[list[i].ID] = newSuggestion(list[i]).Revision
		}
	}
	for _, p := range proposals {
		pending[p.ID] = newProposal(p).Revision
	}
	var gone, changed int
	for _, id := range r.IDs {
		switch now, ok := pending[id]; {
		case !ok:
			gone++
		case now != r.Shown[id]:
			changed++
		}
	}
	if gone+changed == 0 {
		return nil
	}
	return Conflict(fmt.Sprintf("nothing was decided, because not all of it is as it was shown: of %d, %d are not pending any more and %d have changed; look at it again",
		len(r.IDs), gone, changed))
}

// checkGuarded returns an error if a suggestion of r is in a guarded folder and not forced.
func (q *Queue) checkGuarded(ctx context.Context, r DecideRequest) error {
	if q.Guarded == nil || r.Force {
		return nil
	}
	folders, why := q.Guarded()
	if len(folders) == 0 {
		return nil
	}
	list, proposals, err := q.pending(ctx)
	if err != nil {
		return err
	}
	var paths []model.Path
	for _, s := range list {
		if slices.Contains(r.IDs, s.ID) {
			paths = append(paths, s.Path)
		}
	}
	for _, p := range proposals {
		if slices.Contains(r.IDs, p.ID) {
			paths = append(paths, model.Path(newProposal(p).Path))
		}
	}
	for _, p := range paths {
		if slices.ContainsFunc(folders, func(dir model.Path) bool { return p == dir || strings.HasPrefix(string(p), string(dir)+"/") }) {
			return Conflict("nothing was decided: " + why)
		}
	}
	return nil
}

// Undo takes back what was decided.
func (q *Queue) Undo(ctx context.Context, r UndoRequest) (Outcome, error) {
	q.deciding.Lock()
	defer q.deciding.Unlock()
	by := model.Author{Name: r.By}
	verdict := model.Undone
	var out bridge.Outcome
	var err error
	switch {
	case slices.Contains(r.IDs, ""):
		return Outcome{}, cli.Usagef("an id is empty")
	case r.Batch == "" && len(r.IDs) == 0 && r.Session == "" && !r.Newest:
		return Outcome{}, cli.Usagef("say which batch or which suggestions are to be taken back")
	case r.Session != "":
		verdict = model.Rejected
		out, err = q.ws.UndoSession(ctx, r.Session, by)
	default:
		out, err = q.ws.Undo(ctx, r.Batch, by, r.IDs...)
	}
	if errors.Is(err, bridge.ErrNothingToUndo) {
		err = fmt.Errorf("%w; 'relayfs suggestions log' shows what was decided and what was taken back", err)
	}
	return q.outcome(out, verdict), err
}

// Log returns the newest entries of the journal.
func (q *Queue) Log(ctx context.Context, limit int) ([]LogEntry, error) {
	// Reading the notes journals decisions that a crash interrupted.
	if _, err := q.ws.Suggestions(ctx, ""); err != nil {
		return nil, err
	}
	entries, err := q.ws.Journal(limit)
	if err != nil {
		return nil, err
	}
	undos := model.UndosOf(entries)
	out := make([]LogEntry, len(entries))
	for i, e := range entries {
		out[i] = newLogEntry(e, undos)
	}
	for _, batch := range Batches(out) { // by note: they were decided in any order
		slices.SortStableFunc(batch, func(a, b LogEntry) int { return strings.Compare(a.Path, b.Path) })
	}
	return out, nil
}

// contextLines is how many whole lines of context are before and after the lines of a suggestion. maxContext
// bounds each side in bytes, because a paragraph on one line may be as long as the note.
const (
	contextLines = 2
	maxContext   = 2000
)

// noteContext is a note's accepted view, and where its bytes are in the raw text.
type noteContext struct {
	view     string
	segments []diffwrap.Segment
}

func contextOf(v *model.Version) noteContext {
	known, text := v.Known(), v.Canonical()
	return noteContext{known.Accepted(text), known.Segments(text, diffwrap.AcceptedView)}
}

// around returns the accepted view before start and after end, places in the raw text: to the ends of their
// lines and contextLines more, as far as maxContext allows.
func (c noteContext) around(start, end int) (before, after string) {
	if before = lastLines(c.view[:c.viewOff(start)]); len(before) > maxContext {
		before = "… " + strings.ToValidUTF8(before[len(before)-maxContext:], "")
	}
	lines := strings.SplitN(c.view[c.viewOff(end):], "\n", contextLines+2)
	after = strings.Join(lines[:min(len(lines), contextLines+1)], "\n")
	if len(after) > maxContext {
		after = strings.ToValidUTF8(after[:maxContext], "") + " …"
	}
	return before, after
}

// viewOff returns how much of the view comes before a place in the raw text.
func (c noteContext) viewOff(off int) int {
	i := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].RawOff+c.segments[i].Len > off })
	if i == len(c.segments) {
		return len(c.view)
	}
	return c.segments[i].ViewOff + max(0, off-c.segments[i].RawOff)
}

// cutComments removes the n comments at the beginning of after, which are those of the suggestion.
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

// lastLines keeps the last, unfinished line of s and contextLines before it.
func lastLines(s string) string {
	at := len(s)
	for range contextLines + 1 {
		if at = strings.LastIndexByte(s[:at], '\n'); at < 0 {
			return s
		}
	}
	return s[at+1:]
}
