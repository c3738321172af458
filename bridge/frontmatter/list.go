package frontmatter

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

type span struct{ from, to int }

// list edits the list n, which ends before limit, to hold want; kept items keep their bytes. It returns false if no
// item can be kept, or if items cannot be found in the source.
func (e *editor) list(n *yaml.Node, limit int, want []any) bool {
	have := make([]any, len(n.Content))
	for i, c := range n.Content {
		have[i] = valueOf(c)
	}
	keep, added := align(have, want)
	if !slices.Contains(keep, true) {
		return false
	}
	if n.Style&yaml.FlowStyle != 0 {
		items, ok := e.flowItems(n, limit)
		if !ok {
			return false
		}
		texts := make(map[int][]string, len(added))
		for at, list := range added {
			for _, v := range list {
				texts[at] = append(texts[at], e.flowText(v))
			}
		}
		e.flow(items, keep, texts)
		return true
	}
	return e.blockList(n, limit, keep, added)
}

const maxAlign = 4_000_000

// align computes a longest common subsequence of have and want. keep marks the items of have that stay. added maps an
// index in have to the new items that go before that item. If the computation would be too expensive, no item stays.
func align(have, want []any) (keep []bool, added map[int][]any) {
	keep, added = make([]bool, len(have)), make(map[int][]any)
	if len(have)*len(want) > maxAlign {
		return keep, added
	}
	length := make([][]int, len(have)+1)
	for i := range length {
		length[i] = make([]int, len(want)+1)
	}
	for i := len(have) - 1; i >= 0; i-- {
		for j := len(want) - 1; j >= 0; j-- {
			if Equal(have[i], want[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for j < len(want) {
		switch {
		case i < len(have) && Equal(have[i], want[j]):
			keep[i] = true
			i, j = i+1, j+1
		case i < len(have) && length[i+1][j] >= length[i][j+1]:
			i++
		default:
			added[i] = append(added[i], want[j])
			j++
		}
	}
	return keep, added
}

func (e *editor) blockList(n *yaml.Node, limit int, keep []bool, added map[int][]any) bool {
	column := n.Column - 1
	lines, ok := e.itemLines(n, limit, column)
	if !ok {
		return false
	}
	write := func(at int, list []any) {
		for _, v := range list {
			e.put(at, at, strings.Repeat(" ", column)+"-"+e.item(v, column)+e.nl)
		}
	}
	last := lines[0].from // the end of the last kept item
	for i, at := range lines {
		// New items go directly after the last kept item, before the comments that introduce the next item.
		write(last, added[i])
		if keep[i] {
			last = at.to
		} else {
			e.put(at.from, at.to, "")
		}
	}
	write(last, added[len(lines)])
	return true
}

// itemLines returns the lines of each item, without the comments and blank lines after it.
func (e *editor) itemLines(n *yaml.Node, limit, column int) ([]span, bool) {
	starts := make([]int, len(n.Content)+1)
	starts[len(n.Content)] = limit
	for i, c := range n.Content {
		at, ok := e.dash(c, column)
		if !ok || i > 0 && at <= starts[i-1] {
			return nil, false
		}
		starts[i] = at
	}
	lines := make([]span, len(n.Content))
	for i := range lines {
		lines[i] = span{starts[i], e.lineEnd(e.contentEnd(starts[i], starts[i+1], column))}
	}
	return lines, true
}

// dash returns the start of the line with the dash of the item c, or false if the dash is not first on its line.
func (e *editor) dash(c *yaml.Node, column int) (int, bool) {
	for line := c.Line - 1; line >= 0; line-- {
		at := e.lines[line]
		text := e.src[at:e.lineEnd(at)]
		if len(text) > column && text[column] == '-' && strings.TrimSpace(text[:column]) == "" {
			return at, true
		}
		if line < c.Line-1 && strings.TrimSpace(text) != "" && !strings.HasPrefix(strings.TrimSpace(text), "#") {
			return 0, false
		}
	}
	return 0, false
}

func (e *editor) flowItems(n *yaml.Node, limit int) ([]span, bool) {
	items := make([]span, len(n.Content))
	for i, c := range n.Content {
		to, ok := e.end(c, limit, 0, true)
		if !ok {
			return nil, false
		}
		items[i] = span{e.offset(c), to}
	}
	return items, true
}

// flow edits the contents of brackets or braces: items with keep set stay, and the items of added go before the item
// with their index. At least one item must stay.
func (e *editor) flow(items []span, keep []bool, added map[int][]string) {
	last := -1 // index of the last kept item
	var fresh []string
	for i, at := range items {
		fresh = append(fresh, added[i]...)
		if !keep[i] {
			continue
		}
		if last < 0 {
			e.put(items[0].from, at.from, "")
			for _, text := range fresh {
				e.put(at.from, at.from, text+", ")
			}
		} else {
			e.append(items[last], fresh)
			if i > last+1 {
				e.put(items[last+1].from, at.from, "")
			}
		}
		last, fresh = i, nil
	}
	e.append(items[last], append(fresh, added[len(items)]...))
	e.put(items[last].to, items[len(items)-1].to, "")
}

func (e *editor) append(item span, texts []string) {
	for _, text := range texts {
		e.put(item.to, item.to, ", "+text)
	}
}

func (e *editor) flowMapping(n *yaml.Node, limit int, want Properties) bool {
	count := len(n.Content) / 2
	items, keep := make([]span, count), make([]bool, count)
	values, there := want.ByKey(), make(map[string]bool, count)
	for i := range count {
		key, value := n.Content[2*i], n.Content[2*i+1]
		at, ok := e.flowEntry(key, value, limit)
		if !ok {
			return false
		}
		items[i] = span{e.offset(key), at.to}
		name := keyOf(key)
		there[name] = true
		var v any
		if v, keep[i] = values[name]; keep[i] && !Equal(valueOf(value), v) {
			text := e.flowText(v)
			if at.from > 0 && e.src[at.from-1] == ':' {
				text = " " + text // the old value is empty
			}
			e.put(at.from, at.to, text)
		}
	}
	if !slices.Contains(keep, true) {
		return false
	}
	added := make(map[int][]string)
	for _, p := range missingFrom(want, there) {
		added[count] = append(added[count], e.flowText(p.Key)+": "+e.flowText(p.Value))
	}
	e.flow(items, keep, added)
	return true
}

// flowEntry returns the span of the value of an entry in braces; an empty value is the empty span after the colon.
func (e *editor) flowEntry(key, value *yaml.Node, limit int) (span, bool) {
	if !isEmpty(value) {
		to, ok := e.end(value, limit, 0, true)
		return span{e.offset(value), to}, ok
	}
	keyEnd, ok := e.end(key, limit, 0, true)
	if !ok {
		return span{}, false
	}
	colon, ok := e.colon(keyEnd)
	return span{colon, colon}, ok
}
