package bases

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says what is wrong with an expression, and where.
type Error struct {
	Expr   string
	Column int // in characters, from 1; 0 for the whole expression
	Msg    string
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("the expression `%s`: %s", e.Expr, e.Msg)
	}
	return fmt.Sprintf("the expression `%s`, column %d: %s", e.Expr, e.Column, e.Msg)
}

// Expr is an expression.
type Expr struct {
	text  string
	value node
	uses  []string // the formulas that it names
}

// String returns the expression as it was written.
func (e *Expr) String() string { return e.text }

const (
	maxText  = 10_000 // of an expression, in bytes
	maxDepth = 100    // of operators and calls within others
)

// Parse reads an expression. The error is an *Error.
func Parse(text string) (*Expr, error) {
	p := &parser{text: text}
	if len(text) > maxText {
		return nil, &Error{Expr: text[:strings.LastIndexByte(" "+text[:100], ' ')] + "...", Msg: fmt.Sprintf("it is longer than %d bytes", maxText)}
	}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Expr{text, root, p.uses}, nil
}

type parser struct {
	text  string
	off   int // behind the token
	start int // of the token
	kind  kind
	tok   string // the token; of a string its value
	depth int
	uses  []string
}

type kind int

const (
	end kind = iota
	number
	quoted
	ident
	operator
)

// failed is a panic with the error of a parser, which parse recovers.
type failed struct{ err *Error }

func (p *parser) fail(format string, args ...any) {
	panic(failed{&Error{p.text, 1 + utf8.RuneCountInString(p.text[:p.start]), fmt.Sprintf(format, args...)}})
}

func (p *parser) parse() (root node, err error) {
	defer func() {
		if f, ok := recover().(failed); ok {
			err = f.err
		}
	}()
	p.next()
	if p.kind == end {
		p.fail("it is empty")
	}
	root = p.binary(0)
	if p.kind != end {
		p.fail("%q is not expected here", p.tok)
	}
	return root, nil
}

var operators = []string{"||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "(", ")", "[", "]", ",", "."}

// next reads the next token.
func (p *parser) next() {
	rest := strings.TrimLeftFunc(p.text[p.off:], unicode.IsSpace)
	p.start = len(p.text) - len(rest)
	p.off = p.start
	if rest == "" {
		p.kind, p.tok = end, ""
		return
	}
	switch c, _ := utf8.DecodeRuneInString(rest); {
	case c == '"' || c == '\'':
		p.quoted(rest, byte(c))
		return
	case c >= '0' && c <= '9':
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if tail := rest[n:]; len(tail) > 1 && tail[0] == '.' && tail[1] >= '0' && tail[1] <= '9' {
			n += 1 + len(tail[1:]) - len(strings.TrimLeft(tail[1:], "0123456789"))
		}
		p.kind, p.tok = number, rest[:n]
	case isName(c):
		n := strings.IndexFunc(rest, func(c rune) bool { return !isName(c) && !unicode.IsDigit(c) })
		if n < 0 {
			n = len(rest)
		}
		p.kind, p.tok = ident, rest[:n]
		if tail := rest[n:]; strings.HasPrefix(tail, "-") && len(tail) > 1 && isName(rune(tail[1])) {
			p.fail("%q may be one name or a subtraction: write note[\"...\"] for a property with - in its name, or spaces around the -", rest[:n+2]+"...")
		}
	default:
		i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(rest, op) })
		if i < 0 {
			p.fail("%q is no part of an expression", string(c))
		}
		p.kind, p.tok = operator, operators[i]
	}
	p.off += len(p.tok)
}

func isName(c rune) bool { return unicode.IsLetter(c) || c == '_' || c == '$' }

func (p *parser) quoted(rest string, quote byte) {
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == quote:
			p.kind, p.tok = quoted, b.String()
			p.off += i + 1
			return
		case rest[i] == '\\' && i+1 < len(rest):
			i++
			if at := strings.IndexByte("ntr", rest[i]); at >= 0 {
				b.WriteByte("\n\t\r"[at])
				continue
			}
		}
		b.WriteByte(rest[i])
	}
	p.fail("the text has no end: a %c is missing", quote)
}

func (p *parser) is(op string) bool { return p.kind == operator && p.tok == op }

func (p *parser) need(op string) {
	if !p.is(op) {
		p.fail("%q is missing here", op)
	}
	p.next()
}

// levels are the binary operators, those that bind least first.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) node {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for n := 0; p.kind == operator && slices.Contains(levels[level], p.tok); n++ {
		if n > maxDepth*10 {
			p.fail("the expression is too long")
		}
		op := p.tok
		p.next()
		left = operation(op, left, p.binary(level+1))
	}
	return left
}

func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail("it is nested more than %d deep", maxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) unary() node {
	defer p.deeper()()
	if p.is("!") || p.is("-") {
		op := p.tok
		p.next()
		return prefix(op, p.unary())
	}
	return p.postfix(p.primary())
}

func (p *parser) primary() node {
	switch {
	case p.kind == number:
		n, err := strconv.ParseFloat(p.tok, 64)
		if err != nil {
			p.fail("the number %s is too large", p.tok)
		}
		p.next()
		return constant(n)
	case p.kind == quoted:
		s := p.tok
		p.next()
		return constant(s)
	case p.is("("):
		p.next()
		inner := p.binary(0)
		p.need(")")
		return inner
	case p.is("["):
		p.next()
		return list(p.until("]"))
	case p.is("/"):
		p.fail("regular expressions are not supported; take contains(), startsWith() or endsWith()")
	case p.kind == ident:
		return p.name()
	}
	if p.kind == end {
		p.fail("something is missing at the end")
	}
	p.fail("%q is not expected here", p.tok)
	return nil
}

// until reads expressions with commas between them, and the token that ends them.
func (p *parser) until(close string) []node {
	defer p.deeper()()
	var nodes []node
	for !p.is(close) {
		nodes = append(nodes, p.binary(0))
		if !p.is(close) {
			p.need(",")
		}
	}
	p.next()
	return nodes
}

var words = map[string]any{"true": true, "false": false, "null": nil}

// name reads what begins with a name: a word, a call of a function, or a property.
func (p *parser) name() node {
	name, start := p.tok, p.start
	p.next()
	if v, ok := words[name]; ok {
		return constant(v)
	}
	if p.is("(") {
		f := known(p, globals, "the function %s()", name, start)
		args := p.call(name, f.args, start)
		if name == "if" {
			return choice(args)
		}
		return func(on *File) any { return f.run(on, values(args, on)) }
	}
	switch name {
	case "this":
		p.start = start
		p.fail("`this` is not supported, since a base is read by itself here and not in a note")
	case "file":
		if !p.is(".") {
			return theFile
		}
		return p.file()
	case "note", "formula":
		if key, ok := p.key(); ok {
			if name == "note" {
				return property(key)
			}
			p.uses = append(p.uses, key)
			return formula(key)
		}
	}
	return property(name)
}

// key reads .name or ["name"] behind note and formula.
func (p *parser) key() (string, bool) {
	switch {
	case p.is("."):
		p.next()
		key, _ := p.ident()
		return key, true
	case p.is("["):
		p.next()
		if p.kind != quoted {
			p.fail("a name in quotes is missing here")
		}
		key := p.tok
		p.next()
		p.need("]")
		return key, true
	}
	return "", false
}

// file reads .field or .method() behind file.
func (p *parser) file() node {
	p.next()
	name, start := p.ident()
	if !p.is("(") {
		return known(p, fileFields, "file.%s", name, start)
	}
	f := known(p, fileMethods, "file.%s()", name, start)
	args := p.call("file."+name, f.args, start)
	return func(on *File) any { return f.run(on, values(args, on)) }
}

// ident reads a name, and returns where it begins.
func (p *parser) ident() (name string, start int) {
	if p.kind != ident {
		p.fail("a name is missing here")
	}
	name, start = p.tok, p.start
	p.next()
	return name, start
}

// known returns what a table has for a name, which begins at start. what is it with a verb for the name.
func known[T any](p *parser, table map[string]T, what, name string, start int) T {
	f, ok := table[name]
	if !ok {
		p.start = start
		p.fail(what+" is not supported; those that are: %s", name, strings.Join(slices.Sorted(maps.Keys(table)), ", "))
	}
	return f
}

// postfix reads fields, methods and indices of a value.
func (p *parser) postfix(n node) node {
	for i := 0; ; i++ {
		if i > maxDepth {
			p.fail("it is nested more than %d deep", maxDepth)
		}
		switch {
		case p.is("["):
			p.next()
			at := p.binary(0)
			p.need("]")
			n = index(n, at)
		case p.is("."):
			p.next()
			n = p.member(n)
		default:
			return n
		}
	}
}

func (p *parser) member(of node) node {
	name, start := p.ident()
	if !p.is("(") {
		return member(of, name)
	}
	m := known(p, methods, "the function .%s()", name, start)
	args := p.call("."+name, m.args, start)
	return func(f *File) any { return m.run(of(f), values(args, f)) }
}

// arity is how many arguments a function takes: at least and at most, -1 for any number.
type arity struct{ least, most int }

// call reads the arguments of a function, whose name begins at start.
func (p *parser) call(name string, takes arity, start int) []node {
	p.next()
	args := p.until(")")
	if len(args) < takes.least || takes.most >= 0 && len(args) > takes.most {
		p.start = start
		p.fail("%s() does not take %d arguments", name, len(args))
	}
	return args
}
