package critic

// Owner is whose a mark or a comment is, and which suggestion it is a part of, as a caller knows it.
type Owner struct {
	Suggestion string // "" if that is not known
	Author     string
	Access     Access
}

// Access says what a writer may do with a mark or a comment.
type Access uint8

const (
	Own     Access = iota // it is the writer's, who changes it without a mark
	Earlier               // likewise; but a suggestion of which the writer changes nothing stays one of its own
	Foreign               // somebody else's: marks are never changed, and comments are deleted as text is
	Waiting               // a comment of somebody else's that waits for a decision: it is never changed
)

// joins reports whether marks that touch are one suggestion. For those without an author the text decides.
func (o Owner) joins(next Owner) bool {
	return o.Author == next.Author && (o.Suggestion == next.Suggestion || o.Author == "" && (o.Suggestion == "" || next.Suggestion == ""))
}

// Group is what a person decides at once: marks that touch, with the comments that touch them on the right.
// Its fields are indices of cells; the marks are [first, last], the comments (last, lastComment].
type Group struct{ First, Last, LastComment int }

// Groups finds the suggestions of a document, in order.
func (d *Document) Groups() []Group {
	var out []Group
	for i := 0; i < len(d.Cells); i++ {
		if g, ok := d.GroupAt(i); ok {
			out = append(out, g)
			i = g.LastComment
		}
	}
	return out
}

// GroupAt returns the group that starts with cell i.
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

// runEnd returns the last cell of the run that starts with cell i: marks of one kind that were cut only because a
// delimiter would otherwise stand in one of them, or a comment among other text.
func (d *Document) runEnd(i int) int {
	for d.IsMark(i+1, d.Cells[i].Kind) && d.sameWriter(i, i+1) && (d.hidesDelimiter(i) || d.partsComment(i)) {
		i++
	}
	return i
}

func (d *Document) IsMark(i int, kind Kind) bool {
	return i < len(d.Cells) && d.Cells[i].Kind == kind
}

// sameWriter reports whether cells i and i+1 may belong to one suggestion. Attribution after a mark counts for the
// marks without any that it touches.
func (d *Document) sameWriter(i, next int) bool {
	a, b := &d.Cells[i], &d.Cells[next]
	return (d.Owners == nil || d.Owners[a.Start].joins(d.Owners[b.Start])) && (a.Author == b.Author || a.Author == "" && b.End > b.Close)
}

// hidesDelimiter reports whether the cut between cells i and i+1 parts a delimiter.
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

// shareTails gives every mark of a group the attribution that stands after the last of them.
func (p *parser) shareTails() {
	for _, g := range p.Groups() {
		var a Attribution
		for i := g.Last; i >= g.First; i-- {
			a = p.Cells[i].OrElse(a)
			p.Cells[i].Attribution = a
		}
	}
}
