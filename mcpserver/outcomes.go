package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// What people made of the session's suggestions: a session keeps, for each note
// that it was shown, which of the marks in it are its own, and compares them with
// what it is shown next.

// maxNews bounds the block of decided suggestions, and maxRemark what a person
// says of one.
const (
	maxNews   = 8000
	maxRemark = 2000
)

// own are the marks of v, in which the suggestions list wait, that are the
// session's own.
func (s *Session) own(v *bridge.Version, list []bridge.Suggestion) []diffwrap.Suggestion {
	by := s.author()
	var own []diffwrap.Suggestion
	for _, sg := range list {
		if sg.Session == by.Session || sg.Author == by.Name {
			own = append(own, sg.Suggestion)
		}
	}
	marks := diffwrap.Suggestions(v.Marked())
	return without(marks, without(marks, own))
}

// resolved is what became of the session's suggestions up to the version cur.
// What cannot be found out is left out.
func (s *Session) resolved(p bridge.Path, n shownDoc, cur *bridge.Version) []bridge.Resolved {
	if len(n.mine) == 0 || n.version == cur || n.version == nil {
		return n.news
	}
	more, err := s.server.ws.Outcomes(p, n.version, cur, n.mine)
	if err != nil {
		s.server.log.Warn("outcomes of suggestions not known", bridge.LogPath, string(p), bridge.LogErr, err)
	}
	return append(slices.Clip(n.news), more...)
}

// without are those of marks that others does not have, of equal ones the last.
func without(marks, others []diffwrap.Suggestion) []diffwrap.Suggestion {
	key := func(s diffwrap.Suggestion) [3]string { return [3]string{s.Kind.String(), s.Old, s.New} }
	have := make(map[[3]string]int, len(others))
	for _, o := range others {
		have[key(o)]++
	}
	return slices.DeleteFunc(slices.Clone(marks), func(m diffwrap.Suggestion) bool {
		have[key(m)]--
		return have[key(m)] >= 0
	})
}

// newsBlock tells a model what was decided, a line each, or is "". What does not
// fit is told with the next read.
func newsBlock(news []bridge.Resolved) (block string, untold []bridge.Resolved) {
	if len(news) == 0 {
		return "", nil
	}
	lines := []string{"[Decided since you last read]"}
	for _, r := range news {
		line := "  " + string(r.Verdict) + ": " + sides(r.Suggestion)
		if r.Verdict == bridge.Changed {
			line += fmt.Sprintf(" now reads %q", answer.OneLine(r.Now))
		}
		if r.Reason != "" {
			line += fmt.Sprintf(" because %q", remark(r.Reason))
		}
		lines = append(lines, line+comments(r.Comments))
	}
	block, n := answer.JoinBounded(lines, maxNews)
	if n < len(lines) {
		block += fmt.Sprintf("\n  (%d more; read again to see them)", len(lines)-n)
		untold = news[n-1:]
	}
	return block, untold
}

// comments are comments as they stand in a note, to follow a suggestion.
func comments(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(" {>>" + remark(t) + "<<}")
	}
	return b.String()
}

// remark is what a person says, without line breaks.
func remark(s string) string {
	short, cut := answer.FirstThatFit(s, maxRemark)
	if cut {
		short += fmt.Sprintf("... [cut, %d bytes]", len(s))
	}
	return answer.Unbroken(short)
}
