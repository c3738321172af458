package diffwrap

// Accept returns the edits that accept the chosen suggestions of raw, as found by Suggestions on the same text: their
// delimiters, metadata of any dialect, attached comments and deleted text go; nothing else changes. What raw does not
// have (any more) is passed over.
func Accept(raw string, chosen ...Suggestion) []Edit { return decide(raw, among(chosen), true) }

// Reject is Accept the other way: the added text goes and the deleted text stays.
func Reject(raw string, chosen ...Suggestion) []Edit { return decide(raw, among(chosen), false) }

// AcceptAll returns the edits that accept every suggestion of raw. Highlights, and comments that are attached to no
// suggestion, stay.
func AcceptAll(raw string) []Edit { return decide(raw, everyone, true) }

// RejectAll returns the edits that reject every suggestion of raw.
func RejectAll(raw string) []Edit { return decide(raw, everyone, false) }

// everyone chooses every suggestion.
func everyone(span) bool { return true }

// among chooses the given suggestions by their place.
func among(chosen []Suggestion) func(span) bool {
	places := make(map[span]bool, len(chosen))
	for _, s := range chosen {
		places[span{s.Start, s.End}] = true
	}
	return func(at span) bool { return places[at] }
}

// decide carries out a decision on the suggestions whose place is chosen.
func decide(raw string, chosen func(span) bool, accept bool) []Edit {
	doc := parse(raw)
	if doc.plain() {
		return nil
	}
	var edits []Edit
	ids := make(map[string]bool)
	for _, g := range doc.groups() {
		if !chosen(span{doc.cells[g.first].start, doc.cells[g.last].end}) {
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
