package grep

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

type Options struct {
	IgnoreCase bool
	Multiline  bool // matches may cross line breaks, and '.' matches them
}

type Pattern struct {
	re      *regexp.Regexp
	dfa     *automaton // nil if the automaton cannot decide the pattern
	multi   bool       // whether a match can contain or depend on a line break
	literal string     // the whole expression if it is one case-sensitive literal; otherwise ""
	clauses []Clause   // every match contains one literal of each clause
	scan    Clause     // the clause by which to find candidates; nil if there is none, or if literals must be folded, which takes longer than the automaton

	withoutBoundary func() *regexp.Regexp // re without word boundaries, which are ASCII in package regexp; may be nil

	cr bool // whether the expression contains a carriage return; if not, CR LF is one line break

	conditional bool // whether the pattern has '^', '$', \b or the like

	size      int                   // number of instructions
	afterRune func() *regexp.Regexp // returns re preceded by any one rune; compiled at the first call
	done      <-chan struct{}       // searches stop when this channel is closed; may be nil
}

var ErrLineBreak = errors.New("the pattern contains a line break, which matches only in multiline mode")

type SyntaxError struct {
	Pattern string
	Off     int // byte offset of the invalid part in Pattern
	Len     int
	Msg     string
}

func (e *SyntaxError) Error() string {
	before := strings.Repeat(" ", len([]rune(e.Pattern[:e.Off])))
	marks := strings.Repeat("^", max(1, len([]rune(e.Pattern[e.Off:e.Off+e.Len]))))
	return fmt.Sprintf("regex parse error:\n    %s\n    %s%s\nerror: %s", e.Pattern, before, marks, e.Msg)
}

func Compile(pattern string, o Options) (*Pattern, error) {
	flags := "(?m)"
	if o.IgnoreCase {
		flags += "(?i)"
	}
	if o.Multiline {
		flags += "(?s)"
	}
	classes, err := classesIn(pattern)
	if err != nil {
		return nil, err
	}
	expr := flags + withUnicode(pattern, classes)
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, syntaxError(pattern, err)
	}
	if !o.Multiline {
		if tree, err = withoutLineBreaks(tree); err != nil {
			return nil, err
		}
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err == nil && len(prog.Inst) > maxProgram {
		return nil, &SyntaxError{Pattern: pattern, Len: len(pattern), Msg: "the pattern is too large: use fewer repetitions"}
	}
	re, err := regexp.Compile(expr) // it searches single lines, or tree is unchanged; tree.String() takes milliseconds for \w
	if err != nil {
		return nil, syntaxError(pattern, err)
	}
	p := &Pattern{
		conditional: isConditional(prog), re: re, cr: strings.Contains(pattern, `\r`) || strings.Contains(pattern, "\r"), dfa: newAutomaton(prog), size: len(prog.Inst), multi: o.Multiline && holdsLineBreak(tree),
		afterRune: sync.OnceValue(func() *regexp.Regexp { return afterOneRune(tree.String()) }),
	}
	if hasBoundary(prog) {
		p.withoutBoundary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(withoutBoundaries(tree).String()) })
	}
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		p.literal = string(tree.Rune)
	}
	p.clauses = required(tree.Simplify(), queryClass)
	if !folds(tree) {
		p.scan = best(required(tree.Simplify(), scanClass))
	}
	return p, nil
}

// classesIn returns the bracketed classes of a pattern. Nested classes and set operations, such as [a-z&&[aeiou]], are
// a *SyntaxError, because Go would interpret them as characters, unlike ripgrep.
func classesIn(pattern string) (classes []span, err error) {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if strings.HasPrefix(pattern[i:], `\Q`) {
				if end := strings.Index(pattern[i:], `\E`); end >= 0 {
					i += end
					continue
				}
				return classes, nil
			}
			i++
		case '[':
			end, err := checkClass(pattern, i)
			if err != nil {
				return nil, err
			}
			classes = append(classes, span{i, end})
			i = end
		}
	}
	return classes, nil
}

func checkClass(pattern string, i int) (end int, err error) {
	first := i + 1
	if strings.HasPrefix(pattern[first:], "^") {
		first++
	}
	for k := first; k < len(pattern); k++ {
		rest := pattern[k:]
		operation := 0
		switch {
		case rest[0] == ']' && k > first:
			return k, nil
		case rest[0] == '\\':
			k++
		case strings.HasPrefix(rest, "[:"):
			if closing := strings.Index(rest, ":]"); closing >= 0 {
				k += closing + 1
				continue
			}
			operation = 1
		case rest[0] == '[':
			operation = 1
		case k > first && (strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "~~") || strings.HasPrefix(rest, "--") && !strings.HasPrefix(rest[2:], "]")):
			operation = 2
		}
		if operation > 0 {
			return 0, &SyntaxError{Pattern: pattern, Off: k, Len: operation, Msg: "a class in brackets cannot contain another class or the operations && -- ~~: rewrite the class, or escape the character with a backslash"}
		}
	}
	return len(pattern), nil
}

func syntaxError(pattern string, err error) error {
	e := &SyntaxError{Pattern: pattern, Len: len(pattern), Msg: err.Error()}
	var se *syntax.Error
	if errors.As(err, &se) {
		e.Msg = se.Code.String()
		if i := strings.Index(pattern, se.Expr); i >= 0 && se.Expr != "" {
			e.Off, e.Len = i, len(se.Expr)
		}
	}
	return e
}

func withoutLineBreaks(re *syntax.Regexp) (*syntax.Regexp, error) {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			return nil, ErrLineBreak
		}
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpCharClass:
		re.Rune = classWithout(re.Rune, '\n')
	}
	for i, sub := range re.Sub {
		var err error
		if re.Sub[i], err = withoutLineBreaks(sub); err != nil {
			return nil, err
		}
	}
	return re, nil
}

func classWithout(class []rune, c rune) []rune {
	out := make([]rune, 0, len(class)+2)
	for i := 0; i < len(class); i += 2 {
		lo, hi := class[i], class[i+1]
		if c < lo || hi < c {
			out = append(out, lo, hi)
			continue
		}
		if lo < c {
			out = append(out, lo, c-1)
		}
		if c < hi {
			out = append(out, c+1, hi)
		}
	}
	return out
}

// holdsLineBreak reports whether a match can contain or touch a line break. In that case ripgrep searches the text as a
// whole.
func holdsLineBreak(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpAnyChar, syntax.OpBeginLine, syntax.OpEndLine:
		return true
	case syntax.OpCharClass:
		return !slices.Equal(classWithout(re.Rune, '\n'), re.Rune)
	}
	return slices.ContainsFunc(re.Sub, holdsLineBreak)
}
