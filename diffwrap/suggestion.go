package diffwrap

import (
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type Kind int

const (
	// Addition is text that only the accepted view has.
	Addition Kind = iota
	// Deletion is text that only the original view has.
	Deletion
	// Replacement is a suggestion that deletes text and adds text, or a substitution {~~old~>new~~}.
	Replacement
	// Comment is a comment {>>text<<}.
	Comment
	// Highlight is highlighted text {==text==}.
	Highlight
)

var kindNames = []string{"addition", "deletion", "replacement", "comment", "highlight"}

func (k Kind) String() string { return kindNames[k] }

// Suggestion is one pending change of a raw text, or one annotation (Comment, Highlight).
type Suggestion struct {
	Kind       Kind
	Start, End int       // byte range in raw, with the dialect's attribution, but without attached comments
	Line       int       // 1-based line of the change in the accepted view
	Old, New   string    // deleted and added text; an annotation has its text in New
	Author     string    // author named in the text; "" if missing
	Time       time.Time // time named in the text; zero if missing
	Comments   []string  // texts of the open comments directly after it
	Parts      []Span    // spans of its marks if anything is between them; nil if they are adjacent
	Gap        int       // bytes of plain text since the previous suggestion, or since the start of raw; 0 if it has Parts
}

func (s *Suggestion) Stretches() []Span {
	if s.Parts != nil {
		return s.Parts
	}
	return []Span{span.New(s.Start, s.End)}
}

// Subtract returns the suggestions of list without those that others has with the same kind and texts. If list has n more
// copies of a suggestion than others, Subtract returns the last n copies.
func Subtract(list, others []Suggestion) []Suggestion {
	type key struct {
		kind     Kind
		old, new string
	}
	have := make(map[key]int, len(others))
	for _, s := range others {
		have[key{s.Kind, s.Old, s.New}]++
	}
	return slices.DeleteFunc(slices.Clone(list), func(s Suggestion) bool {
		k := key{s.Kind, s.Old, s.New}
		have[k]--
		return have[k] >= 0
	})
}

// Suggestions lists the pending suggestions of raw, in order: additions, deletions and replacements.
func (k Known) Suggestions(raw string) []Suggestion { return k.SuggestionsBy(raw, nil) }
func Suggestions(raw string) []Suggestion           { return Known{}.Suggestions(raw) }

// SuggestionsBy is Suggestions with the owner of the mark at each offset in raw. Marks with the same Owner.Suggestion
// belong together at any distance. Other adjacent marks form one suggestion only if they have the same owner.
func (k Known) SuggestionsBy(raw string, ownerAt func(start int) Owner) []Suggestion {
	parsed := *k.parse(raw)
	doc := &parsed
	doc.OwnerAt = ownerAt
	groups := doc.Groups()
	known, out := make(map[string]int, len(groups)), slices.Grow([]Suggestion(nil), len(groups)) // nil if there is none
	lines := lineCounter{doc: doc, line: 1}
	after := 0 // index of the cell after the last suggestion
	for _, g := range groups {
		s := suggestion(doc, g)
		s.Line = lines.at(g.First) + leadingBreaks(s.New)
		for _, c := range doc.Cells[after:g.First] {
			if c.Kind == critic.Text {
				s.Gap += c.End - c.Start
			}
		}
		after = g.Last + 1
		if ownerAt != nil {
			if id := ownerAt(s.Start).Suggestion; id != "" {
				if i, ok := known[id]; ok {
					out[i].join(s)
					continue
				}
				known[id] = len(out)
			}
		}
		out = append(out, s)
	}
	return out
}

func (s *Suggestion) join(more Suggestion) {
	if s.Parts != nil || s.End != more.Start {
		s.Parts, s.Gap = append(s.Stretches(), more.Stretches()...), 0
	}
	s.End = more.End
	s.Old, s.New = s.Old+more.Old, s.New+more.New
	s.Comments = append(s.Comments, more.Comments...)
	if s.Kind != more.Kind {
		s.Kind = Replacement
	}
}

// Annotations lists the open comments and the highlights of raw that belong to no suggestion, in order. Each includes
// the open comments directly after it. A comment inside a highlight is part of the highlight's text.
func (k Known) Annotations(raw string) []Suggestion {
	doc := k.parse(raw)
	var out []Suggestion
	lines := lineCounter{doc: doc, line: 1}
	for i := 0; i < len(doc.Cells); {
		if g, ok := doc.GroupAt(i); ok {
			i = g.LastComment + 1
			continue
		}
		s, next, ok := annotation(doc, i)
		if ok {
			s.Line = lines.at(i)
			out = append(out, s)
		}
		i = next
	}
	return out
}

// annotation reads the annotation that starts with cell i, if any. next is the index of the next cell to read.
func annotation(d *critic.Document, i int) (s Suggestion, next int, ok bool) {
	c := &d.Cells[i]
	switch {
	case c.Kind == critic.HighlightOpen:
		s = Suggestion{Kind: Highlight, Start: c.Start, Author: c.By().Author, Time: c.By().Time}
		next = i + 1
		for d.Cells[next].Kind != critic.HighlightClose {
			s.New += d.Cells[next].Added().Of(d.Raw)
			next++
		}
		s.End = d.Cells[next].End
		next++
	case c.Kind == critic.Comment && !c.Resolved:
		s = Suggestion{Kind: Comment, Start: c.Start, End: c.End, New: c.Body.Of(d.Raw), Author: c.By().Author, Time: c.By().Time}
		next = i + 1
	default:
		return s, i + 1, false
	}
	last := next
	for d.IsMark(last, critic.Comment) {
		last++
	}
	s.addComments(d, d.Cells[next:last])
	return s, last, true
}

// suggestion converts a group. The caller sets Line and Gap.
func suggestion(d *critic.Document, g critic.Group) Suggestion {
	first, last := &d.Cells[g.First], &d.Cells[g.Last]
	s := Suggestion{Kind: Replacement, Start: first.Start, End: last.End}
	if first.Kind == critic.Addition {
		s.Kind = Addition
	} else if last.Kind == critic.Deletion {
		s.Kind = Deletion
	}
	var a critic.Attribution
	for i := g.First; i <= g.Last; i++ {
		c := &d.Cells[i]
		s.Old += c.Deleted().Of(d.Raw)
		s.New += c.Added().Of(d.Raw)
		a = a.OrElse(c.By())
	}
	s.Author, s.Time = a.Author, a.Time
	s.addComments(d, d.Cells[g.Last+1:g.LastComment+1])
	return s
}

func (s *Suggestion) addComments(d *critic.Document, comments []critic.Cell) {
	for i := range comments {
		if !comments[i].Resolved {
			s.Comments = append(s.Comments, comments[i].Body.Of(d.Raw))
		}
	}
}

// lineCounter counts lines of the accepted view. Calls must be in the order of the cells.
type lineCounter struct {
	doc  *critic.Document
	next int // index of the first cell that is not yet counted
	line int
}

// at returns the 1-based line of cell i.
func (l *lineCounter) at(i int) int {
	for ; l.next < i; l.next++ {
		l.line += strings.Count(l.doc.Cells[l.next].Added().Of(l.doc.Raw), "\n")
	}
	return l.line
}

// leadingBreaks counts the line breaks at the start of s. A run that adds whole lines starts with the break of the line
// before, so its text is on a later line.
func leadingBreaks(s string) int {
	rest := strings.TrimLeft(s, "\r\n")
	return strings.Count(s[:len(s)-len(rest)], "\n")
}

// Comments lists the open comments of raw in order, whether or not they are attached to suggestions.
func (k Known) Comments(raw string) []Suggestion {
	var out []Suggestion
	for _, t := range k.Threads(raw) {
		out = append(out, t.Comments...)
	}
	return out
}
