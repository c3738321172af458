package grep

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// Clause is a set of literals. Every match contains at least one of them. If Fold is set, literals and text must be
// folded (see [Fold]).
type Clause struct {
	Any  []string
	Fold bool
}

func (p *Pattern) Clauses() []Clause { return p.clauses }

const (
	// maxExact is the maximum number of literals of a clause.
	maxExact = 16
	// maxClass is the maximum number of runes of a class that is expanded. A scan for many literals takes longer than the
	// automaton.
	maxClass = 4
)

// clausesOf returns clauses that every match of re fulfils, by the method of Russ Cox, "Regular Expression Matching
// with a Trigram Index".
func clausesOf(re *syntax.Regexp) []Clause {
	a := analysis{fold: folds(re)}
	clauses := a.walk(re.Simplify()).flushed().clauses
	for i := range clauses {
		clauses[i].Fold = a.fold
	}
	return clauses
}

func folds(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		return true
	}
	return slices.ContainsFunc(re.Sub, folds)
}

type analysis struct{ fold bool }

// requirement is the exact set of strings that a part of a pattern matches. If exact is nil, it is a list of clauses
// instead. An exact empty string requires nothing.
type requirement struct {
	exact   []string
	clauses []Clause
}

func (n requirement) flushed() requirement {
	if n.exact == nil || slices.Contains(n.exact, "") {
		return requirement{clauses: n.clauses}
	}
	return requirement{clauses: append(n.clauses, Clause{Any: minimal(n.exact)})}
}

func minimal(set []string) []string {
	var out []string
	for _, s := range set {
		redundant := slices.ContainsFunc(set, func(t string) bool {
			return t != s && strings.Contains(s, t)
		})
		if !redundant && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (a analysis) walk(re *syntax.Regexp) requirement {
	switch re.Op {
	case syntax.OpLiteral:
		return requirement{exact: []string{a.literal(re.Rune)}}
	case syntax.OpCharClass:
		return a.class(re.Rune)
	case syntax.OpCapture:
		return a.walk(re.Sub[0])
	case syntax.OpConcat:
		return a.concat(re.Sub)
	case syntax.OpAlternate:
		return a.alternate(re.Sub)
	case syntax.OpPlus:
		return a.walk(re.Sub[0]).flushed()
	case syntax.OpQuest:
		n := a.walk(re.Sub[0])
		if n.exact == nil || len(n.exact) >= maxExact {
			return requirement{}
		}
		return requirement{exact: append([]string{""}, n.exact...)}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return requirement{exact: []string{""}}
	}
	return requirement{} // for any character, a repetition from zero, or no match
}

func (a analysis) literal(runes []rune) string {
	if a.fold {
		return Fold(string(runes))
	}
	return string(runes)
}

func (a analysis) class(pairs []rune) requirement {
	var exact []string
	for i := 0; i < len(pairs); i += 2 {
		for r := pairs[i]; r <= pairs[i+1]; r++ {
			if s := a.literal([]rune{r}); !slices.Contains(exact, s) {
				exact = append(exact, s)
			}
			if len(exact) > maxClass {
				return requirement{}
			}
		}
	}
	return requirement{exact: exact}
}

func (a analysis) concat(subs []*syntax.Regexp) requirement {
	res := requirement{exact: []string{""}}
	broken := false // whether an inexact part was found
	for _, sub := range subs {
		n := a.walk(sub)
		if res.exact != nil && n.exact != nil && len(res.exact)*len(n.exact) <= maxExact {
			res.exact = cross(res.exact, n.exact)
			continue
		}
		broken = true
		res = res.flushed()
		res.clauses = append(res.clauses, n.clauses...)
		res.exact = n.exact
		if res.exact == nil {
			res.exact = []string{""}
		}
	}
	if broken {
		return res.flushed()
	}
	return res
}

func cross(prefixes, suffixes []string) []string {
	out := make([]string, 0, len(prefixes)*len(suffixes))
	for _, p := range prefixes {
		for _, s := range suffixes {
			out = append(out, p+s)
		}
	}
	return out
}

func (a analysis) alternate(subs []*syntax.Regexp) requirement {
	var literals []string
	exact := true
	for _, sub := range subs {
		n := a.walk(sub)
		if n.exact != nil {
			literals = append(literals, n.exact...)
			continue
		}
		exact = false
		c := best(n.clauses)
		if c.Any == nil {
			return requirement{}
		}
		literals = append(literals, c.Any...)
	}
	switch {
	case len(literals) > maxExact:
		return requirement{}
	case exact:
		return requirement{exact: literals}
	case slices.Contains(literals, ""):
		return requirement{}
	}
	return requirement{clauses: []Clause{{Any: minimal(literals)}}}
}

// best returns the most selective clause: no other clause has a longer shortest literal. Among equal clauses it prefers
// the clause with the fewest literals.
func best(clauses []Clause) (best Clause) {
	bestLen := 0
	for _, c := range clauses {
		n := len(slices.MinFunc(c.Any, func(s, t string) int { return len(s) - len(t) }))
		if n > bestLen || n == bestLen && len(c.Any) < len(best.Any) {
			best, bestLen = c, n
		}
	}
	return best
}
