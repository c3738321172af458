package marking

import (
	"bytes"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/placement"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type WriteOptions struct {
	Literal bool // cut every delimiter in a run, also delimiters that matter to few parsers
	InPlace bool // keep runs at the places that the comparison gave them, even if unchanged blocks are rendered differently
}

func (p *Patch) Write(hunks []align.Hunk, how WriteOptions) *Drawing {
	e := emitter{Patch: p, Drawing: Drawing{Edits: slices.Clone(p.Matter)}, literal: how.Literal, pos: p.RawBody, out: p.RawBody}
	for _, m := range p.Matter {
		e.out += len(m.New) - m.Len
	}
	for _, r := range p.regions(hunks) {
		m := p.mark(r, hunks, how)
		e.rewritten = append(e.rewritten, m)
		e.write(m)
	}
	return &e.Drawing
}

type marked struct {
	region
	text    string      // new text of the region
	notes   []span.Span // comments in text
	hunks   []align.Hunk
	changes []align.Hunk // hunks from p.Old to p.New
}

// mark computes the hunks of a region. They are easy to read. If possible, they keep the form of unchanged blocks, and
// do not end in text that parsers take for openers.
func (p *Patch) mark(r region, changes []align.Hunk, how WriteOptions) marked {
	text := r.new.Of(p.New)
	notes := p.comments(text)
	before, after := align.Side{Text: r.old.text, Comments: r.old.notes}, align.Side{Text: text, Comments: notes}
	fragment := !span.StartsLine(p.Doc.Raw, r.from.off) && p.Doc.Raw[:r.from.off] != "\ufeff"
	hunks := p.comparer.Readable(before, after, fragment, p.anchors(r, notes, changes))
	if r.lines && !how.InPlace {
		hunks = placement.Hunks(before, after, fragment, hunks)
	}
	return marked{r, text, notes, closeEnds(before, after, hunks), changes}
}

// emitter writes regions. It makes no edits of text that it copies. Text that it writes between two copied ranges
// replaces the delimiters and the writer's own additions between these ranges of the raw text.
type emitter struct {
	*Patch
	Drawing
	literal bool         // see WriteOptions
	pos     int          // end of the raw text that was copied or replaced
	out     int          // length of the new text that corresponds to raw[:pos]
	pending bytes.Buffer // text written since pos
	run     critic.Kind  // kind of the run that ends here and still needs its attribution; critic.Text if there is none
	next    int          // index of the first part of the region that is not completely visited
	opened  span.Span    // last opener of a highlight in raw
}

func (e *emitter) write(m marked) {
	e.copy(span.New(e.pos, m.from.off))
	e.next = 0
	old := m.old
	done := 0
	for _, h := range m.hunks {
		e.deleted = append(e.deleted, nil)
		e.keep(old, span.New(done, h.Old.Start))
		apart := e.onlyComments(m.text, h.New, m.notes)
		if apart || h.Old.Empty() {
			e.leave(old, h.Old.Start)
		}
		if !apart {
			e.delete(old, h.Old)
		}
		if strings.Contains(h.New.Of(m.text), "==}") { // once accepted, it would end a highlight around it
			e.leave(old, h.Old.End)
		}
		if h.Old.Empty() {
			h.New.Start = e.addAround(m, h)
		}
		e.add(m.text, h.New, m.notes, m.new.Start)
		if apart {
			e.delete(old, h.Old)
		}
		done = h.Old.End
	}
	e.keep(old, span.New(done, len(old.text)+1))
	e.endRun()
	e.flush(m.to.off)
}

func (e *emitter) keep(o *original, s span.Span) {
	e.visit(o, s, e.copyPart)
}

// copyPart copies a part outside of marks. If a highlight contained only additions of the writer, and none of its text
// remains, copyPart removes the highlight, because an empty highlight would be text.
func (e *emitter) copyPart(x part) {
	e.endRun()
	switch x.cell.Kind {
	case critic.HighlightOpen:
		e.opened = x.Span
	case critic.HighlightClose:
		if e.pos == e.opened.End && e.pos < x.Start && e.pending.Len() == 0 {
			e.pos, e.out = e.opened.Start, e.out-e.opened.Len()
			return
		}
	}
	e.copy(x.Span)
}

// leave copies the ends of highlights at an offset of the original, so that text written after a highlight is not
// inside it.
func (e *emitter) leave(o *original, at int) {
	for e.next < len(o.parts) {
		x := o.parts[e.next]
		if x.at != at || x.cell.Kind != critic.HighlightClose {
			return
		}
		e.copyPart(x)
		e.next++
	}
}

// visit calls f for each part, or piece of a part, in s. Spans must be visited in order. A part without text belongs to
// the span that starts at or before the part, so that the part stays after a change directly before it.
func (e *emitter) visit(o *original, s span.Span, f func(part)) {
	for e.next < len(o.parts) {
		p := o.parts[e.next]
		end := p.at + p.size
		switch {
		case p.at >= s.End:
			return
		case p.size == 0:
			f(p)
		case max(p.at, s.Start) < min(end, s.End):
			first, last := max(p.at, s.Start), min(end, s.End)
			f(p.within(span.New(p.Start+first-p.at, p.Start+last-p.at)))
		}
		if end > s.End {
			return
		}
		e.next++
	}
}

// delete marks a range of the original as deleted, including its comments.
func (e *emitter) delete(o *original, s span.Span) {
	var run []part
	end := func() {
		e.deletion(run)
		run = nil
	}
	e.visit(o, s, func(x part) {
		if x.size > 0 {
			run = append(run, x)
			return
		}
		end()
		e.copyPart(x)
	})
	end()
}

// deletion writes one deletion around parts of the original. It splits the deletion into marks at the edges of comments
// and inside delimiters.
func (e *emitter) deletion(parts []part) {
	if len(parts) == 0 {
		return
	}
	var content strings.Builder
	var edges []int
	for k := range parts {
		x := &parts[k]
		if k > 0 && (x.isComment() || parts[k-1].isComment()) && !x.inComment(&parts[k-1]) {
			edges = append(edges, content.Len())
		}
		content.WriteString(x.Of(e.Doc.Raw))
	}
	e.endRun()
	open, close := "{--"+e.Metadata, "--}"
	e.open(open)
	cuts := append(critic.CutPoints(content.String(), close, e.literal), edges...)
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	at := 0
	for _, x := range parts {
		s := x.Span
		for len(cuts) > 0 && cuts[0] <= at+s.Len() {
			mid := s.Start + cuts[0] - at
			e.wrap(x, span.New(s.Start, mid))
			e.pending.WriteString(close)
			e.open(open)
			at, s.Start, cuts = cuts[0], mid, cuts[1:]
		}
		e.wrap(x, s)
		at += s.Len()
	}
	e.pending.WriteString(close)
	e.run = critic.Deletion
}

// wrap copies a range of a part into a deletion.
func (e *emitter) wrap(x part, s span.Span) {
	if s.Empty() {
		return
	}
	h := len(e.deleted) - 1
	e.deleted[h] = append(e.deleted[h], wrapped{x.within(s), span.New(e.at(), e.at()+s.Len())})
	e.copy(s)
}

func (e *emitter) open(opener string) {
	e.Opens = append(e.Opens, e.at())
	e.pending.WriteString(opener)
}

// at returns the offset in the new text at which the emitter writes next.
func (e *emitter) at() int { return e.out + e.pending.Len() }

func (p *part) isComment() bool { return p.role == roleForeignComment || p.cell.Comment > 0 }

// onlyComments reports whether text[s] consists of the writer's comments. Such comments are written before the text
// that they replace. After the deletion of that text they would count as comments on the deletion, and would be removed
// with it.
func (e *emitter) onlyComments(text string, s span.Span, notes []span.Span) bool {
	if s.Empty() {
		return false
	}
	for _, n := range align.Inside(notes, s) {
		if n.Start == s.Start && e.Bare[n.Of(text)] {
			s.Start = n.End
		}
	}
	return s.Empty()
}

// add writes text[s] as added, and the writer's comments in it without marks. base is the offset of text in the whole
// new text.
func (e *emitter) add(text string, s span.Span, notes []span.Span, base int) {
	for _, n := range notes {
		if n.Start >= s.Start && n.End <= s.End && e.Bare[n.Of(text)] {
			e.addition(text, span.New(s.Start, n.Start), base)
			e.endRun()
			e.Opens = append(e.Opens, e.at())
			e.typeText(n.Of(text), base+n.Start, true)
			s.Start = n.End
		}
	}
	e.addition(text, s, base)
}

// addAround writes the part of an insertion before the last hidden text that the writer's own text surrounded. Text
// that the writer kept stays before or after such a text, such as another author's deletion, so that a rejection of the
// deletion joins no lines. It returns the end of the part in the new text.
func (e *emitter) addAround(m marked, h align.Hunk) int {
	start := h.New.Start
	for ; e.next < len(m.old.parts); e.next++ {
		x := m.old.parts[e.next]
		if x.at != h.Old.Start || x.size > 0 {
			break
		}
		at := e.newOffset(x.View, m.changes) - m.new.Start
		if at <= h.New.Start || at >= h.New.End {
			break
		}
		e.add(m.text, span.New(start, at), m.notes, m.new.Start)
		e.copyPart(x)
		start = at
	}
	return start
}

func (e *emitter) addition(text string, s span.Span, base int) {
	if s.Empty() {
		return
	}
	if e.run != critic.Deletion {
		e.endRun()
	}
	content := s.Of(text)
	if at := critic.FirstOpener(content); at >= 0 && e.LiteralOpener.Empty() && !strings.HasPrefix(content[at:], "{>>") {
		e.LiteralOpener = span.New(base+s.Start+at, base+s.Start+at+3)
	}
	open, close := "{++"+e.Metadata, "++}"
	e.open(open)
	at := 0
	for _, cut := range critic.CutPoints(content, close, e.literal) {
		e.typeText(content[at:cut], base+s.Start+at, false)
		e.pending.WriteString(close)
		e.open(open)
		at = cut
	}
	e.typeText(content[at:], base+s.Start+at, false)
	e.pending.WriteString(close)
	e.run = critic.Addition
}

func (e *emitter) typeText(text string, off int, comment bool) {
	to := span.New(e.at(), e.at()+len(text))
	e.written = append(e.written, written{view: span.New(off, off+len(text)), to: to, hunk: len(e.deleted) - 1, comment: comment})
	e.pending.WriteString(text)
}

// endRun writes the dialect's attribution after a finished run.
func (e *emitter) endRun() {
	if e.run != critic.Text {
		e.pending.WriteString(e.Tail)
		e.run = critic.Text
	}
}

func (e *emitter) copy(s span.Span) {
	if s.Empty() {
		return
	}
	e.flush(s.Start)
	e.pos = s.End
	e.out += s.Len()
}

// flush replaces raw[pos:off] by the pending text. Words that both have keep their identities. A delimiter stays as a
// whole or not at all: a part of it would still be part of the mark that another writer wrote it for.
func (e *emitter) flush(off int) {
	gap, text := e.Doc.Raw[e.pos:off], e.pending.String()
	if gap == "" {
		e.Edits = span.Append(e.Edits, span.Edit{Off: off, New: text})
	} else {
		shift := 0 // offset in text minus offset in gap
		for _, d := range align.DiffKeepingWords(gap, text, false) {
			from, to := d.Off, d.Off+d.Len
			for critic.CutsDelimiter(gap, from) || critic.CutsDelimiter(text, from+shift) {
				from--
			}
			new := from + shift
			for shift += len(d.New) - d.Len; critic.CutsDelimiter(gap, to) || critic.CutsDelimiter(text, to+shift); {
				to++
			}
			e.Edits = span.Append(e.Edits, span.Edit{Off: e.pos + from, Len: to - from, New: text[new : to+shift]})
		}
	}
	e.out += len(text)
	e.pending.Reset()
	e.pos = off
}
