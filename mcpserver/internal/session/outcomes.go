package session

import (
	"slices"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// What people made of the session's suggestions: a session keeps, for each note
// that it was shown, which of the marks in it are its own, and compares them with
// what it is shown next.

// Own are the marks of v, in which the suggestions list wait, that are the
// session's own.
func (s *Session) Own(v *model.Version, list []model.Suggestion) []diffwrap.Suggestion {
	by := s.Author()
	var own []diffwrap.Suggestion
	for _, sg := range list {
		if sg.Session == by.Session || sg.Author == by.Name {
			own = append(own, sg.Suggestion)
		}
	}
	marks := diffwrap.Suggestions(v.Marked())
	return without(marks, without(marks, own))
}

// Resolved is what became of the session's suggestions up to the version cur.
// What cannot be found out is left out.
func (s *Session) Resolved(p model.Path, n Knowledge, cur *model.Version) []bridge.Resolved {
	if len(n.Mine) == 0 || n.Version == cur || n.Version == nil {
		return n.News
	}
	more, err := s.o.Outcomes.Outcomes(p, n.Version, cur, n.Mine)
	if err != nil {
		s.o.Logger.Warn("outcomes of suggestions not known", model.LogPath, string(p), model.LogErr, err)
	}
	return append(slices.Clip(n.News), more...)
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
