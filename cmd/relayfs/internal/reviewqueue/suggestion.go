package reviewqueue

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/diffwrap"
)

// BesideBytes is how much text that stays may be between suggestions that are decided at once.
const BesideBytes = 30

// Suggestion is the JSON of one pending change.
type Suggestion struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Line    int    `json:"line"` // 1-based, in the accepted view
	Kind    string `json:"kind"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Author  string `json:"author"`
	Session string `json:"session"`
	// SessionNote is what the agent calls the session and says that it is for. It is no part of the Revision.
	SessionNote *model.SessionNote `json:"sessionNote,omitempty"`
	Time        time.Time          `json:"time,omitzero"`
	Comments    []string           `json:"comments"`
	Proposal    string             `json:"proposal,omitempty"` // id of the rename that it rewrites a link for
	Dir         bool               `json:"dir,omitempty"`      // a proposal about a folder with everything in it
	Stale       bool               `json:"stale,omitempty"`    // a person has changed what the proposal is about
	Taken       bool               `json:"taken,omitempty"`    // of a rename: its new name is taken, or its folder is gone
	// Revision identifies what a person decides on: all of the above but Line. If it changes, the
	// suggestion is not the one that was shown.
	Revision string `json:"revision"`
	// Before and After are the accepted view around it: the rest of its lines and contextLines more.
	Before string  `json:"before,omitempty"`
	After  string  `json:"after,omitempty"`
	Pieces []Piece `json:"pieces,omitempty"` // it and its context, as they are drawn
	Places []Place `json:"places,omitempty"` // of its marks in the note's text
	Near   bool    `json:"near,omitempty"`   // to another of its note, so that both may be decided at once
	Group  string  `json:"group,omitempty"`  // the first of those that the page decides at once with it
	// Answers is what the author proposed at that place before, and why a person rejected it.
	Answers *Rejection `json:"answers,omitempty"`
}

// Rejection is the JSON of a suggestion that was rejected.
type Rejection struct {
	ID     string    `json:"id"`
	Old    string    `json:"old"`
	New    string    `json:"new"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	Time   time.Time `json:"time"`
}

func newSuggestion(s model.Suggestion) Suggestion {
	out := Suggestion{
		ID: s.ID, Path: string(s.Path), Line: s.Line, Kind: s.Kind.String(), Old: s.Old, New: s.New,
		Author: s.Author, Session: s.Session, Time: s.Time, Comments: append([]string{}, s.Comments...), Proposal: s.Proposal,
	}
	if a := s.Answers; a != nil {
		out.Answers = &Rejection{ID: a.ID, Old: a.Old, New: a.New, By: a.By, Reason: a.Reason, Time: a.At}
	}
	return out.revised()
}

// Answer says on one line which rejection the suggestion answers, "" for none.
func (s *Suggestion) Answer() string {
	if s.Answers == nil {
		return ""
	}
	was := Suggestion{Line: 1, Old: s.Answers.Old, New: s.Answers.New}
	said := "after " + s.Answers.ID + " was rejected: " + was.Gist()
	if s.Answers.Reason != "" {
		said += " because " + Shorten(s.Answers.Reason)
	}
	return said
}

func (s Suggestion) revised() Suggestion {
	h := sha256.New()
	for _, field := range append([]string{s.Path, s.Kind, s.Old, s.New, s.Author, strconv.FormatBool(s.Dir), strconv.FormatBool(s.Stale), strconv.FormatBool(s.Taken)}, s.Comments...) {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	s.Revision = hex.EncodeToString(h.Sum(nil)[:8])
	return s
}

// newProposal returns a proposal as a suggestion: sides are the paths of a rename or contents of a file.
func newProposal(p model.Proposal) Suggestion {
	s := Suggestion{
		ID: p.ID, Path: string(p.Path), Kind: string(p.Kind), Old: string(p.Path), New: string(p.NewPath),
		Author: p.Author, Session: p.Session, Time: p.Time, Comments: []string{}, Dir: p.Dir, Stale: p.Stale, Taken: p.Taken,
	}
	if p.Kind == model.ProposedFile {
		s.Old, s.New = string(p.Old), string(p.New)
	}
	return s.revised()
}

// IsProposal reports whether it is about a whole note, folder or file.
func (s *Suggestion) IsProposal() bool { return s.Line == 0 }

// Shorten fits a side of a suggestion on one line of a terminal.
func Shorten(s string) string {
	const limit = 60 // characters
	s = cli.Printable(strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\t", " ").Replace(s))
	if r := []rune(s); len(r) > limit {
		return string(r[:limit/2]) + " … " + string(r[len(r)-limit/3:])
	}
	return s
}

// Place names the place of the suggestion, or the path that the proposal is about.
func (s *Suggestion) Place() string {
	if s.IsProposal() {
		return s.Path
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Line)
}

// Gist says on one line what the suggestion would do.
func (s *Suggestion) Gist() string {
	if s.IsProposal() {
		return s.proposed(Shorten(s.New))
	}
	if s.Kind == diffwrap.Comment.String() {
		return "{>>" + Shorten(s.New) + "<<}"
	}
	text := ""
	if s.Old != "" {
		text = "{--" + Shorten(s.Old) + "--}"
	}
	if s.New != "" {
		text += "{++" + Shorten(s.New) + "++}"
	}
	return text
}

// proposed says what a proposal would do. to is the target of a rename as it is to be shown.
func (s *Suggestion) proposed(to string) string {
	what := s.Kind
	if s.Dir {
		what += " the folder"
	}
	switch model.ProposalKind(s.Kind) {
	case model.ProposedRename:
		what += " to " + to
	case model.ProposedFile:
		if what = "write the file"; s.New != "" {
			what += ", " + cli.Plural(len(s.New), "byte")
		}
	}
	if s.Stale {
		what += " (changed since)"
	}
	if s.Taken {
		what += " (that name is taken)"
	}
	return what
}

// Who returns the author, the name of the session and the time of the suggestion, as far as they are known.
func (s *Suggestion) Who() string {
	who := s.Author
	if s.SessionNote != nil && s.SessionNote.Name != "" {
		who += ", \"" + s.SessionNote.Name + "\""
	}
	if !s.Time.IsZero() {
		who += ", " + s.Time.Local().Format("2006-01-02 15:04")
	}
	return who
}

// PieceKind says what becomes of a piece of text when a suggestion is accepted.
type PieceKind string

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

// InPieces returns the suggestion in its context. The words that the old and the new text share are kept
// pieces. A proposal is what it would do and, for a file, the change of its contents.
func (s *Suggestion) InPieces() []Piece {
	if s.IsProposal() && s.Kind != string(model.ProposedFile) {
		return []Piece{{KeptPiece, s.proposed(s.New)}}
	}
	list := []Piece{{KeptPiece, s.Before}}
	if s.IsProposal() {
		list = []Piece{{KeptPiece, s.proposed(s.New) + "\n"}}
	}
	at := 0
	for _, e := range diffwrap.DiffWords(s.Old, s.New) {
		list = append(list,
			Piece{KeptPiece, s.Old[at:e.Off]}, Piece{OldPiece, s.Old[e.Off : e.Off+e.Len]}, Piece{NewPiece, e.New})
		at = e.Off + e.Len
	}
	list = append(list, Piece{KeptPiece, s.Old[at:]}, Piece{KeptPiece, s.After})
	return slices.DeleteFunc(list, func(p Piece) bool { return p.Text == "" })
}
