package grep

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// automaton is a lazy DFA that finds the end of a match in linear time (Russ Cox, "Regular Expression Matching: the
// Virtual Machine Approach", and RE2). On lines without a match it is many times faster than package regexp.
type automaton struct {
	prog    *syntax.Prog
	classes classes
	caches  sync.Pool   // *cache values, reused by later searches
	broken  atomic.Bool // set when a cache has exceeded maxStates, because later searches would probably exceed it too
}

const (
	// maxStates is the maximum number of states of a cache. If a search needs more states, package regexp does the
	// search.
	maxStates = 4096
	// maxWork is the maximum work of the preparation: the number of instructions times the number of ranges of runes.
	maxWork = 1 << 20
)

// newAutomaton returns the automaton of an expression. It returns nil for patterns with \A or \z, and for very large
// patterns.
func newAutomaton(prog *syntax.Prog) *automaton {
	for _, in := range prog.Inst {
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return nil
		}
	}
	a := &automaton{prog: prog}
	if !a.classes.divide(prog) {
		return nil
	}
	a.caches.New = func() any { return newCache(a) }
	return a
}

// context is the kind of rune before a position in a text. It decides whether '^' and \b match there.
type context uint8

const (
	lineBegin context = iota // also every position if the pattern has no '^', '$' or \b
	afterWord
	afterOther
)

func (x *classes) contextAfter(r rune) context {
	switch {
	case r == '\n' || !x.conditional:
		return lineBegin
	case isWord(r):
		return afterWord
	}
	return afterOther
}

const endOfText rune = -1

func conditions(before context, next rune) syntax.EmptyOp {
	var op syntax.EmptyOp
	if before == lineBegin {
		op |= syntax.EmptyBeginLine
	}
	if next == '\n' || next == endOfText {
		op |= syntax.EmptyEndLine
	}
	if (before == afterWord) != (next != endOfText && isWord(next)) {
		return op | syntax.EmptyWordBoundary
	}
	return op | syntax.EmptyNoWordBoundary
}

const (
	unknown int32 = -1 // not computed yet
	matched int32 = -2
)

// state is the set of waiting instructions, and the context of the position.
type state struct {
	pcs    []uint32
	before context
}

type cache struct {
	a      *automaton
	states []state
	// next is a table with one row per state and one entry per class. An entry is the row of the next state.
	next  []int32
	byKey map[string]int32

	seen  []bool   // instructions that the current step has visited
	stack []uint32 // instructions that are still to be visited
	key   []byte
}

func newCache(a *automaton) *cache {
	c := &cache{a: a, byKey: make(map[string]int32), seen: make([]bool, len(a.prog.Inst))}
	c.add(state{before: lineBegin})
	return c
}

// add adds a state and returns its row. ok is false if there are too many states.
func (c *cache) add(s state) (int32, bool) {
	c.key = append(c.key[:0], byte(s.before))
	for _, pc := range s.pcs {
		c.key = binary.AppendUvarint(c.key, uint64(pc))
	}
	if n, ok := c.byKey[string(c.key)]; ok {
		return n, true
	}
	if len(c.states) == maxStates {
		return 0, false
	}
	n := int32(len(c.next))
	c.byKey[string(c.key)] = n
	c.states = append(c.states, s)
	for range c.a.classes.n {
		c.next = append(c.next, unknown)
	}
	return n, true
}

// find returns the smallest offset at which a match ends, or -1 if there is no match. text must begin at the start of a
// line. ok is false if the automaton has grown too large.
func (a *automaton) find(text string) (off int, ok bool) {
	if a.broken.Load() {
		return 0, false
	}
	c := a.caches.Get().(*cache)
	if off, ok = c.find(text); !ok {
		a.broken.Store(true)
		return 0, false
	}
	a.caches.Put(c)
	return off, true
}

// eachLine calls fn with every line that has a match, until fn returns false or the search is cancelled. If the
// automaton has grown too large, done is false and off is the start of the first line that it has not searched.
func (a *automaton) eachLine(text string, isCancelled func() bool, fn func(line span) bool) (off int, done bool) {
	if a.broken.Load() {
		return 0, false
	}
	c := a.caches.Get().(*cache)
	for off < len(text) && !isCancelled() {
		at, ok := c.find(text[off:])
		if !ok {
			a.broken.Store(true)
			return off, false
		}
		if at < 0 || off+at == len(text) && text[len(text)-1] == '\n' { // no line follows the last line break
			break
		}
		l := span{off + lineStart(text[off:], at), lineEnd(text, off+at)}
		if !fn(l) {
			break
		}
		off = l.end + 1
	}
	a.caches.Put(c)
	return off, true
}

func (c *cache) find(text string) (off int, ok bool) {
	classes := &c.a.classes
	row := int32(0) // row of the current state
	for i := 0; i < len(text); {
		var class uint16
		r, size := rune(text[i]), 1
		if r < utf8.RuneSelf {
			class = classes.low[r]
		} else {
			r, size = utf8.DecodeRuneInString(text[i:])
			class = classes.of(r)
		}
		to := c.next[int(row)+int(class)]
		if to < 0 {
			if to, ok = c.step(row, class, r); !ok {
				return 0, false
			}
			if to == matched {
				return i, true
			}
		}
		row = to
		i += size
	}
	if to, ok := c.step(row, classes.end, endOfText); !ok || to == matched {
		return len(text), ok
	}
	return -1, true
}

// step returns the row of the state that follows the given state (row) after the rune r of the given class.
func (c *cache) step(row int32, class uint16, r rune) (to int32, ok bool) {
	if to = c.next[int(row)+int(class)]; to != unknown {
		return to, true
	}
	s := c.states[int(row)/c.a.classes.n]
	clear(c.seen)
	c.stack = append(append(c.stack[:0], s.pcs...), uint32(c.a.prog.Start))
	to, ok = matched, true
	if pcs, found := c.run(conditions(s.before, r), r); !found {
		slices.Sort(pcs)
		to, ok = c.add(state{slices.Compact(pcs), c.a.classes.contextAfter(r)})
	}
	if ok {
		c.next[int(row)+int(class)] = to
	}
	return to, ok
}

// run executes the instructions on the stack. after has the successors of the instructions that accept r. found reports
// whether there is a match before r.
func (c *cache) run(holds syntax.EmptyOp, r rune) (after []uint32, found bool) {
	for len(c.stack) > 0 {
		pc := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		if c.seen[pc] {
			continue
		}
		c.seen[pc] = true
		switch in := &c.a.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			c.stack = append(c.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			c.stack = append(c.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				c.stack = append(c.stack, in.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r != endOfText && in.MatchRune(r) {
				after = append(after, in.Out)
			}
		}
	}
	return after, false
}

// classes divides runes into classes. No instruction distinguishes two runes of a class.
type classes struct {
	n     int // number of classes, including the class of the end of the text
	end   uint16
	low   [0x800]uint16 // classes of the first runes: Latin, Greek, Cyrillic, Hebrew, Arabic
	from  []rune        // first rune of each range
	class []uint16      // class of each range

	conditional bool // whether the pattern has '^', '$' or \b
}

func (x *classes) of(r rune) uint16 {
	if int(r) < len(x.low) {
		return x.low[r]
	}
	return x.class[sort.Search(len(x.from), func(i int) bool { return x.from[i] > r })-1]
}

func (x *classes) divide(prog *syntax.Prog) bool {
	x.conditional = isConditional(prog)
	x.from = borders(prog)
	if len(x.from)*len(prog.Inst) > maxWork {
		return false
	}
	byMatch := make(map[string]uint16)
	for _, r := range x.from {
		key := []byte{byte(x.contextAfter(r))}
		for i := range prog.Inst {
			in := &prog.Inst[i]
			switch in.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if in.MatchRune(r) {
					key = binary.AppendUvarint(key, uint64(i)+1)
				}
			}
		}
		if _, ok := byMatch[string(key)]; !ok {
			byMatch[string(key)] = uint16(len(byMatch))
		}
		x.class = append(x.class, byMatch[string(key)])
	}
	x.end = uint16(len(byMatch))
	x.n = len(byMatch) + 1
	for i, r := range x.from {
		for ; int(r) < len(x.low) && (i+1 == len(x.from) || r < x.from[i+1]); r++ {
			x.low[r] = x.class[i]
		}
	}
	return true
}

// borders returns the runes at which the result of an instruction, '^', '$' or \b may change.
func borders(prog *syntax.Prog) []rune {
	var list []rune
	add := func(lo, hi rune) { list = append(list, lo, hi+1) }
	list = append(list, 0)
	add('\n', '\n')
	if hasBoundary(prog) {
		for i := 0; i+1 < len(wordRanges()); i += 2 {
			add(wordRanges()[i], wordRanges()[i+1])
		}
	}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		switch {
		case in.Op != syntax.InstRune && in.Op != syntax.InstRune1:
		case len(in.Rune) == 1:
			for _, r := range orbit(in.Rune[0]) {
				add(r, r)
			}
		default:
			for i := 0; i+1 < len(in.Rune); i += 2 {
				add(in.Rune[i], in.Rune[i+1])
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
