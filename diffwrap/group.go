package diffwrap

// group is what a person decides at once: marks that touch, with the comments that touch them on the right.
// Its fields are indices of cells; the marks are [first, last], the comments (last, lastComment].
type group struct {
	first, last, lastComment int
	kind                     Kind
}

// groups finds the suggestions of a document, in order.
func (d *document) groups() []group {
	var out []group
	for i := 0; i < len(d.cells); {
		g, ok := d.groupAt(i)
		if !ok {
			i++
			continue
		}
		out = append(out, g)
		i = g.lastComment + 1
	}
	return out
}

// groupAt returns the group that starts with cell i.
func (d *document) groupAt(i int) (group, bool) {
	g := group{first: i, last: i}
	switch d.cells[i].kind {
	case substitutionCell:
		g.kind = Replacement
	case additionCell:
		g.kind = Addition
		g.last = d.runEnd(i)
	case deletionCell:
		g.kind = Deletion
		g.last = d.runEnd(i)
		if next := g.last + 1; d.isMark(next, additionCell) && d.sameWriter(g.last, next) {
			g.kind = Replacement
			g.last = d.runEnd(next)
		}
	default:
		return group{}, false
	}
	g.lastComment = g.last
	for d.isMark(g.lastComment+1, commentCell) {
		g.lastComment++
	}
	return g, true
}

// runEnd returns the last cell of the run that starts with cell i: marks of one kind that were cut only because a
// delimiter would otherwise stand in one of them, or a comment among other text.
func (d *document) runEnd(i int) int {
	for d.isMark(i+1, d.cells[i].kind) && d.sameWriter(i, i+1) && (d.hidesDelimiter(i) || d.partsComment(i)) {
		i++
	}
	return i
}

func (d *document) isMark(i int, kind cellKind) bool {
	return i < len(d.cells) && d.cells[i].kind == kind
}

// sameWriter reports whether cells i and i+1 may belong to one suggestion. Attribution behind a mark counts for the
// marks without any that it is glued to.
func (d *document) sameWriter(i, next int) bool {
	a, b := &d.cells[i], &d.cells[next]
	if d.writer != nil && !d.writer(a.Start, a.End).joins(d.writer(b.Start, b.End)) {
		return false
	}
	return a.author == b.author || a.author == "" && b.End > b.close
}

// hidesDelimiter reports whether the cut between cells i and i+1 parts a delimiter.
func (d *document) hidesDelimiter(i int) bool {
	left, right := d.cells[i].body.Of(d.raw), d.cells[i+1].body.Of(d.raw)
	left = left[max(0, len(left)-2):]
	right = right[:min(len(right), 2)]
	for at := range left {
		if n := delimiterAt(left[at:] + right); n > len(left)-at {
			return true
		}
	}
	return false
}

// delimiterAt returns the length of the delimiter at the start of s, 0 when there is none.
func delimiterAt(s string) int {
	if s == "" || !startsDelimiter[s[0]] {
		return 0
	}
	if len(s) >= 2 {
		if two := s[:2]; two == arrow || two == metadataEnd {
			return 2
		}
	}
	if len(s) < 3 {
		return 0
	}
	switch s[:3] {
	case "{++", "{--", "{~~", "{>>", "{==", "++}", "--}", "~~}", "<<}", "==}":
		return 3
	}
	return 0
}

// startsDelimiter says which bytes a delimiter may start with.
var startsDelimiter = [256]bool{'{': true, '+': true, '-': true, '~': true, '<': true, '=': true, '@': true}

// shareTails gives every mark of a group the attribution that stands behind the last of them.
func (p *parser) shareTails() {
	for _, g := range p.groups() {
		var a attribution
		for i := g.last; i >= g.first; i-- {
			a = p.cells[i].orElse(a)
			p.cells[i].attribution = a
		}
	}
}
