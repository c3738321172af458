package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/diffwrap"
)

// queue is the review queue of a workspace: a running owner's, or that of one
// which this process opened.
type queue interface {
	// list returns the pending suggestions; detailed ones have their context.
	list(ctx context.Context, detailed bool) ([]suggestion, error)
	decide(ctx context.Context, r decideRequest) (outcome, error)
	undo(ctx context.Context, r undoRequest) (outcome, error)
	log(ctx context.Context, limit int) ([]logEntry, error)
	// changed returns when the workspace is in another state than seen names, or
	// after a while, and names the state then.
	changed(ctx context.Context, seen uint64) (uint64, error)
}

// suggestion is the JSON of one pending change.
type suggestion struct {
	ID       string    `json:"id"`
	Path     string    `json:"path"`
	Line     int       `json:"line"` // 1-based, in the accepted view
	Kind     string    `json:"kind"`
	Old      string    `json:"old"`
	New      string    `json:"new"`
	Author   string    `json:"author"`
	Session  string    `json:"session"`
	Time     time.Time `json:"time,omitzero"`
	Comments []string  `json:"comments"`
	// Dir is set for a proposal about a folder with everything in it.
	Dir bool `json:"dir,omitempty"`
	// Stale is set for a proposal about what a person has changed since.
	Stale bool `json:"stale,omitempty"`
	// Revision stands for what a person decides on, all of the above but its place:
	// under another one, the id is not what was shown.
	Revision string `json:"revision"`
	// Before and After are the accepted view around it: the rest of its lines and
	// contextLines more. Only where they were asked for.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Pieces are it and its context as they are drawn; for the review page only.
	Pieces []piece `json:"pieces,omitempty"`
}

func newSuggestion(s bridge.Suggestion) suggestion {
	return suggestion{
		ID: s.ID, Path: string(s.Path), Line: s.Line, Kind: s.Kind.String(), Old: s.Old, New: s.New,
		Author: s.Author, Session: s.Session, Time: s.Time, Comments: append([]string{}, s.Comments...),
	}.revised()
}

// revised is s with its revision.
func (s suggestion) revised() suggestion {
	h := sha256.New()
	for _, field := range append([]string{s.Path, s.Kind, s.Old, s.New, s.Author, strconv.FormatBool(s.Dir), strconv.FormatBool(s.Stale)}, s.Comments...) {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	s.Revision = hex.EncodeToString(h.Sum(nil)[:8])
	return s
}

// newProposal tells of a proposal as of a suggestion: a rename's sides are paths,
// those of a file its contents.
func newProposal(p bridge.Proposal) suggestion {
	s := suggestion{
		ID: p.ID, Path: string(p.Path), Kind: string(p.Kind), Old: string(p.Path), New: string(p.NewPath),
		Author: p.Author, Session: p.Session, Time: p.Time, Comments: []string{}, Dir: p.Dir, Stale: p.Stale,
	}
	if p.Kind == bridge.ProposedFile {
		s.Old, s.New = string(p.Old), string(p.New)
	}
	return s.revised()
}

// isProposal says whether it is about a whole note, folder or file.
func (s *suggestion) isProposal() bool { return s.Line == 0 }

// decideRequest asks for a decision. With Text the one suggestion named becomes
// that text instead of what it proposed, and Verdict is bridge.Changed.
type decideRequest struct {
	IDs     []string       `json:"ids"`
	Verdict bridge.Verdict `json:"verdict"`
	Text    string         `json:"text,omitempty"`
	By      string         `json:"by"`
	Reason  string         `json:"reason,omitempty"`
	Force   bool           `json:"force,omitempty"` // accept stale proposals, too
	// Shown has the revision in which each was shown. If it is given, all is decided
	// as it was shown, or nothing.
	Shown map[string]string `json:"shown,omitempty"`
}

// errNotAsShown refuses a decision on what a person did not see.
var errNotAsShown = jsonapi.Conflict("nothing was decided, because not all of it is as it was shown")

// undoRequest asks to take a batch back, the newest if it is "".
type undoRequest struct {
	Batch string `json:"batch"`
	By    string `json:"by"`
}

// outcome is the JSON of what a decision or an undo did.
type outcome struct {
	Batch       string            `json:"batch"` // for undo
	Verdict     bridge.Verdict    `json:"verdict"`
	Notes       int               `json:"notes"` // that changed
	Suggestions []suggestion      `json:"suggestions"`
	Missing     []string          `json:"missing"`         // ids that no pending suggestion has any more
	Failed      map[string]string `json:"failed"`          // path -> why; these notes are as they were
	Away        []bridge.Away     `json:"away,omitempty"`  // what undo could not bring back
	Older       string            `json:"older,omitempty"` // batch that undo can go on with, when nothing of this one could be taken back
}

func newOutcome(o bridge.Outcome, verdict bridge.Verdict) outcome {
	out := outcome{
		Batch: o.Batch, Verdict: verdict, Notes: o.Notes, Suggestions: make([]suggestion, len(o.Decided), len(o.Decided)+len(o.Proposals)),
		Missing: append([]string{}, o.Missing...), Failed: make(map[string]string, len(o.Failed)), Older: o.Older, Away: o.Away,
	}
	for i, s := range o.Decided {
		out.Suggestions[i] = newSuggestion(s)
	}
	for _, p := range o.Proposals {
		out.Suggestions = append(out.Suggestions, newProposal(p))
	}
	for p, err := range o.Failed {
		out.Failed[string(p)] = err.Error()
		if errors.Is(err, bridge.ErrStale) {
			out.Failed[string(p)] += "; look at it, then accept it by itself, on the command line with --force"
		}
	}
	return out
}

// localQueue is the queue of a workspace in this process.
type localQueue struct {
	ws      *bridge.Workspace
	changes *changeCounter
}

func newLocalQueue(ws *bridge.Workspace) (q *localQueue, cancel func()) {
	c := newChangeCounter()
	return &localQueue{ws, c}, ws.Subscribe(func(bridge.Event) { c.add() })
}

func (q *localQueue) list(ctx context.Context, detailed bool) ([]suggestion, error) {
	list, err := q.ws.Suggestions(ctx, "")
	if err != nil {
		return nil, err
	}
	proposals, err := q.ws.Proposals(ctx, "")
	if err != nil {
		return nil, err
	}
	out := make([]suggestion, len(list), len(list)+len(proposals))
	var c noteContext
	for i, s := range list {
		out[i] = newSuggestion(s)
		if detailed {
			if s.Path != c.path {
				c = openContext(ctx, q.ws, s.Path)
			}
			out[i].Before, out[i].After = c.around(s.Start, s.End)
			out[i].After = cutComments(out[i].After, len(s.Comments))
		}
	}
	for _, p := range proposals {
		out = append(out, newProposal(p))
	}
	return out, nil
}

func (q *localQueue) decide(ctx context.Context, r decideRequest) (outcome, error) {
	if err := q.checkShown(ctx, r); err != nil {
		return outcome{}, err
	}
	by := bridge.Author{Name: r.By, Reason: r.Reason}
	if r.Verdict != bridge.Changed {
		decide := q.ws.Decide
		if r.Force {
			decide = q.ws.DecideStale
		}
		out, err := decide(ctx, r.IDs, r.Verdict, by)
		return newOutcome(out, r.Verdict), err
	}
	if len(r.IDs) != 1 {
		return outcome{}, fmt.Errorf("one suggestion at a time can be changed, not %d", len(r.IDs))
	}
	out, err := q.ws.Amend(ctx, r.IDs[0], r.Text, by)
	return newOutcome(out, r.Verdict), err
}

// checkShown is nil if what r is about is as it was shown.
func (q *localQueue) checkShown(ctx context.Context, r decideRequest) error {
	if r.Shown == nil {
		return nil
	}
	list, err := q.list(ctx, false)
	if err != nil {
		return err
	}
	pending := make(map[string]string, len(list))
	for i := range list {
		pending[list[i].ID] = list[i].Revision
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
	return fmt.Errorf("%w: of %d, %d are not pending any more and %d have changed; look at it again", errNotAsShown, len(r.IDs), gone, changed)
}

func (q *localQueue) undo(ctx context.Context, r undoRequest) (outcome, error) {
	out, err := q.ws.Undo(ctx, r.Batch, bridge.Author{Name: r.By})
	if errors.Is(err, bridge.ErrNothingToUndo) {
		err = fmt.Errorf("%w; 'relayfs suggestions log' shows what was decided and what was taken back", err)
	}
	return newOutcome(out, bridge.Undone), err
}

func (q *localQueue) log(ctx context.Context, limit int) ([]logEntry, error) {
	// Reading the notes brings into the journal what a crash interrupted.
	if _, err := q.ws.Suggestions(ctx, ""); err != nil {
		return nil, err
	}
	entries, err := q.ws.Journal(limit)
	if err != nil {
		return nil, err
	}
	out := make([]logEntry, len(entries))
	for i, e := range entries {
		out[i] = newLogEntry(e)
	}
	return out, nil
}

func (q *localQueue) changed(ctx context.Context, seen uint64) (uint64, error) {
	return q.changes.wait(ctx, seen)
}

// remoteQueue is the queue of a running owner.
type remoteQueue struct{ c *owner.Client }

func (q remoteQueue) list(ctx context.Context, detailed bool) (list []suggestion, err error) {
	query := url.Values{}
	if detailed {
		query.Set("context", "1")
	}
	err = q.c.Get(ctx, suggestionsPath, query, &list)
	return list, err
}

func (q remoteQueue) decide(ctx context.Context, r decideRequest) (out outcome, err error) {
	err = q.c.Post(ctx, decidePath, r, &out)
	return out, err
}

func (q remoteQueue) undo(ctx context.Context, r undoRequest) (out outcome, err error) {
	err = q.c.Post(ctx, undoPath, r, &out)
	return out, err
}

func (q remoteQueue) log(ctx context.Context, limit int) (list []logEntry, err error) {
	err = q.c.Get(ctx, journalPath, url.Values{"limit": {strconv.Itoa(limit)}}, &list)
	return list, err
}

func (q remoteQueue) changed(ctx context.Context, seen uint64) (now uint64, err error) {
	err = q.c.Get(ctx, changesPath, url.Values{"seen": {strconv.FormatUint(seen, 10)}}, &now)
	return now, err
}

// contextLines is how many whole lines of context stand before and after a
// suggestion's own, and maxContext bounds each side in bytes: a paragraph on one
// line may be as long as the note.
const (
	contextLines = 2
	maxContext   = 2000
)

// noteContext is a note's accepted view, by places of its raw text.
type noteContext struct {
	path     bridge.Path
	raw      string
	segments []diffwrap.Segment
}

// openContext reads the note at p; of one that is gone nothing is shown.
func openContext(ctx context.Context, ws *bridge.Workspace, p bridge.Path) noteContext {
	v, err := ws.Open(ctx, p)
	if err != nil {
		return noteContext{path: p}
	}
	return noteContext{p, v.Marked(), diffwrap.Segments(v.Marked(), diffwrap.AcceptedView)}
}

// around is what the accepted view shows before start and after end, places of
// the raw text, to the ends of their lines and contextLines further, or as much of
// it as maxContext allows.
func (c noteContext) around(start, end int) (before, after string) {
	var pre, post []string
	room := func(pieces []string) bool { return newlines(pieces) <= contextLines && size(pieces) <= maxContext }
	first := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].RawOff >= start })
	for i := first - 1; i >= 0 && room(pre); i-- {
		s := c.segments[i]
		pre = append(pre, c.raw[s.RawOff:min(s.RawOff+s.Len, start)])
	}
	first = sort.Search(len(c.segments), func(i int) bool { return c.segments[i].RawOff+c.segments[i].Len > end })
	for i := first; i < len(c.segments) && room(post); i++ {
		s := c.segments[i]
		post = append(post, c.raw[max(s.RawOff, end):s.RawOff+s.Len])
	}
	for _, piece := range pre {
		before = piece + before
	}
	return lastBytes(lastLines(before), maxContext), firstBytes(firstLines(strings.Join(post, "")), maxContext)
}

// lastBytes is the end of s, at most n bytes and whole characters.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s) - n
	for !utf8.RuneStart(s[at]) {
		at++
	}
	return "… " + s[at:]
}

// firstBytes is the beginning of s, at most n bytes and whole characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}

func size(pieces []string) int {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	return n
}

// cutComments cuts off the n comments that after starts with: those of the
// suggestion itself.
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

func newlines(pieces []string) int {
	n := 0
	for _, p := range pieces {
		n += strings.Count(p, "\n")
	}
	return n
}

// lastLines keeps the unfinished last line of s and contextLines before it.
func lastLines(s string) string {
	at := len(s)
	for range contextLines + 1 {
		if at = strings.LastIndexByte(s[:at], '\n'); at < 0 {
			return s
		}
	}
	return s[at+1:]
}

// firstLines keeps the rest of the first line of s and contextLines after it.
func firstLines(s string) string {
	at := 0
	for range contextLines + 1 {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s
		}
		at += i + 1
	}
	return s[:at-1]
}
