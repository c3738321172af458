package diffwrap

// Accept returns the edits that accept one suggestion of raw, as found by Suggestions on the same text: its
// delimiters, metadata of any dialect, attached comments and deleted text go; nothing else changes. It returns nil when
// raw has no such suggestion (any more).
func Accept(raw string, s Suggestion) []Edit { return decide(raw, &s, true) }

// Reject is Accept the other way: the added text goes and the deleted text stays.
func Reject(raw string, s Suggestion) []Edit { return decide(raw, &s, false) }

// AcceptAll returns the edits that accept every suggestion of raw. Highlights, and comments that are attached to no
// suggestion, stay.
func AcceptAll(raw string) []Edit { return decide(raw, nil, true) }

// RejectAll returns the edits that reject every suggestion of raw.
func RejectAll(raw string) []Edit { return decide(raw, nil, false) }

// decide carries out a decision on one suggestion, or on all when only is nil.
func decide(raw string, only *Suggestion, accept bool) []Edit {
	doc := parse(raw)
	if doc.plain() {
		return nil
	}
	var edits []Edit
	ids := make(map[string]bool)
	for _, g := range doc.groups() {
		if only != nil && (doc.cells[g.first].start != only.Start || doc.cells[g.last].end != only.End) {
			continue
		}
		for i := g.first; i <= g.lastComment; i++ {
			c := &doc.cells[i]
			edits = c.resolve(edits, i <= g.last, accept)
			if c.id != "" {
				ids[c.id] = true
			}
		}
	}
	for _, e := range doc.forget(ids) {
		edits = appendEdit(edits, e)
	}
	return edits
}

// resolve appends the edits that reduce a cell to the text which the decision keeps: nothing of a comment.
func (c *cell) resolve(edits []Edit, mark, accept bool) []Edit {
	keep := span{c.end, c.end}
	switch {
	case mark && accept && !c.added.empty():
		keep = c.added
	case mark && !accept && !c.deleted.empty():
		keep = c.deleted
	}
	edits = appendEdit(edits, Edit{Off: c.start, Len: keep.start - c.start})
	return appendEdit(edits, Edit{Off: keep.end, Len: c.end - keep.end})
}
