package reviewqueue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/diffwrap"
)

// MaxGroupGap is the maximum number of unchanged bytes between two suggestions of a group. The suggestions of a group
// are decided together.
const MaxGroupGap = 30

type Suggestion struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Line    int    `json:"line"` // 1-based line in the accepted view; 0 for a proposal
	Kind    string `json:"kind"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Author  string `json:"author"`
	Session string `json:"session"`
	// SessionNote is the agent's description of its session. It is not part of the Revision.
	SessionNote *model.SessionNote `json:"sessionNote,omitempty"`
	Time        time.Time          `json:"time,omitzero"`
	Comments    []string           `json:"comments"`
	Proposal    string             `json:"proposal,omitempty"` // ID of the pending rename if this suggestion updates a link for it
	Dir         bool               `json:"dir,omitempty"`      // whether the proposal is about a folder
	Stale       bool               `json:"stale,omitempty"`    // whether the note has changed since the proposal
	Taken       bool               `json:"taken,omitempty"`    // the new name of a rename is taken, or its folder no longer exists
	// Revision is a hash of the content that the user decides on. It changes whenever the suggestion changes.
	Revision string `json:"revision"`
	// Before and After are the text around the suggestion in the accepted view: the rest of its lines and contextLines
	// more lines.
	Before string          `json:"before,omitempty"`
	After  string          `json:"after,omitempty"`
	Pieces []Piece         `json:"pieces,omitempty"` // a proposal, or the group that begins with the suggestion, in its context
	Places []diffwrap.Span `json:"places,omitempty"` // its marks in the note's raw text
	Group  string          `json:"group,omitempty"`  // ID of the first suggestion of its group on a line; "" if the suggestion is alone
	// Answers is the author's previous suggestion at this place if the user rejected it.
	Answers *Rejection `json:"answers,omitempty"`
}

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
	if a := s.PreviousRejection; a != nil {
		out.Answers = &Rejection{ID: a.ID, Old: a.Old, New: a.New, By: a.By, Reason: a.Reason, Time: a.At}
	}
	return out.withRevision()
}

// Answer describes, on one line, the rejection to which the suggestion responds. It returns "" if there is none.
func (s *Suggestion) Answer() string {
	if s.Answers == nil {
		return ""
	}
	rejected := Suggestion{Line: 1, Old: s.Answers.Old, New: s.Answers.New}
	text := "after " + s.Answers.ID + " was rejected: " + rejected.Summary()
	if s.Answers.Reason != "" {
		text += " because " + Shorten(s.Answers.Reason)
	}
	return text
}

func (s Suggestion) withRevision() Suggestion {
	h := sha256.New()
	for _, field := range append([]string{s.Path, s.Kind, s.Old, s.New, s.Author, strconv.FormatBool(s.Dir), strconv.FormatBool(s.Stale), strconv.FormatBool(s.Taken)}, s.Comments...) {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	s.Revision = hex.EncodeToString(h.Sum(nil)[:8])
	return s
}

// newProposal converts a proposal. Old and New are the paths of a rename, or the contents of a file.
func newProposal(p model.Proposal) Suggestion {
	s := Suggestion{
		ID: p.ID, Path: string(p.Path), Kind: string(p.Kind), Old: string(p.Path), New: string(p.NewPath),
		Author: p.Author, Session: p.Session, Time: p.Time, Comments: []string{}, Dir: p.Dir, Stale: p.Stale, Taken: p.Taken,
	}
	if p.Kind == model.ProposedFile {
		s.Old, s.New = contentText(p.Old), contentText(p.New)
	}
	return s.withRevision()
}

const binaryFile = "a binary file of "

// contentText returns the content of a file as text. For a binary file it returns a description of the content.
func contentText(data []byte) string {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return string(data)
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%s%s, SHA-256 %x", binaryFile, cli.Plural(len(data), "byte"), sum[:8])
}

func (s *Suggestion) IsProposal() bool { return s.Line == 0 }

func Shorten(s string) string {
	const limit = 60 // characters
	s = cli.Printable(strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\t", " ").Replace(s))
	if r := []rune(s); len(r) > limit {
		return string(r[:limit/2]) + " … " + string(r[len(r)-limit/3:])
	}
	return s
}

func (s *Suggestion) Place() string {
	if s.IsProposal() {
		return s.Path
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Line)
}

func (s *Suggestion) Summary() string {
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

// proposed describes a proposal in words. to is the target of a rename, made printable.
func (s *Suggestion) proposed(to string) string {
	what := s.Kind
	if s.Dir {
		what += " the folder"
	}
	switch model.ProposalKind(s.Kind) {
	case model.ProposedRename:
		what += " to " + to
	case model.ProposedFile:
		what = "write the file"
		if size, binary := strings.CutPrefix(s.New, binaryFile); binary {
			what += ", " + size
		} else if s.New != "" {
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

type PieceKind string

const (
	UnchangedPiece PieceKind = "kept"
	OldPiece       PieceKind = "old" // accepting the suggestion deletes it
	NewPiece       PieceKind = "new" // accepting the suggestion adds it
)

type Piece struct {
	Kind PieceKind `json:"kind"`
	Text string    `json:"text"`
}

// InPieces returns the suggestion in its context. Words that are in both the old and the new text are unchanged pieces.
// For a proposal, InPieces returns its description and, for a file, the change of the content.
func (s *Suggestion) InPieces() []Piece {
	if s.IsProposal() && s.Kind != string(model.ProposedFile) {
		return []Piece{{UnchangedPiece, s.proposed(s.New)}}
	}
	list := []Piece{{UnchangedPiece, s.Before}}
	if s.IsProposal() {
		list = []Piece{{UnchangedPiece, s.proposed(s.New) + "\n"}}
	}
	at := 0
	for _, e := range diffwrap.DiffWords(s.Old, s.New) {
		list = append(list,
			Piece{UnchangedPiece, s.Old[at:e.Off]}, Piece{OldPiece, s.Old[e.Off : e.Off+e.Len]}, Piece{NewPiece, e.New})
		at = e.Off + e.Len
	}
	list = append(list, Piece{UnchangedPiece, s.Old[at:]}, Piece{UnchangedPiece, s.After})
	return slices.DeleteFunc(list, func(p Piece) bool { return p.Text == "" })
}
