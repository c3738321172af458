package render

import (
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/diffwrap"
)

// SourceOf returns the Source of a note. The Comments of the Source are the threads that belong to no suggestion.
// SourceOf also returns their indices.
func SourceOf(n *reviewqueue.Note, plain bool) (s Source, threads []int) {
	type writer struct{ author, session string }
	writers := make(map[string]writer, len(n.Suggestions))
	s = Source{Text: n.Text, Known: diffwrap.KnownAt(n.Known), Plain: plain, Places: make(map[string][]diffwrap.Span, len(n.Suggestions))}
	for i := range n.Suggestions {
		x := &n.Suggestions[i]
		writers[x.ID] = writer{x.Author, x.Session}
		for _, at := range x.Places {
			s.Places[x.ID] = append(s.Places[x.ID], diffwrap.Span{Start: at.Start, End: at.End})
		}
	}
	for i, t := range n.Threads {
		if t.Suggestion == "" {
			s.Comments, threads = append(s.Comments, t.Start), append(threads, i)
		}
	}
	s.SameWriter = func(a, b string) bool { return writers[a] == writers[b] }
	return s, threads
}
