package grep

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// The members of the classes \w, \d and \s are Unicode in ripgrep, but ASCII in Go.
const (
	wordChars  = `\p{L}\p{M}\p{Nl}\p{Nd}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}`
	digitChars = `\p{Nd}`
	spaceChars = `\t\n\v\f\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`
)

var (
	notWord  = sync.OnceValue(func() string { return membersOf(`[^` + wordChars + `]`) })
	notDigit = sync.OnceValue(func() string { return membersOf(`[^` + digitChars + `]`) })
	notSpace = sync.OnceValue(func() string { return membersOf(`[^` + spaceChars + `]`) })
)

var wordRanges = sync.OnceValue(func() []rune {
	tree, err := syntax.Parse(`[`+wordChars+`]`, syntax.Perl)
	if err != nil {
		return nil // the class is valid, so this cannot happen
	}
	return tree.Rune
})

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return syntax.IsWordChar(r)
	}
	i, found := slices.BinarySearch(wordRanges(), r)
	return found || i%2 == 1
}

func hasBoundary(prog *syntax.Prog) bool {
	return slices.ContainsFunc(prog.Inst, func(in syntax.Inst) bool {
		return in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
	})
}

func isConditional(prog *syntax.Prog) bool {
	return slices.ContainsFunc(prog.Inst, func(in syntax.Inst) bool { return in.Op == syntax.InstEmptyWidth })
}

func withoutBoundaries(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	if re.Op == syntax.OpWordBoundary || re.Op == syntax.OpNoWordBoundary {
		out.Op = syntax.OpEmptyMatch
	}
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = withoutBoundaries(sub)
	}
	return &out
}

// membersOf returns the ranges of a class as text that can be embedded in another class.
func membersOf(class string) string {
	tree, err := syntax.Parse(class, syntax.Perl)
	if err != nil {
		return "" // cannot happen, because all classes here are valid
	}
	var b strings.Builder
	for i := 0; i+1 < len(tree.Rune); i += 2 {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, tree.Rune[i], tree.Rune[i+1])
	}
	return b.String()
}

// withUnicode replaces \w, \d, \s and their negations with Unicode classes. classes are the bracketed classes in
// pattern.
func withUnicode(pattern string, classes []span) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			b.WriteByte(pattern[i])
			continue
		}
		if strings.HasPrefix(pattern[i:], `\Q`) {
			end := strings.Index(pattern[i:], `\E`)
			if end < 0 {
				end = len(pattern) - i
			}
			b.WriteString(pattern[i : i+end])
			i += end - 1
			continue
		}
		i++
		for len(classes) > 0 && classes[0].end <= i {
			classes = classes[1:]
		}
		inside := len(classes) > 0 && classes[0].start < i
		members, negated := "", func() string { return "" }
		switch pattern[i] {
		case 'w':
			members = wordChars
		case 'd':
			members = digitChars
		case 's':
			members = spaceChars
		case 'W':
			members, negated = wordChars, notWord
		case 'D':
			members, negated = digitChars, notDigit
		case 'S':
			members, negated = spaceChars, notSpace
		}
		not := pattern[i] >= 'A' && pattern[i] <= 'Z'
		switch {
		case members == "":
			b.WriteString(pattern[i-1 : i+1])
		case inside && not:
			b.WriteString(negated())
		case inside:
			b.WriteString(members)
		case not:
			b.WriteString("[^" + members + "]")
		default:
			b.WriteString("[" + members + "]")
		}
	}
	return b.String()
}
