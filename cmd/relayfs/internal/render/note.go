package render

import (
	"bytes"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/diffwrap"
)

// maxParsed is the maximum size in bytes of a note that is drawn as a document. A larger note is drawn as source.
const maxParsed = 1 << 20

// maxWork is the maximum of the sum in tooManyMarks, and maxLines the maximum number of lines of such a note, because
// goldmark visits all open lists at each line. At these values goldmark takes a few seconds.
const (
	maxWork  = 100_000_000
	maxLines = 100_000
)

type Note struct {
	Properties []Property `json:"properties,omitempty"`
	Blocks     []Block    `json:"blocks"`
	New        bool       `json:"new,omitempty"`     // whether the whole note is suggested
	NewText    bool       `json:"newText,omitempty"` // whether the whole note except its front matter is suggested
}

type Property struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Block is a block of the Markdown or an item of a list. If one suggestion changes several adjacent blocks or items,
// these are one Block.
type Block struct {
	Nodes    []*Node    `json:"nodes"`
	Groups   [][]string `json:"groups,omitempty"`   // IDs of suggestions, by group
	Comments []int      `json:"comments,omitempty"` // indices of the threads that belong to no suggestion
	Source   []*Node    `json:"source,omitempty"`   // source of the changes that Nodes do not show

	at int // offset in the merged text
}

// NoteOf draws a note. If plain is set, it draws the source, line by line.
func NoteOf(note *reviewqueue.Note, plain bool) Note {
	d := drawing{text: note.Text, places: make(map[string][]diffwrap.Span), writers: make(map[string]writer), out: []Block{}}
	for i := range note.Suggestions {
		s := &note.Suggestions[i]
		d.writers[s.ID] = writer{s.Author, s.Session}
		if len(s.Places) > 0 {
			d.places[s.ID] = s.Places
		}
	}
	m, pieces := merge(note.Text, note.Marks(), d.places)
	d.merged, d.edges = m, m.edges()
	before, after := m.without(New), m.without(Old)
	n := Note{
		New:     len(before.text) == 0 && len(after.text) > 0,
		NewText: bodyOf(before) == len(before.text) && bodyOf(after) < len(after.text),
	}
	if plain || len(m.runs) == 0 || m.size > maxParsed || tooComplex(before) || tooComplex(after) {
		d.source()
	} else {
		n.Properties = properties(string(after.text))
		d.blocks(m.mergeLists(before.tree(bodyOf(before)), after.tree(bodyOf(after))))
	}
	d.addHidden(d.groupSuggestions())
	for i, t := range note.Threads {
		if t.Suggestion == "" {
			b := d.blockAt(placeOf(pieces, t.Start))
			b.Comments = append(b.Comments, i)
		}
	}
	for i := range d.out {
		d.out[i].Nodes = joinWords(d.out[i].Nodes)
	}
	n.Blocks = d.out
	return n
}

func tooComplex(v *view) bool {
	return tooManyMarks(v.text) || bytes.Count(v.text, []byte("\n")) > maxLines || outline.Of(string(v.text)).TooDeep != nil
}

func bodyOf(v *view) int {
	_, body, _ := frontmatter.Split(string(v.text))
	return body
}

// properties returns the properties of a note. If the front matter is not YAML, it returns the text as one property.
func properties(note string) []Property {
	list, err := frontmatter.Parse(note)
	if err != nil {
		yaml, _, _ := frontmatter.Split(note)
		return []Property{{Value: yaml}}
	}
	var out []Property
	for _, p := range list {
		out = append(out, Property{p.Key, valueText(p.Value)})
	}
	return out
}

func valueText(v any) string {
	list, ok := v.([]any)
	if !ok {
		return frontmatter.Text(v)
	}
	var texts []string
	for _, x := range list {
		texts = append(texts, frontmatter.Text(x))
	}
	return strings.Join(texts, ", ")
}

type drawing struct {
	text    string                     // raw text
	places  map[string][]diffwrap.Span // marks of each suggestion, by ID
	writers map[string]writer          // by suggestion ID
	merged  *merged
	edges   map[string]edges
	out     []Block
}

type writer struct{ author, session string }

// blocks adds a block for each node and each item of a list. It joins adjacent nodes with the same suggestion into one
// block.
func (d *drawing) blocks(nodes []*Node) {
	last := make(map[string]bool) // IDs of the suggestions of the last block
	add := func(n *Node) {
		ids := make(map[string]bool)
		n.each(func(n *Node) { ids[n.ID] = true })
		delete(ids, "")
		for id := range ids {
			if last[id] {
				b := &d.out[len(d.out)-1]
				b.Nodes = append(b.Nodes, n)
				maps.Copy(last, ids)
				return
			}
		}
		d.out = append(d.out, Block{Nodes: []*Node{n}, at: n.at})
		last = ids
	}
	for _, n := range nodes {
		if n.Tag != "ul" && n.Tag != "ol" {
			add(n)
			continue
		}
		for _, item := range n.Children {
			add(&Node{Tag: n.Tag, Kind: n.Kind, ID: n.ID, Children: []*Node{item}, at: item.at, end: item.end})
		}
	}
}

// source adds a block for each line of the merged text. It joins adjacent lines with the same suggestion into one
// block.
func (d *drawing) source() {
	line := &Node{Tag: "pre", Attr: "source"}
	flush := func(next int) {
		if len(line.Children) > 0 {
			d.blocks([]*Node{line})
		}
		line = &Node{Tag: "pre", Attr: "source", at: next, end: next}
	}
	for i := range d.merged.runs {
		r := &d.merged.runs[i]
		at := r.at
		for part := range strings.Lines(r.text) {
			line.Children = append(line.Children, r.node(part, at))
			at += len(part)
			line.end = at
			if strings.HasSuffix(part, "\n") {
				flush(at)
			}
		}
	}
	flush(d.merged.size)
}

func (r *run) node(part string, at int) *Node {
	n := &Node{Text: part, Kind: r.kind, at: at, end: at + len(part)}
	if r.kind != "" {
		n.ID = r.id
	}
	return n
}

func (d *drawing) groupSuggestions() (shown map[string]bool) {
	shown = make(map[string]bool)
	for i := range d.out {
		b := &d.out[i]
		for _, n := range b.Nodes {
			n.each(func(n *Node) {
				if n.ID != "" && !shown[n.ID] {
					shown[n.ID] = true
					d.addToBlock(b, n.ID)
				}
			})
		}
	}
	return shown
}

// addToBlock adds a suggestion to the last group of a block if the last suggestion of the group has the same writer and
// is at most MaxGroupGap unchanged bytes away. Otherwise addToBlock starts a new group.
func (d *drawing) addToBlock(b *Block, id string) {
	if n := len(b.Groups); n > 0 {
		group := b.Groups[n-1]
		if last := group[len(group)-1]; d.writers[last] == d.writers[id] && d.unchangedBetween(last, id) <= reviewqueue.MaxGroupGap {
			b.Groups[n-1] = append(group, id)
			return
		}
	}
	b.Groups = append(b.Groups, []string{id})
}

func (d *drawing) unchangedBetween(a, b string) int {
	sum := 0
	for i := d.edges[a].last + 1; i < d.edges[b].first; i++ {
		if d.merged.runs[i].kind == "" {
			sum += len(d.merged.runs[i].text)
		}
	}
	return sum
}

func (d *drawing) addHidden(shown map[string]bool) {
	var hidden []string
	for id := range d.places {
		if !shown[id] {
			hidden = append(hidden, id)
		}
	}
	sort.Slice(hidden, func(i, j int) bool { return d.places[hidden[i]][0].Start < d.places[hidden[j]][0].Start })
	for _, id := range hidden {
		e, ok := d.edges[id]
		if !ok { // the suggestion is a comment
			b := d.blockAt(d.merged.size)
			b.Source = append(b.Source, &Node{Text: d.places[id][0].Of(d.text) + "\n"})
			b.Groups = append(b.Groups, []string{id})
			continue
		}
		b := d.blockAt(d.merged.runs[e.last].at)
		b.Source = append(b.Source, d.lines(e)...)
		b.Groups = append(b.Groups, []string{id})
	}
}

// lines returns the source of the runs in e, extended to whole lines.
func (d *drawing) lines(e edges) []*Node {
	var out []*Node
	for i := e.first - 1; i >= 0; i-- {
		r := &d.merged.runs[i]
		at := strings.LastIndexByte(r.text, '\n') + 1
		out = append(out, r.node(r.text[at:], r.at+at))
		if at > 0 {
			break
		}
	}
	slices.Reverse(out)
	for i := e.first; i <= e.last; i++ {
		out = append(out, d.merged.runs[i].node(d.merged.runs[i].text, d.merged.runs[i].at))
	}
	for i := e.last + 1; i < len(d.merged.runs); i++ {
		r := &d.merged.runs[i]
		line, _, ended := strings.Cut(r.text, "\n")
		out = append(out, r.node(line, r.at))
		if ended {
			break
		}
	}
	return append(slices.DeleteFunc(out, func(n *Node) bool { return n.Text == "" }), &Node{Text: "\n"})
}

func (d *drawing) blockAt(off int) *Block {
	if len(d.out) == 0 {
		d.out = append(d.out, Block{})
	}
	i := sort.Search(len(d.out), func(i int) bool { return d.out[i].at > off })
	return &d.out[max(0, i-1)]
}

func (n *Node) each(f func(*Node)) {
	f(n)
	for _, c := range n.Children {
		c.each(f)
	}
}

func joinWords(list []*Node) []*Node {
	var out []*Node
	var words []string // words of the last node of out, if that is a text
	finish := func() {
		if len(words) > 0 {
			out[len(out)-1].Text = strings.Join(words, "")
		}
		words = nil
	}
	for _, n := range list {
		if len(words) > 0 && n.Tag == "" && out[len(out)-1].Kind == n.Kind && out[len(out)-1].ID == n.ID {
			words = append(words, n.Text)
			continue
		}
		finish()
		if n.Tag == "" {
			words = append(words, n.Text)
		}
		n.Children = joinWords(n.Children)
		out = append(out, n)
	}
	finish()
	return out
}

// tooManyMarks reports whether goldmark would take seconds, because the time that it needs is quadratic in the number
// of brackets, stars, tildes and underscores of a paragraph.
func tooManyMarks(text []byte) bool {
	work := 0
	for paragraph := range bytes.SplitSeq(text, []byte("\n\n")) {
		marks := 0
		for _, c := range paragraph {
			if c == '[' || c == '*' || c == '_' || c == '~' {
				marks++
			}
		}
		if work += marks * marks; work > maxWork {
			return true
		}
	}
	return false
}
