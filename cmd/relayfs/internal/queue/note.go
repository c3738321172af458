package queue

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/diffwrap"
)

// Note is the JSON of one note with everything in it that waits for a person.
type Note struct {
	Path        string       `json:"path"`
	Text        string       `json:"text"` // raw
	Suggestions []Suggestion `json:"suggestions"`
	// Places has where the marks of each suggestion stand in Text, in bytes, by its id.
	Places   map[string][]diffwrap.Span `json:"places"`
	Comments []Comment                  `json:"comments"` // that belong to no suggestion
}

// Comment is a remark in the text of a note.
type Comment struct {
	Start  int       `json:"start"` // in bytes of the raw text
	Text   string    `json:"text"`
	Author string    `json:"author"`
	Time   time.Time `json:"time,omitzero"`
}

// maxReadings bounds how often a note is read anew that changes while it is read.
const maxReadings = 20

var errRestless = jsonapi.Conflict("the note changes faster than it can be read; ask again")

func (q *Local) Note(ctx context.Context, path string) (Note, error) {
	p, err := model.CleanPath(path)
	if err != nil {
		return Note{}, err
	}
	for range maxReadings {
		before, err := q.ws.Open(ctx, p)
		if errors.Is(err, fs.ErrNotExist) {
			return q.lost(ctx, p)
		}
		if err != nil {
			return Note{}, err
		}
		list, err := q.ws.Suggestions(ctx, p)
		if err != nil {
			return Note{}, err
		}
		after, err := q.ws.Open(ctx, p)
		if err != nil {
			return Note{}, err
		}
		if before.Marked() == after.Marked() { // so the list is of this text
			return newNote(p, after.Marked(), list), nil
		}
	}
	return Note{}, errRestless
}

// lost returns the note that is proposed to be deleted, as people have it.
func (q *Local) lost(ctx context.Context, p model.Path) (Note, error) {
	v, err := q.ws.OpenHidden(ctx, p)
	if err != nil {
		return Note{}, err
	}
	return newNote(p, diffwrap.Original(v.Marked()), nil), nil
}

func newNote(p model.Path, text string, list []model.Suggestion) Note {
	n := Note{Path: string(p), Text: text, Suggestions: []Suggestion{}, Places: make(map[string][]diffwrap.Span), Comments: []Comment{}}
	for _, s := range list {
		n.Suggestions = append(n.Suggestions, newSuggestion(s))
		n.Places[s.ID] = s.Stretches()
	}
	for _, c := range diffwrap.Comments(text) {
		n.Comments = append(n.Comments, Comment{Start: c.Start, Text: c.New, Author: c.Author, Time: c.Time})
	}
	return n
}
