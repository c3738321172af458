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

// Note is the JSON of one note with its pending suggestions and its threads. Offsets are bytes of Text.
type Note struct {
	Path        string       `json:"path"`
	Text        string       `json:"text"`               // raw text
	Known       []int        `json:"known,omitempty"`    // offsets of recorded marks, which count as marks in any context
	Literal     []int        `json:"literal,omitempty"`  // offsets of openers that are recorded as literal text
	Revision    string       `json:"revision"`           // revision of Text
	Obsidian    string       `json:"obsidian,omitempty"` // obsidian:// URL
	Suggestions []Suggestion `json:"suggestions"`
	Threads     []Thread     `json:"threads"`
}

func revisionOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func (q *Queue) Note(ctx context.Context, path string) (Note, error) {
	p, err := model.CleanPath(path)
	if err != nil {
		return Note{}, err
	}
	v, list, threads, err := q.ws.OpenMarked(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return q.deletedNote(ctx, p)
	}
	if err != nil {
		return Note{}, err
	}
	n := q.newNote(p, v.Canonical(), list, threads)
	n.Known, n.Literal = v.Known().Offsets(), v.Known().Literal()
	return n, nil
}

func (q *Queue) deletedNote(ctx context.Context, p model.Path) (Note, error) {
	v, err := q.ws.OpenPendingDelete(ctx, p)
	if err != nil {
		return Note{}, err
	}
	return q.newNote(p, v.Known().Original(v.Canonical()), nil, nil), nil
}

func (q *Queue) obsidianURL(p model.Path) string {
	inSource, err := q.ws.SourcePath(p)
	if err != nil {
		inSource = p // the deletion of the note is pending
	}
	o := q.ws.Options()
	return o.ObsidianURL(inSource)
}

func (q *Queue) newNote(p model.Path, text string, list []model.Suggestion, threads []model.Thread) Note {
	n := Note{Path: string(p), Text: text, Revision: revisionOf(text), Obsidian: q.obsidianURL(p), Suggestions: []Suggestion{}, Threads: []Thread{}}
	for _, s := range list {
		shown := newSuggestion(s)
		shown.Places = s.Stretches()
		n.Suggestions = append(n.Suggestions, shown)
	}
	q.addSessionNotes(n.Suggestions)
	for _, t := range threads {
		n.Threads = append(n.Threads, newThread(t))
	}
	return n
}

func (n *Note) Marks() diffwrap.Known { return diffwrap.KnownAt(n.Known).Except(n.Literal...) }

// InPieces splits the note before the suggestion with the ID.
func (n *Note) InPieces(id string) (before, rest []Piece) {
	at := len(n.Text)
	if i := slices.IndexFunc(n.Suggestions, func(s Suggestion) bool { return s.ID == id && len(s.Places) > 0 }); i >= 0 {
		at = n.Suggestions[i].Places[0].Start
	}
	all := n.stretches()
	return n.pieces(all, 0, at), n.pieces(all, at, len(n.Text))
}

type stretch struct {
	diffwrap.Span
	kind PieceKind
}

// stretches splits the text, without the delimiters of its marks.
func (n *Note) stretches() (all []stretch) {
	_, texts, syntax := n.Marks().Layout(n.Text)
	for _, c := range texts {
		for ; len(syntax) > 0 && syntax[0].Start < c.Start; syntax = syntax[1:] {
			all = append(all, stretch{syntax[0], UnchangedPiece})
		}
		switch {
		case c.Deleted:
			all = append(all, stretch{c.Span, OldPiece})
		case c.Added:
			all = append(all, stretch{c.Span, NewPiece})
		default:
			all = append(all, stretch{c.Span, UnchangedPiece})
		}
	}
	for _, s := range syntax {
		all = append(all, stretch{s, UnchangedPiece})
	}
	return all
}

// pieces returns the pieces of all that are in a range of the text. The range must not begin or end inside a mark.
func (n *Note) pieces(all []stretch, from, to int) (list []Piece) {
	i, _ := slices.BinarySearchFunc(all, from, func(s stretch, from int) int { return s.End - from - 1 })
	for ; i < len(all) && all[i].Start < to; i++ {
		list = append(list, Piece{all[i].kind, n.Text[max(from, all[i].Start):min(all[i].End, to)]})
	}
	return list
}
