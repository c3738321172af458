package critic

type Owner struct {
	Suggestion string // "" if unknown
	Author     string
	Access     Access
}

type Access uint8

const (
	Own     Access = iota // the mark is the writer's own; the writer changes it without a mark
	Earlier               // like Own, but the mark stays a separate suggestion unless the writer changes it
	Foreign               // of another author: the writer cannot change such a mark, and deletes such a comment like text
	Waiting               // another author's comment that awaits a decision and cannot change
)

// joins reports whether the owners allow adjacent marks to belong to one suggestion.
func (o Owner) joins(next Owner) bool {
	return o.Author == next.Author && o.Suggestion == next.Suggestion
}

// Group is the unit of decision: adjacent marks, with the adjacent comments after them. Its fields are indices of
// cells: First to Last are the marks, and the cells after Last up to LastComment are the comments.
type Group struct{ First, Last, LastComment int }

func (d *Document) Groups() []Group {
	out := make([]Group, 0, len(d.Cells)/3) // mostly a text, a deletion and an addition
	for i := 0; i < len(d.Cells); i++ {
		if g, ok := d.GroupAt(i); ok {
			out = append(out, g)
			i = g.LastComment
		}
	}
	return out
}

func (d *Document) GroupAt(i int) (Group, bool) {
	g := Group{First: i, Last: i}
	switch d.Cells[i].Kind {
	case Substitution:
	case Addition:
		g.Last = d.runEnd(i)
	case Deletion:
		g.Last = d.runEnd(i)
		if next := g.Last + 1; d.IsMark(next, Addition) && d.sameWriter(g.Last, next) {
			g.Last = d.runEnd(next)
		}
	default:
		return Group{}, false
	}
	g.LastComment = g.Last
	for d.IsMark(g.LastComment+1, Comment) {
		g.LastComment++
	}
	return g, true
}

// runEnd returns the last cell of the run that starts with cell i. A run consists of marks of one kind that are
// separate only because a single mark for their text would contain a delimiter, or a comment among other text.
func (d *Document) runEnd(i int) int {
	for d.IsMark(i+1, d.Cells[i].Kind) && d.sameWriter(i, i+1) && (d.hidesDelimiter(i) || d.partsComment(i)) {
		i++
	}
	return i
}

func (d *Document) IsMark(i int, kind Kind) bool {
	return i < len(d.Cells) && d.Cells[i].Kind == kind
}

// sameWriter reports whether adjacent cells i and next may belong to one suggestion. Attribution after a mark also
// counts for a mark without attribution directly before it.
func (d *Document) sameWriter(i, next int) bool {
	a, b := &d.Cells[i], &d.Cells[next]
	return (a.By().Author == b.By().Author || a.By().Author == "" && b.tail > 0) && (d.OwnerAt == nil || d.OwnerAt(a.Start).joins(d.OwnerAt(b.Start)))
}

// hidesDelimiter reports whether the cut between cells i and i+1 splits a delimiter.
func (d *Document) hidesDelimiter(i int) bool {
	left, right := d.Cells[i].Body.Of(d.Raw), d.Cells[i+1].Body.Of(d.Raw)
	left = left[max(0, len(left)-2):]
	right = right[:min(len(right), 2)]
	for at := range left {
		if n := delimiterAt(left[at:] + right); n > len(left)-at {
			return true
		}
	}
	return false
}

// shareAttribution copies the attribution after the last mark of a group to all its marks.
func (p *parser) shareAttribution() {
	for _, g := range p.Groups() {
		var a Attribution
		for i := g.Last; i >= g.First; i-- {
			a = p.Cells[i].By().OrElse(a)
			p.Cells[i].attribute(a)
		}
	}
}
