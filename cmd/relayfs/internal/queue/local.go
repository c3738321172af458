package queue

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/diffwrap"
)

// errNotAsShown refuses a decision on suggestions that have changed since they were shown.
var errNotAsShown = jsonapi.Conflict("nothing was decided, because not all of it is as it was shown")

// Local is the queue of a workspace in this process.
type Local struct {
	ws      *bridge.Workspace
	changes *changeCounter
}

// NewLocal returns the queue of ws. Call cancel at the end.
func NewLocal(ws *bridge.Workspace) (q *Local, cancel func()) {
	c := newChangeCounter()
	return &Local{ws, c}, ws.Subscribe(func(model.Event) { c.add() })
}

func (q *Local) List(ctx context.Context, detailed bool) ([]Suggestion, error) {
	list, err := q.ws.Suggestions(ctx, "")
	if err != nil {
		return nil, err
	}
	proposals, err := q.ws.Proposals(ctx, "")
	if err != nil {
		return nil, err
	}
	out := make([]Suggestion, len(list), len(list)+len(proposals))
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

func (q *Local) Decide(ctx context.Context, r DecideRequest) (Outcome, error) {
	if err := q.checkShown(ctx, r); err != nil {
		return Outcome{}, err
	}
	by := model.Author{Name: r.By, Reason: r.Reason}
	if r.Verdict != model.Changed {
		decide := q.ws.Decide
		if r.Force {
			decide = q.ws.DecideStale
		}
		out, err := decide(ctx, r.IDs, r.Verdict, by)
		return newOutcome(out, r.Verdict), err
	}
	if len(r.IDs) != 1 {
		return Outcome{}, fmt.Errorf("one suggestion at a time can be changed, not %d", len(r.IDs))
	}
	out, err := q.ws.Amend(ctx, r.IDs[0], r.Text, by)
	return newOutcome(out, r.Verdict), err
}

// checkShown returns an error if a suggestion of r is not as it was shown.
func (q *Local) checkShown(ctx context.Context, r DecideRequest) error {
	if r.Shown == nil {
		return nil
	}
	list, err := q.List(ctx, false)
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

func (q *Local) Undo(ctx context.Context, r UndoRequest) (Outcome, error) {
	out, err := q.ws.Undo(ctx, r.Batch, model.Author{Name: r.By})
	if errors.Is(err, bridge.ErrNothingToUndo) {
		err = fmt.Errorf("%w; 'relayfs suggestions log' shows what was decided and what was taken back", err)
	}
	return newOutcome(out, model.Undone), err
}

func (q *Local) Log(ctx context.Context, limit int) ([]LogEntry, error) {
	// Reading the notes journals decisions that a crash interrupted.
	if _, err := q.ws.Suggestions(ctx, ""); err != nil {
		return nil, err
	}
	entries, err := q.ws.Journal(limit)
	if err != nil {
		return nil, err
	}
	out := make([]LogEntry, len(entries))
	for i, e := range entries {
		out[i] = newLogEntry(e)
	}
	return out, nil
}

func (q *Local) Changed(ctx context.Context, seen uint64) (uint64, error) {
	return q.changes.wait(ctx, seen)
}

// changesWait bounds how long Changed waits, in case the connection of the client has broken unnoticed.
const changesWait = 25 * time.Second

type changeCounter struct {
	mu   sync.Mutex // protects the following
	n    uint64
	next chan struct{} // closed by the next change
}

// newChangeCounter starts at a number that no counter of an earlier process has reached, so that a client of
// that one is told that it missed changes.
func newChangeCounter() *changeCounter {
	return &changeCounter{n: uint64(time.Now().UnixMicro()), next: make(chan struct{})}
}

func (c *changeCounter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	close(c.next)
	c.next = make(chan struct{})
}

// wait returns the count when it differs from seen, or after changesWait.
func (c *changeCounter) wait(ctx context.Context, seen uint64) (uint64, error) {
	c.mu.Lock()
	n, next := c.n, c.next
	c.mu.Unlock()
	if n != seen {
		return n, nil
	}
	select {
	case <-next:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.n, nil
	case <-time.After(changesWait):
		return n, nil
	case <-ctx.Done():
		return n, ctx.Err()
	}
}

// contextLines is how many whole lines of context are before and after the lines of a suggestion. maxContext
// bounds each side in bytes, because a paragraph on one line may be as long as the note.
const (
	contextLines = 2
	maxContext   = 2000
)

// noteContext is a note's accepted view, by places in its raw text.
type noteContext struct {
	path     model.Path
	raw      string
	segments []diffwrap.Segment
}

// openContext reads the note at p. If that is gone, its context is empty.
func openContext(ctx context.Context, ws *bridge.Workspace, p model.Path) noteContext {
	v, err := ws.Open(ctx, p)
	if err != nil {
		return noteContext{path: p}
	}
	return noteContext{p, v.Marked(), diffwrap.Segments(v.Marked(), diffwrap.AcceptedView)}
}

// around returns the accepted view before start and after end, places in the raw text: to the ends of their
// lines and contextLines more, as far as maxContext allows.
func (c noteContext) around(start, end int) (before, after string) {
	room := func(s string) bool { return strings.Count(s, "\n") <= contextLines && len(s) <= maxContext }
	first := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].RawOff >= start })
	for i := first - 1; i >= 0 && room(before); i-- {
		s := c.segments[i]
		before = c.raw[s.RawOff:min(s.RawOff+s.Len, start)] + before
	}
	first = sort.Search(len(c.segments), func(i int) bool { return c.segments[i].RawOff+c.segments[i].Len > end })
	for i := first; i < len(c.segments) && room(after); i++ {
		s := c.segments[i]
		after += c.raw[max(s.RawOff, end) : s.RawOff+s.Len]
	}
	return lastBytes(lastLines(before), maxContext), firstBytes(firstLines(after), maxContext)
}

// lastBytes returns the end of s in whole characters, at most n bytes.
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

// firstBytes returns the beginning of s in whole characters, at most n bytes.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
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
