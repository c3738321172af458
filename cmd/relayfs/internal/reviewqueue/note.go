package reviewqueue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Note is the JSON of one note with everything in it that waits for a person. Places are bytes of its text.
type Note struct {
	Path        string       `json:"path"`
	Text        string       `json:"text"`               // raw
	Known       []int        `json:"known,omitempty"`    // where marks open in it that relayfs has recorded: they count wherever they stand
	Revision    string       `json:"revision"`           // of the text
	Obsidian    string       `json:"obsidian,omitempty"` // the address that opens it there
	Suggestions []Suggestion `json:"suggestions"`
	Threads     []Thread     `json:"threads"`
}

// Place is where a mark stands, in bytes of a note's raw text.
type Place struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

func revisionOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Note returns the note at a path with what is pending in it.
func (q *Queue) Note(ctx context.Context, path string) (Note, error) {
	p, err := model.CleanPath(path)
	if err != nil {
		return Note{}, err
	}
	v, list, threads, err := q.ws.OpenMarked(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return q.lost(ctx, p)
	}
	if err != nil {
		return Note{}, err
	}
	n := q.newNote(p, v.Canonical(), list, threads)
	n.Known = v.Known().Offsets()
	return n, nil
}

// lost returns the note that is proposed to be deleted, as people have it.
func (q *Queue) lost(ctx context.Context, p model.Path) (Note, error) {
	v, err := q.ws.OpenPendingDelete(ctx, p)
	if err != nil {
		return Note{}, err
	}
	return q.newNote(p, v.Known().Original(v.Canonical()), nil, nil), nil
}

// obsidian is the address that opens a note in Obsidian, where people have it, "" if none is known.
func (q *Queue) obsidian(p model.Path) string {
	people, err := q.ws.SourcePath(p)
	if err != nil {
		people = p // it is proposed to be deleted
	}
	o := q.ws.Options()
	return o.ObsidianURL(people)
}

func (q *Queue) newNote(p model.Path, text string, list []model.Suggestion, threads []model.Thread) Note {
	n := Note{Path: string(p), Text: text, Revision: revisionOf(text), Obsidian: q.obsidian(p), Suggestions: []Suggestion{}, Threads: []Thread{}}
	for _, s := range list {
		shown := newSuggestion(s)
		for _, at := range s.Stretches() {
			shown.Places = append(shown.Places, Place{at.Start, at.End})
		}
		n.Suggestions = append(n.Suggestions, shown)
	}
	q.nameSessions(n.Suggestions)
	for _, t := range threads {
		n.Threads = append(n.Threads, newThread(t))
	}
	return n
}

// InPieces returns the note as pieces: those before a suggestion, and the rest.
func (n *Note) InPieces(id string) (before, rest []Piece) {
	at := len(n.Text)
	if from, _, ok := n.bounds(id); ok {
		at = from
	}
	return n.pieces(0, at), n.pieces(at, len(n.Text))
}

// Between returns the text from one suggestion to another as pieces, in the context of both.
func (n *Note) Between(first, last *Suggestion) []Piece {
	from, _, ok := n.bounds(first.ID)
	_, to, has := n.bounds(last.ID)
	if !ok || !has {
		return nil
	}
	list := append([]Piece{{KeptPiece, first.Before}}, n.pieces(from, to)...)
	return append(list, Piece{KeptPiece, last.After})
}

// bounds are where the marks of a suggestion begin and end.
func (n *Note) bounds(id string) (from, to int, ok bool) {
	i := slices.IndexFunc(n.Suggestions, func(s Suggestion) bool { return s.ID == id && len(s.Places) > 0 })
	if i < 0 {
		return 0, 0, false
	}
	places := n.Suggestions[i].Places
	return places[0].Start, places[len(places)-1].End, true
}

// pieces are those of the text from one place to another, between marks.
func (n *Note) pieces(from, to int) (list []Piece) {
	_, texts, furniture := diffwrap.KnownAt(n.Known).Layout(n.Text)
	add := func(kind PieceKind, at diffwrap.Span) {
		if from <= at.Start && at.Start < to {
			list = append(list, Piece{kind, n.Text[at.Start:min(at.End, to)]})
		} else if at.Start < from && from < at.End {
			list = append(list, Piece{kind, n.Text[from:min(at.End, to)]})
		}
	}
	for _, c := range texts {
		for ; len(furniture) > 0 && furniture[0].Start < c.Start; furniture = furniture[1:] {
			add(KeptPiece, furniture[0])
		}
		switch {
		case c.Deleted:
			add(OldPiece, c.Span)
		case c.Added:
			add(NewPiece, c.Span)
		default:
			add(KeptPiece, c.Span)
		}
	}
	for _, f := range furniture {
		add(KeptPiece, f)
	}
	return list
}
