package render

import (
	"context"

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

// AddGroups sets Group for the suggestions that the page would decide together. Group is the ID of the first suggestion
// of the group. If the list is detailed, the first suggestion also gets the Pieces of the whole group.
func AddGroups(ctx context.Context, q interface {
	Note(ctx context.Context, path string) (reviewqueue.Note, error)
}, list []reviewqueue.Suggestion, detailed bool) error {
	byNote := make(map[string]map[string]*reviewqueue.Suggestion) // suggestions of each note, by ID
	near := make(map[string]bool)                                 // notes that may have groups
	for i := range list {
		if s := &list[i]; !s.IsProposal() {
			if byNote[s.Path] == nil {
				byNote[s.Path] = make(map[string]*reviewqueue.Suggestion)
			}
			byNote[s.Path][s.ID] = s
			near[s.Path] = near[s.Path] || s.Near
		}
	}
	for path, listed := range byNote {
		if !near[path] {
			continue
		}
		n, err := q.Note(ctx, path)
		if err == nil { // otherwise the note was deleted in the meantime and gets no groups
			groupNote(&n, listed, detailed)
		}
	}
	return ctx.Err()
}

func groupNote(n *reviewqueue.Note, listed map[string]*reviewqueue.Suggestion, detailed bool) {
	source, _ := SourceOf(n, false)
	for _, b := range NoteOf(source).Blocks {
		for _, ids := range b.Groups {
			var group []*reviewqueue.Suggestion
			for _, id := range ids {
				if s := listed[id]; s != nil {
					group = append(group, s)
				}
			}
			if len(group) < 2 {
				continue
			}
			for _, s := range group {
				s.Group = group[0].ID
			}
			if first, last := group[0], group[len(group)-1]; detailed {
				first.Pieces = n.Between(first, last)
			}
		}
	}
}
