package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Suggestion is the JSON of one pending change.
type Suggestion struct {
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
	Dir      bool      `json:"dir,omitempty"`   // a proposal about a folder with everything in it
	Stale    bool      `json:"stale,omitempty"` // a person has changed what the proposal is about
	// Revision identifies what a person decides on: all of the above but Line. If it changes, the
	// suggestion is not the one that was shown.
	Revision string `json:"revision"`
	// Before and After are the accepted view around it, if it was asked for: the rest of its lines
	// and contextLines more.
	Before string  `json:"before,omitempty"`
	After  string  `json:"after,omitempty"`
	Pieces []Piece `json:"pieces,omitempty"` // it and its context as the review page draws them
}

func newSuggestion(s model.Suggestion) Suggestion {
	return Suggestion{
		ID: s.ID, Path: string(s.Path), Line: s.Line, Kind: s.Kind.String(), Old: s.Old, New: s.New,
		Author: s.Author, Session: s.Session, Time: s.Time, Comments: append([]string{}, s.Comments...),
	}.revised()
}

// revised returns s with its revision.
func (s Suggestion) revised() Suggestion {
	h := sha256.New()
	for _, field := range append([]string{s.Path, s.Kind, s.Old, s.New, s.Author, strconv.FormatBool(s.Dir), strconv.FormatBool(s.Stale)}, s.Comments...) {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	s.Revision = hex.EncodeToString(h.Sum(nil)[:8])
	return s
}

// newProposal returns a proposal as a suggestion. The sides of a rename are paths, those of a file its
// contents.
func newProposal(p model.Proposal) Suggestion {
	s := Suggestion{
		ID: p.ID, Path: string(p.Path), Kind: string(p.Kind), Old: string(p.Path), New: string(p.NewPath),
		Author: p.Author, Session: p.Session, Time: p.Time, Comments: []string{}, Dir: p.Dir, Stale: p.Stale,
	}
	if p.Kind == model.ProposedFile {
		s.Old, s.New = string(p.Old), string(p.New)
	}
	return s.revised()
}

// IsProposal reports whether it is about a whole note, folder or file.
func (s *Suggestion) IsProposal() bool { return s.Line == 0 }
