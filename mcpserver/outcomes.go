package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/diffwrap"
)

// What people made of the session's suggestions: a session keeps, for each note
// that it was shown, which of the marks in it are its own, and compares them with
// what it is shown next.

// maxNews bounds the block of decided suggestions, in bytes.
const maxNews = 8 << 10

// shownNow is what a session that knew n knows of the note at p once it is shown
// v, in which the suggestions list wait; and what became of its own since.
func (s *Session) shownNow(p bridge.Path, n shownNote, v *bridge.Version, list []bridge.Suggestion) (shownNote, []bridge.Resolved) {
	by := s.author()
	var own []diffwrap.Suggestion
	for _, sg := range list {
		if sg.Session == by.Session || sg.Author == by.Name {
			own = append(own, sg.Suggestion)
		}
	}
	marks := diffwrap.Suggestions(v.Raw())
	return shownNote{version: v, mine: without(marks, without(marks, own))}, s.resolved(p, n, v)
}

// resolved is what became of the session's suggestions up to the version cur.
// What cannot be found out is left out.
func (s *Session) resolved(p bridge.Path, n shownNote, cur *bridge.Version) []bridge.Resolved {
	if len(n.mine) == 0 || n.version == cur {
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

// newsBlock tells a model what was decided, a line each, or is "".
func newsBlock(news []bridge.Resolved) string {
	if len(news) == 0 {
		return ""
	}
	lines := []string{"[Decided since you last read]"}
	for _, r := range news {
		line := "  " + string(r.Verdict) + ": " + sides(r.Suggestion)
		if r.Verdict == bridge.Changed {
			line += fmt.Sprintf(" now reads %q", oneLine(r.Now))
		}
		if r.Reason != "" {
			line += fmt.Sprintf(" because %q", oneLine(r.Reason))
		}
		lines = append(lines, line+comments(r.Comments))
	}
	block, n := joinBounded(lines, maxNews)
	if n < len(lines) {
		block += fmt.Sprintf("\n  (%d more)", len(lines)-n)
	}
	return block
}

// comments are comments as they stand in a note, to follow a suggestion.
func comments(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(" {>>" + oneLine(t) + "<<}")
	}
	return b.String()
}
