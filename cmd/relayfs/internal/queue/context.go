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

// contextLines is how many whole lines of context stand before and after a
// suggestion's own, and maxContext bounds each side in bytes: a paragraph on one
// line may be as long as the note.
const (
	contextLines = 2
	maxContext   = 2000
)

// noteContext is a note's accepted view, by places of its raw text.
type noteContext struct {
	path     model.Path
	raw      string
	segments []diffwrap.Segment
}

// openContext reads the note at p; of one that is gone nothing is shown.
func openContext(ctx context.Context, ws *bridge.Workspace, p model.Path) noteContext {
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
