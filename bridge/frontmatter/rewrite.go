package frontmatter

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/relayfs/relayfs/diffwrap"
)

// ErrEntangled is the error for a change that would also change other properties, for example because they refer to a
// removed anchor.
var ErrEntangled = errors.New("front matter cannot be changed there without changing other properties")

// Rewrite returns text with the wanted properties. Unchanged properties keep their bytes and order; new properties
// follow them. Rewrite adds front matter if needed. If no property is left, it removes the front matter unless there
// are comments. Errors: *SyntaxError, ErrEntangled.
func Rewrite(text string, want Properties) (string, error) {
	have, err := Parse(text)
	if err != nil {
		return "", err
	}
	if Equal(have, want) {
		return text, nil
	}
	src, body, has := Split(text)
	from, to := body, body // offsets of src in text
	if has {
		from = lineEnd(text, 0)
		to = from + len(src)
	}
	for _, wide := range []bool{false, true} {
		yaml, err := rewriteYAML(src, lineBreak(text), want, wide)
		if err != nil {
			return "", err
		}
		if !has {
			fence := "---" + lineBreak(text)
			yaml = fence + yaml + fence
		}
		result := text[:from] + yaml + text[to:]
		if rest := strings.TrimSpace(yaml); has && len(want) == 0 && (rest == "" || rest == "{}") {
			bare := text[:len(text)-len(strings.TrimPrefix(text, diffwrap.ByteOrderMark))] + text[body:]
			if _, _, has := Split(bare); !has {
				return bare, nil
			}
		}
		if holds(result, want, text[body:]) {
			return result, nil
		}
	}
	return "", ErrEntangled
}

// holds reports whether text parses as front matter with the properties p, followed by the given body.
func holds(text string, p Properties, body string) bool {
	got, err := Parse(text)
	_, at, has := Split(text)
	return err == nil && has && text[at:] == body && Equal(got, p)
}

// rewriteYAML does the work of Rewrite for the text between the fences. If wide is set, it also removes the blank lines
// after a removed entry, which could otherwise become part of the text block before it.
func rewriteYAML(src, nl string, want Properties, wide bool) (string, error) {
	root, err := rootOf(src)
	if err != nil {
		return "", err
	}
	e := &editor{src: src, nl: nl, lines: linesOf(src), wide: wide}
	switch {
	case root == nil:
		e.put(len(src), len(src), strings.TrimPrefix(e.entries(want, 0), nl)+nl)
	case len(want) == 0 && isFlow(root):
		if to, ok := e.closing(e.skipProperties(e.offset(root))); ok {
			e.put(e.offset(root), to, "")
		}
	case !e.mapping(root, len(src), want):
		return "", ErrEntangled
	}
	return e.apply(), nil
}

type editor struct {
	src   string
	nl    string
	lines []int // start of each line, see linesOf
	wide  bool
	edits []edit

	cached struct{ line, column, at int } // the last result of offset
}

type edit struct {
	from, to int
	text     string
}

func (e *editor) put(from, to int, text string) { e.edits = append(e.edits, edit{from, to, text}) }

func (e *editor) apply() string {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	done := 0
	for _, x := range e.edits {
		x.from = max(x.from, done) // x may begin inside a removed range
		b.WriteString(e.src[done:x.from] + x.text)
		done = max(x.from, x.to)
	}
	b.WriteString(e.src[done:])
	return b.String()
}

type entry struct {
	key, value  *yaml.Node
	from, limit int // offsets of its lines, up to the next entry
}

// mapping edits the mapping n, which ends before limit, to hold want. If it returns false, the whole mapping must be
// rewritten.
func (e *editor) mapping(n *yaml.Node, limit int, want Properties) bool {
	if n.Style&yaml.FlowStyle != 0 {
		return e.flowMapping(n, limit, want)
	}
	entries, ok := e.entriesOf(n, limit)
	if !ok {
		return false
	}
	column := n.Column - 1
	values, there, end := want.ByKey(), make(map[string]bool, len(entries)), 0
	for _, x := range entries {
		name := keyOf(x.key)
		v, keep := values[name]
		there[name] = true
		end = e.lineEnd(e.contentEnd(x.from, x.limit, column))
		switch {
		case !keep && e.wide:
			to := end
			for to < x.limit && strings.TrimSpace(e.src[to:e.lineEnd(to)]) == "" {
				to = e.lineEnd(to)
			}
			e.put(x.from, min(to, x.limit), "")
		case !keep:
			e.put(x.from, end, "")
		case !Equal(valueOf(x.value), v) && !e.value(x, column, v):
			return false
		}
	}
	if limit == len(e.src) && column == 0 {
		end = limit // new properties follow the last comment
	}
	if rest := missingFrom(want, there); len(rest) > 0 {
		e.put(end, end, strings.TrimPrefix(e.entries(rest, column), e.nl)+e.nl)
	}
	return len(want) > 0 || limit == len(e.src)
}

// entriesOf returns the entries of a block mapping, or false if several share a line.
func (e *editor) entriesOf(n *yaml.Node, limit int) ([]entry, bool) {
	list := make([]entry, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		x := entry{key: n.Content[i], value: n.Content[i+1], limit: limit}
		at := e.offset(x.key)
		x.from = 1 + strings.LastIndexByte(e.src[:at], '\n')
		if strings.Trim(e.src[x.from:at], " ?") != "" {
			return nil, false
		}
		if i > 0 {
			list[len(list)-1].limit = x.from
		}
		list = append(list, x)
	}
	return list, true
}

func (e *editor) value(x entry, column int, v any) bool {
	before := len(e.edits)
	switch want := v.(type) {
	case Properties:
		if x.value.Kind == yaml.MappingNode && len(want) > 0 && e.mapping(x.value, x.limit, want) {
			return true
		}
	case []any:
		if x.value.Kind == yaml.SequenceNode && e.list(x.value, x.limit, want) {
			return true
		}
	}
	e.edits = e.edits[:before]
	return e.replace(x, column, v)
}

func (e *editor) replace(x entry, column int, v any) bool {
	keyEnd, ok := e.keyEnd(x.key, x.limit)
	if !ok {
		return false
	}
	colon, ok := e.colon(keyEnd)
	if !ok {
		return false
	}
	from, to := colon, colon
	if !isEmpty(x.value) {
		from = e.offset(x.value)
		if to, ok = e.end(x.value, x.limit, column, false); !ok {
			return false
		}
	}
	if isBlock(v) && !isFlow(x.value) {
		e.replaceByBlock(colon, from, to, e.block(v, column))
		return true
	}
	text := e.inline(v, x.value, column)
	switch {
	case strings.Contains(e.src[colon:from], "\n"):
		eol := e.contentLineEnd(colon)
		e.put(colon, colon, " "+text)
		e.put(eol, to, "")
	case text == "":
		e.put(colon, to, "")
	case from == colon:
		e.put(from, to, " "+text)
	default:
		e.put(from, to, text)
	}
	return true
}

// replaceByBlock replaces src[from:to] with lines. If the line has a comment, the lines go after it.
func (e *editor) replaceByBlock(colon, from, to int, lines string) {
	eol := e.contentLineEnd(colon)
	switch {
	case from > eol: // the old value begins on the next line
		e.put(eol, to, lines)
	case strings.TrimSpace(e.src[to:e.contentLineEnd(to)]) == "":
		e.put(colon, to, lines)
	default:
		e.put(from, to, "")
		at := e.contentLineEnd(to)
		e.put(at, at, lines)
	}
}

func valueOf(n *yaml.Node) any {
	r := reader{left: maxNodes}
	v, err := r.value(n, 0)
	if err != nil {
		return err // an error is Equal to no value
	}
	return v
}

func keyOf(n *yaml.Node) string { return Text(valueOf(n)) }

func isFlow(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle != 0
}

func isBlock(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0
	case Properties:
		return len(v) > 0
	}
	return false
}
