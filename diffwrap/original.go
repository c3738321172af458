package diffwrap

import "strings"

// original is the original text of a region: what stays and what is deleted, with the comments in it, which a change
// may take out or put back. Additions of the writer's own are not in it, so that amending one leaves no trace.
type original struct {
	text  string
	notes []span // the comments in text
	parts []part
	next  int // the first part that was not visited to its end
}

// part is a stretch of the original text, or a mark without text in it.
type part struct {
	role
	span // of raw
	at   int
	size int // in text; not the span's length for a resolved comment, which stands there as if open
	view int // where it starts in the accepted view
	cell *cell
}

// original collects the original text of a region, with its open comments and those that are open again.
func (e *emitter) original(r region, again map[*cell]bool) *original {
	o := &original{}
	var text strings.Builder
	for k := r.from.piece; k < len(e.pieces) && e.pieces[k].start < r.to.off; k++ {
		x := &e.pieces[k]
		p := part{role: x.role, span: x.span, at: text.Len(), view: x.view.start, cell: x.cell}
		switch x.role {
		case own:
			continue
		case note:
			if x.cell.resolved && !again[x.cell] {
				p.role = pin
				break
			}
			shown := e.openForm(x.cell)
			o.notes = append(o.notes, span{p.at, p.at + len(shown)})
			text.WriteString(shown)
		case kept, dropped:
			p.start, p.end = max(p.start, r.from.off), min(p.end, r.to.off)
			if p.empty() {
				continue
			}
			text.WriteString(p.of(e.doc.raw))
		}
		p.size = text.Len() - p.at
		o.parts = append(o.parts, p)
	}
	o.text = text.String()
	return o
}

// visit calls f for each part, or piece of one, in s. Spans must be visited in order. A part without text belongs to
// the span that starts at or before it, so that it stays behind what was changed directly before it.
func (o *original) visit(s span, f func(part)) {
	for o.next < len(o.parts) {
		p := o.parts[o.next]
		end := p.at + p.size
		switch {
		case p.at >= s.end:
			return
		case p.size == 0 || p.role == note:
			f(p)
		case max(p.at, s.start) < min(end, s.end):
			first, last := max(p.at, s.start), min(end, s.end)
			p.span = span{p.start + first - p.at, p.start + last - p.at}
			f(p)
		}
		if end > s.end && p.role != note {
			return
		}
		o.next++
	}
}

// openForm returns how a comment stands in the accepted view while it is open, "" when that cannot be told.
func (p *putter) openForm(c *cell) string {
	if !c.resolved {
		return c.of(p.doc.raw)
	}
	s, ok := p.resolution(c)
	if !ok {
		return ""
	}
	return p.doc.raw[c.start:s.start] + p.doc.raw[s.end:c.end]
}

// resolution returns the part of a resolved comment that says it is resolved.
func (p *putter) resolution(c *cell) (span, bool) {
	head := p.doc.raw[c.start:c.body.start]
	for _, mark := range []string{`{"done":true}@@`, `,"done":true`, `"done":true,`, ` resolved="true"`} {
		if at := strings.Index(head, mark); at >= 0 {
			return span{c.start + at, c.start + at + len(mark)}, true
		}
	}
	return span{}, false
}

// reopen keeps a comment but for the mark that it is resolved.
func (e *emitter) reopen(c *cell) {
	s, _ := e.resolution(c)
	e.copy(span{c.start, s.start})
	e.copy(span{s.end, c.end})
}

// resolve keeps a comment and marks it as resolved, in the way of the dialect it is written in.
func (e *emitter) resolve(c *cell) {
	if c.resolved {
		e.copy(c.span)
		return
	}
	at, mark := c.body.start, `{"done":true}@@`
	switch head := e.doc.raw[c.start:c.body.start]; {
	case strings.HasPrefix(head, "{{"):
		at, mark = at-len(">>"), ` resolved="true"`
	case strings.HasSuffix(head, "{}@@"):
		at, mark = at-len("}@@"), `"done":true`
	case strings.HasSuffix(head, "}@@"):
		at, mark = at-len("}@@"), `,"done":true`
	}
	e.copy(span{c.start, at})
	e.pending.WriteString(mark)
	e.copy(span{at, c.end})
}
