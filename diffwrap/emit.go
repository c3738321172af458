package diffwrap

import "strings"

// write returns the edits that mark the changes. With literal set, every delimiter in a run is cut in two, not only those
// that matter to most readers, and new comments are written as text.
func (p *putter) write(changes []hunk, literal bool) []Edit {
	e := emitter{putter: p, changes: changes, literal: literal, script: append([]Edit(nil), p.matter.edits...), pos: p.matter.rawEnd, inside: -1}
	p.live = span{}
	for _, r := range p.regions(changes) {
		e.region(r)
	}
	return e.script
}

// emitter writes regions. What it copies is kept, character for character; what it writes between two copies replaces
// what the raw text has between them, which is delimiters and the writer's own additions.
type emitter struct {
	*putter
	changes []hunk
	literal bool
	script  []Edit
	pos     int             // raw is copied or replaced up to here
	pending strings.Builder // written since
	inside  int             // the cell that opens the highlight which is open here, -1 for none
	run     cellKind        // the kind of run that ends here and still lacks its attribution; textCell for none
}

// region marks one region anew.
func (e *emitter) region(r region) {
	e.copy(span{e.pos, r.from.off})
	e.inside = e.highlightFrom(r.from)
	text := r.new.of(e.new)
	notes := e.notes(r, text)
	old := e.original(r, notes.again)
	a := aligner{old: side{old.text, old.notes}, new: side{text, notes.new}, fragment: !startsLine(e.doc.raw, r.from.off)}
	done := 0
	for _, h := range closeEnds(a.old, a.new, a.alignAround(e.anchors(old, r, notes.new))) {
		e.keep(old, span{done, h.old.start})
		e.delete(old, h.old)
		e.add(text, h.new, notes.new, r.new.start)
		done = h.old.end
	}
	e.keep(old, span{done, len(old.text) + 1})
	e.endRun()
	e.highlight(e.highlightAt(r.to.piece))
	e.flush(r.to.off)
}

// highlightFrom returns the highlight that is open where a region starts.
func (e *emitter) highlightFrom(at place) int {
	if at.piece < len(e.pieces) && at.off >= e.pieces[at.piece].start {
		return e.highlightAt(at.piece)
	}
	return e.highlightAt(at.piece - 1)
}

// highlightAt returns the highlight that piece k stands in, -1 for none.
func (e *emitter) highlightAt(k int) int {
	if k < 0 || k >= len(e.pieces) {
		return -1
	}
	return e.pieces[k].cell.highlight
}

// keep passes over a part of the original that stays.
func (e *emitter) keep(o *original, s span) {
	o.visit(s, func(x part) {
		e.endRun()
		e.highlight(x.cell.highlight)
		if x.role == note && x.cell.resolved {
			e.reopen(x.cell)
			return
		}
		e.copy(x.span)
	})
}

// delete marks a part of the original as deleted. Comments in it are not deleted but resolved, since a deletion of a
// comment could only be shown by nesting.
func (e *emitter) delete(o *original, s span) {
	var run []span
	end := func() {
		e.deletion(run)
		run = nil
	}
	o.visit(s, func(x part) {
		if x.role == kept || x.role == dropped {
			run = append(run, x.span)
			return
		}
		end()
		e.endRun()
		e.highlight(-1)
		if x.role == note {
			e.resolve(x.cell)
		} else {
			e.copy(x.span)
		}
	})
	end()
}

// deletion writes one deletion around stretches of raw.
func (e *emitter) deletion(stretches []span) {
	var content strings.Builder
	for _, s := range stretches {
		content.WriteString(s.of(e.doc.raw))
	}
	if content.Len() == 0 {
		return
	}
	e.endRun()
	e.highlight(-1)
	open, close := "{--"+e.metadata(), "--}"
	e.pending.WriteString(open)
	cuts := cutPoints(content.String(), close, e.literal)
	at := 0
	for _, s := range stretches {
		for len(cuts) > 0 && cuts[0] <= at+s.len() {
			mid := s.start + cuts[0] - at
			e.copy(span{s.start, mid})
			e.pending.WriteString(close + open)
			at, s.start, cuts = cuts[0], mid, cuts[1:]
		}
		e.copy(s)
		at += s.len()
	}
	e.pending.WriteString(close)
	e.run = deletionCell
}

// add writes text[s] as added; comments in it are written bare. base is the offset of text in the whole new text.
func (e *emitter) add(text string, s span, notes []span, base int) {
	for _, n := range notes {
		if n.start >= s.start && n.end <= s.end {
			e.addition(text, span{s.start, n.start}, base)
			e.endRun()
			e.highlight(-1)
			e.pending.WriteString(n.of(text))
			s.start = n.end
		}
	}
	e.addition(text, s, base)
}

// addition writes one addition.
func (e *emitter) addition(text string, s span, base int) {
	if s.empty() {
		return
	}
	if e.run != deletionCell {
		e.endRun()
	}
	e.highlight(-1)
	content := s.of(text)
	if at := firstOpener(content); at >= 0 && e.live.empty() {
		e.live = span{base + s.start + at, base + s.start + at + 3}
	}
	open, close := "{++"+e.metadata(), "++}"
	e.pending.WriteString(open)
	at := 0
	for _, cut := range cutPoints(content, close, e.literal) {
		e.pending.WriteString(content[at:cut] + close + open)
		at = cut
	}
	e.pending.WriteString(content[at:] + close)
	e.run = additionCell
}

// firstOpener returns the offset of the first opener in s, -1 when there is none.
func firstOpener(s string) int {
	for i := 0; ; i++ {
		at := strings.IndexByte(s[i:], '{')
		if at < 0 {
			return -1
		}
		i += at
		if _, ok := formOf(s[i:]); ok {
			return i
		}
	}
}

// cutPoints returns where the content of a run is cut so that no piece holds an opener, the run's own closer, an
// arrow or a metadata separator: a piece ends in the middle of each. With all set the other closers are cut too.
func cutPoints(content, close string, all bool) []int {
	var cuts []int
	for i := 0; i < len(content); {
		n := delimiterAt(content[i:])
		switch {
		case n == 0, n == 3 && content[i] != '{' && content[i:i+3] != close && !all:
			i++
			continue
		case n == 2:
			i++
		default:
			i += 2
		}
		cuts = append(cuts, i)
	}
	return cuts
}

// endRun writes the attribution that a dialect puts behind a finished run.
func (e *emitter) endRun() {
	if e.run != textCell {
		e.pending.WriteString(e.attributionTail())
		e.run = textCell
	}
}

// highlight closes the highlight that is open and opens another, as needed.
func (e *emitter) highlight(cell int) {
	if cell == e.inside {
		return
	}
	if e.inside >= 0 {
		e.pending.WriteString("==}")
	}
	if cell >= 0 {
		e.pending.WriteString(e.doc.cells[cell].of(e.doc.raw))
	}
	e.inside = cell
}

// copy keeps a stretch of raw.
func (e *emitter) copy(s span) {
	if s.empty() {
		return
	}
	e.flush(s.start)
	e.pos = s.end
}

// flush replaces raw from pos up to off by what is pending, in as few edits of as little text as a comparison finds.
func (e *emitter) flush(off int) {
	gap, text := e.doc.raw[e.pos:off], e.pending.String()
	for _, d := range Diff(gap, text) {
		d.Off += e.pos
		e.script = appendEdit(e.script, d)
	}
	e.pending.Reset()
	e.pos = off
}
