package queue

import (
	"context"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

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
