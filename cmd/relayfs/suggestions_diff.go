package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/diffwrap"
)

// pieceKind is what becomes of a piece of text when a suggestion is accepted.
type pieceKind string

const (
	keptPiece pieceKind = "kept"
	oldPiece  pieceKind = "old"
	newPiece  pieceKind = "new"
)

// piece is a run of text of one kind.
type piece struct {
	Kind pieceKind `json:"kind"`
	Text string    `json:"text"`
}

// pieces is the suggestion in its context, with what the old and the new text
// share, word by word, as kept. Of a proposal it is what it would do, and for a
// file the change of its contents.
func (s *suggestion) pieces() []piece {
	if s.isProposal() && s.Kind != string(bridge.ProposedFile) {
		return []piece{{keptPiece, s.proposed(s.New)}}
	}
	list := []piece{{keptPiece, s.Before}}
	if s.isProposal() {
		list = []piece{{keptPiece, s.proposed(s.New) + "\n"}}
	}
	at := 0
	for _, e := range diffwrap.Diff(s.Old, s.New) {
		list = append(list,
			piece{keptPiece, s.Old[at:e.Off]}, piece{oldPiece, s.Old[e.Off : e.Off+e.Len]}, piece{newPiece, e.New})
		at = e.Off + e.Len
	}
	list = append(list, piece{keptPiece, s.Old[at:]}, piece{keptPiece, s.After})
	out := list[:0]
	for _, p := range list {
		if p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

// painter writes pieces: for a terminal with colour, else as CriticMarkup.
type painter struct{ colour bool }

// SGR codes (ECMA-48). Struck out and underlined too, so that a change of spaces
// is seen and colour is not all that tells.
const (
	sgrOld   = "\x1b[9;31m"
	sgrNew   = "\x1b[4;32m"
	sgrFaint = "\x1b[2m"
	sgrBold  = "\x1b[1m"
	sgrReset = "\x1b[0m"
)

func (p painter) text(list []piece) string {
	var b strings.Builder
	for _, x := range list {
		text := output.Printable(x.Text)
		switch {
		case x.Kind == oldPiece && p.colour:
			b.WriteString(p.sgr(sgrOld, text))
		case x.Kind == newPiece && p.colour:
			b.WriteString(p.sgr(sgrNew, text))
		case x.Kind == oldPiece:
			b.WriteString("{--" + text + "--}")
		case x.Kind == newPiece:
			b.WriteString("{++" + text + "++}")
		default:
			b.WriteString(text)
		}
	}
	return b.String()
}

// sgr gives each line of text the look that code names: pagers and lists show
// lines on their own.
func (p painter) sgr(code, text string) string {
	if !p.colour || text == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = code + l + sgrReset
		}
	}
	return strings.Join(lines, "\n")
}

// heading is one line about a suggestion.
func (p painter) heading(s *suggestion) string {
	line := fmt.Sprintf("%s  %s  %s", output.OneLine(s.ID), p.sgr(sgrBold, output.OneLine(s.place())), s.Kind)
	if who := s.who(); who != "" {
		line += "  " + p.sgr(sgrFaint, output.OneLine(who))
	}
	return line
}

// drawn is a suggestion's heading, and pieces of it below that.
func (p painter) drawn(s *suggestion, list []piece) string {
	var b strings.Builder
	b.WriteString(p.heading(s) + "\n")
	for line := range strings.SplitSeq(strings.TrimSuffix(p.text(list), "\n"), "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return b.String()
}

// diff is a suggestion for a person to read.
func (p painter) diff(s *suggestion) string {
	var b strings.Builder
	b.WriteString(p.drawn(s, s.pieces()))
	for _, c := range s.Comments {
		b.WriteString("    " + p.sgr(sgrFaint, "comment: "+shorten(c)) + "\n")
	}
	return b.String()
}

func printDiffs(w io.Writer, list []suggestion) error {
	p := painter{output.Colour(w)}
	for i := range list {
		sep := ""
		if i > 0 {
			sep = "\n"
		}
		if _, err := io.WriteString(w, sep+p.diff(&list[i])); err != nil {
			return err
		}
	}
	return nil
}
