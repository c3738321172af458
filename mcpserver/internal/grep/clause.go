package grep

import (
	"regexp/syntax"
	"slices"
)

// Clause is a set of literals. Every match contains at least one of them, if both are folded.
type Clause []string

func (p *Pattern) Clauses() []Clause { return p.clauses }

const (
	// maxExact is the maximum number of literals of a clause.
	maxExact = 16
	// A class is expanded if it has at most this many runes. A scan for many literals takes longer than the automaton,
	// but a query by trigrams may as well exclude each of the ten digits to which \d folds.
	scanClass, queryClass = 4, 10
)

func folds(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		return true
	}
	return slices.ContainsFunc(re.Sub, folds)
}

// required returns clauses that every match of re fulfils, by the method of Russ Cox, "Regular Expression Matching with
// a Trigram Index".
func required(re *syntax.Regexp, maxClass int) (clauses []Clause) {
	if set := exact(re, maxClass); set != nil {
		return withoutEmpty(set)
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0], maxClass)
	case syntax.OpConcat:
		run := []string{""} // the matches of the last parts
		for _, sub := range re.Sub {
			set := exact(sub, maxClass)
			if set == nil || len(run)*len(set) > maxExact {
				clauses, run = append(clauses, withoutEmpty(run)...), []string{""}
			}
			if set == nil {
				clauses = append(clauses, required(sub, maxClass)...)
			} else {
				run = cross(run, set)
			}
		}
		return append(clauses, withoutEmpty(run)...)
	case syntax.OpAlternate:
		var any Clause
		for _, sub := range re.Sub {
			c := best(required(sub, maxClass))
			if any = append(any, c...); c == nil || len(any) > maxExact {
				return nil
			}
		}
		return []Clause{any}
	}
	return nil
}

// exact returns all strings that re matches, if they are few, and otherwise nil.
func exact(re *syntax.Regexp, maxClass int) (set []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture:
		return exact(re.Sub[0], maxClass)
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				s := string(r)
				if maxClass == queryClass {
					s = string(foldRune(r))
				}
				if !slices.Contains(set, s) {
					set = append(set, s)
				}
				if len(set) > maxClass {
					return nil
				}
			}
		}
	case syntax.OpConcat:
		set = []string{""}
		for _, sub := range re.Sub {
			if set = cross(set, exact(sub, maxClass)); len(set) == 0 || len(set) > maxExact {
				return nil
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			more := exact(sub, maxClass)
			if set = append(set, more...); more == nil || len(set) > maxExact {
				return nil
			}
		}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	}
	return set
}

func withoutEmpty(set []string) []Clause {
	if slices.Contains(set, "") {
		return nil
	}
	return []Clause{set}
}

func cross(prefixes, suffixes []string) (out []string) {
	for _, p := range prefixes {
		for _, s := range suffixes {
			out = append(out, p+s)
		}
	}
	return out
}

// best returns the most selective clause: no other clause has a longer shortest literal. Among equal clauses it prefers
// the clause with the fewest literals.
func best(clauses []Clause) (best Clause) {
	bestLen := 0
	for _, c := range clauses {
		n := len(slices.MinFunc(c, func(s, t string) int { return len(s) - len(t) }))
		if n > bestLen || n == bestLen && len(c) < len(best) {
			best, bestLen = c, n
		}
	}
	return best
}
