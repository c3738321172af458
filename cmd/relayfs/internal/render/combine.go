package render

import (
	"slices"
	"strconv"
)

// A prose element is drawn twice, before and after the changes, if less than 1/minKeptShare of its text is unchanged
// and the new element has more than smallBytes.
const (
	minKeptShare = 5
	smallBytes   = 100
)

// mergeLists merges the trees of a note before and after its changes. A node that is in both trees occurs once; a node in
// only one tree is marked as Old or New. Without the New nodes, the result is the tree before the changes. Without the
// Old nodes, the result is the tree after the changes.
func (m *merged) mergeLists(old, new []*Node) []*Node {
	partner := matchNodes(old, new)
	var out []*Node
	from := 0
	gap := 0
	for i, o := range old {
		j := partner[i]
		if j < from {
			continue
		}
		out = m.mergeGap(out, old[gap:i], new[from:j])
		out = append(out, m.mergeMatched(o, new[j]))
		gap, from = i+1, j+1
	}
	return m.mergeGap(out, old[gap:], new[from:])
}

func (m *merged) mergeMatched(o, n *Node) *Node {
	e := *n
	e.at, e.end = min(o.at, n.at), max(o.end, n.end)
	if n.Tag != "" {
		e.Children = m.mergeLists(o.Children, n.Children)
	}
	return &e
}

// mergeGap merges the nodes between matched nodes. It merges two small nodes if the same suggestion replaces the old
// node by the new one. It merges cells if both sides have the same number of cells.
func (m *merged) mergeGap(out, old, new []*Node) []*Node {
	for len(old) > 0 && len(new) > 0 {
		o, n := old[0], new[0]
		switch {
		case sameElement(o, n) && (isCell(o.Tag) && len(old) == len(new) || small(o) && small(n) && m.idAt(o.at) == m.idAt(n.at)):
			out = append(out, m.mergeMatched(o, n))
			old, new = old[1:], new[1:]
		case o.at <= n.at:
			out = append(out, m.markOneSided(o, Old))
			old = old[1:]
		default:
			out = append(out, m.markOneSided(n, New))
			new = new[1:]
		}
	}
	for _, o := range old {
		out = append(out, m.markOneSided(o, Old))
	}
	for _, n := range new {
		out = append(out, m.markOneSided(n, New))
	}
	return out
}

func (m *merged) markOneSided(n *Node, kind Kind) *Node {
	e := *n
	e.Kind = kind
	if e.ID = m.idAt(n.at); e.ID == "" {
		e.ID = m.nearest(n.at)
	}
	e.Children = nil
	for _, child := range n.Children {
		e.Children = append(e.Children, m.markOneSided(child, kind))
	}
	return &e
}

func (m *merged) idAt(off int) string { return m.runs[m.runAt(off)].id }

// sameElement reports whether two nodes are equal elements. It ignores their content, the number of a list item and the
// alignment of a cell.
func sameElement(o, n *Node) bool {
	return o.Tag == n.Tag && o.Tag != "" && (o.Attr == n.Attr || o.Tag == "li" || isCell(o.Tag))
}

func isCell(tag string) bool { return tag == "td" || tag == "th" }

func small(n *Node) bool {
	return isProse(n.Tag) && n.end-n.at <= smallBytes && !slices.ContainsFunc(n.Children, func(c *Node) bool { return c.Tag == "ul" || c.Tag == "ol" })
}

func isProse(tag string) bool {
	return tag == "p" || tag == "li" || len(tag) == 2 && tag[0] == 'h' && tag != "hr"
}

// matchNodes returns the index of the matching new node for each old node, or -1. The indices need not increase.
func matchNodes(old, new []*Node) []int {
	holder := make(map[int]int)    // maps the offset of an unchanged word to 1 + index of its new node
	hollow := make(map[string]int) // the same for elements without content, by tag and offset
	for j, n := range new {
		n.each(func(t *Node) {
			if t.unchanged {
				holder[t.at] = j + 1
			}
		})
		if n.Tag != "" && len(n.Children) == 0 {
			hollow[n.key()] = j + 1
		}
	}
	out := make([]int, len(old))
	for i, o := range old {
		out[i] = matchNode(o, new, holder)
		if o.Tag != "" && len(o.Children) == 0 {
			out[i] = hollow[o.key()] - 1
		}
	}
	return out
}

// matchNode returns the index of the new node that shares the most unchanged text with o. It returns -1 if there is no
// such node, or if that node does not match o.
func matchNode(o *Node, new []*Node, holder map[int]int) int {
	votes := make(map[int]int)
	best := -1
	o.each(func(t *Node) {
		j := holder[t.at] - 1
		if !t.unchanged || j < 0 || t.end == t.at && o.Tag == "" && new[j].Text != o.Text {
			return
		}
		votes[j] += t.end - t.at
		if best < 0 || votes[j] > votes[best] {
			best = j
		}
	})
	if best < 0 {
		return -1
	}
	n := new[best]
	if o.Tag == "" {
		if n.Tag == "" && n.end == o.end && n.Text == o.Text {
			return best
		}
		return -1
	}
	if !sameElement(o, n) || isProse(o.Tag) && !small(n) && votes[best]*minKeptShare < min(o.size(), n.size()) {
		return -1
	}
	return best
}

func (n *Node) key() string { return n.Tag + " " + n.Attr + " " + strconv.Itoa(n.at) }

func (n *Node) size() (sum int) {
	n.each(func(t *Node) {
		if t.Tag == "" {
			sum += t.end - t.at
		}
	})
	return sum
}
