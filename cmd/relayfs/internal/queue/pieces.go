package queue

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// PieceKind is what becomes of a piece of text when a suggestion is accepted.
type PieceKind string

// What becomes of a piece.
const (
	KeptPiece PieceKind = "kept"
	OldPiece  PieceKind = "old"
	NewPiece  PieceKind = "new"
)

// Piece is a run of text of one kind.
type Piece struct {
	Kind PieceKind `json:"kind"`
	Text string    `json:"text"`
}

// InPieces is the suggestion in its context, with what the old and the new text
// share, word by word, as kept. Of a proposal it is what it would do, and for a
// file the change of its contents.
func (s *Suggestion) InPieces() []Piece {
	if s.IsProposal() && s.Kind != string(model.ProposedFile) {
		return []Piece{{KeptPiece, s.proposed(s.New)}}
	}
	list := []Piece{{KeptPiece, s.Before}}
	if s.IsProposal() {
		list = []Piece{{KeptPiece, s.proposed(s.New) + "\n"}}
	}
	at := 0
	for _, e := range diffwrap.Diff(s.Old, s.New) {
		list = append(list,
			Piece{KeptPiece, s.Old[at:e.Off]}, Piece{OldPiece, s.Old[e.Off : e.Off+e.Len]}, Piece{NewPiece, e.New})
		at = e.Off + e.Len
	}
	list = append(list, Piece{KeptPiece, s.Old[at:]}, Piece{KeptPiece, s.After})
	out := list[:0]
	for _, p := range list {
		if p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}
