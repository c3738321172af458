package planner

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// printer writes the raw text for the planned items. It copies unchanged marks byte for byte.
type printer struct {
	*Undo
	targets []target
	intact  []bool // by index of the layout's marks: the undo leaves the mark unchanged

	edits              []diffwrap.Edit
	placed             []Placement
	remaps             []model.IDRemap
	sizes              map[inMark]uint64 // text sizes of marks; nil until first used
	at                 int               // offset reached in the old raw text
	open               *target           // an item of the open mark; nil if no mark is open
	original, accepted strings.Builder   // expected original and accepted view
	raw                strings.Builder
	marked             []int // offsets in raw at which marks open that the undo writes
	opened             []int // those that are recorded
}

func (p *printer) findIntact() {
	n := len(p.layout.Marks)
	p.intact = make([]bool, n)
	closed, delimiters := make([]bool, n), make([]int, n)
	for k := range p.intact {
		p.intact[k] = true
	}
	last := -1
	for _, w := range p.targets {
		if w.deleted && !w.shown {
			continue
		}
		m := w.mark
		switch {
		case w.kind == syntaxItem || w.restored:
			m = -1
		case w.kind == delimiterItem && m >= 0:
			delimiters[m] += len(w.text)
		case w.changed && m >= 0:
			p.intact[m] = false
		}
		if m != last {
			if last >= 0 {
				closed[last] = true
			}
			if m >= 0 && closed[m] {
				p.intact[m] = false
			}
			last = m
		}
	}
	for k, m := range p.layout.Marks {
		if delimiters[k] != m.Len()-m.Deleted.Len()-m.Added.Len() {
			p.intact[k] = false
		}
	}
}

// dropped reports whether an item is a delimiter of a mark that is written again.
func (p *printer) dropped(w *target) bool {
	return w.kind == delimiterItem && (w.mark < 0 || !p.intact[w.mark])
}

func (p *printer) print() {
	p.findIntact()
	raw := p.current.Raw()
	for _, b := range []*strings.Builder{&p.raw, &p.original, &p.accepted} {
		b.Grow(len(raw))
	}
	for i := 0; i < len(p.targets); i++ {
		w := &p.targets[i]
		switch {
		case p.dropped(w):
		case w.kind == delimiterItem:
			p.close()
			p.keep(w)
		case !w.shown:
		case w.kind == syntaxItem, w.inOriginal && w.inAccepted, !w.key.decided && p.intact[w.key.n]:
			p.close()
			p.keep(w)
		default:
			if n := p.substitution(i); n > 0 {
				i += n - 1
				continue
			}
			if p.open == nil || p.open.key != w.key || p.open.inOriginal != w.inOriginal {
				p.close()
				open, _ := p.delimiters(w)
				p.opener(w, open)
				p.open = w
			}
			p.keep(w)
		}
	}
	p.close()
	p.remove(len(raw))
}

// views adds text to the expected views.
func (p *printer) views(text string, o, a bool) {
	if o {
		p.original.WriteString(text)
	}
	if a {
		p.accepted.WriteString(text)
	}
}

func (p *printer) close() {
	if p.open != nil {
		_, closer := p.delimiters(p.open)
		p.delimit(p.open.key, closer, Placement{})
		p.open = nil
	}
}

// opener writes the opener of the mark that begins with w, directly before w: so text that was deleted before w stays
// outside of the mark, in its order. If w is restored, the opener takes its place, and w follows.
func (p *printer) opener(w *target, text string) {
	p.opens(true)
	at := Placement{Before: w.id}
	if w.restored {
		at = Placement{After: w.id}
	}
	p.delimit(w.key, text, w.placement(at))
	w.placeTaken = true
}

// delimit writes a delimiter of a mark. It records the delimiter of a user's mark in ByHand, so that the mark stays the
// user's.
func (p *printer) delimit(key inMark, text string, at Placement) {
	from := p.raw.Len()
	p.insert(text, at)
	if key.decided && p.entry.Decision.Items[p.marks[key.n].Item].Author == "" || !key.decided && !p.layout.MarkOwners[key.n].ByAgent {
		p.decision.ByHand = append(p.decision.ByHand, model.OffsetRange(diffwrap.Span{Start: from, End: p.raw.Len()}))
	}
}

func (p *printer) written(key inMark) model.DecidedMark {
	if key.decided {
		return p.marks[key.n]
	}
	return (&decider{Layout: p.layout}).describe(0, p.layout.Marks[key.n])
}

// delimiters returns the delimiters of the mark that contains w. It returns the original ones if they still fit.
func (p *printer) delimiters(w *target) (open, closer string) {
	open, closer = "{++", "++}"
	if w.inOriginal {
		open, closer = "{--", "--}"
	}
	if old := p.written(w.key); strings.HasPrefix(old.Open, open) {
		return old.Open, old.Close
	}
	return open, closer
}

// substitution writes a mark {~~old~>new~~} if all of its text exists or returns. It returns the number of targets that
// it wrote.
func (p *printer) substitution(i int) int {
	key := p.targets[i].key
	old := p.written(key)
	if old.Open != "{~~" {
		return 0
	}
	var units uint64
	n, turn := 0, -1 // turn is the index of the first item of added text
	for ; i+n < len(p.targets); n++ {
		w := &p.targets[i+n]
		if !w.shown || p.dropped(w) {
			continue
		}
		if w.kind != textItem || w.key != key {
			break
		}
		if !w.inOriginal && turn < 0 {
			turn = n
		} else if w.inOriginal && turn >= 0 {
			return 0
		}
		units += w.id.Len
	}
	if units != p.sizeOf(key) {
		return 0
	}
	p.close()
	p.opener(&p.targets[i], "{~~")
	for j := range n {
		if j == turn {
			p.delimit(key, arrow, Placement{})
		}
		if w := &p.targets[i+j]; w.shown && !p.dropped(w) {
			p.keep(w)
		}
	}
	if turn < 0 {
		p.delimit(key, arrow, Placement{})
	}
	p.delimit(key, old.Close, Placement{})
	return n
}

// sizeOf returns the length of the text that the mark had, in UTF-16 units.
func (p *printer) sizeOf(key inMark) uint64 {
	if p.sizes == nil {
		p.sizes = make(map[inMark]uint64)
		for _, r := range p.runs {
			if r.Role <= model.RoleDeletionRejected {
				p.sizes[inMark{true, r.Mark}] += r.At.Len
			}
		}
		for _, c := range p.layout.Text {
			if c.Mark >= 0 {
				p.sizes[inMark{false, c.Mark}] += uint64(textmerge.UTF16Len(c.Of(p.layout.Raw)))
			}
		}
	}
	return p.sizes[key]
}

// opens notes that a mark opens where the next text is written, and whether it is a recorded one.
func (p *printer) opens(recorded bool) {
	p.marked = append(p.marked, p.raw.Len())
	if recorded {
		p.opened = append(p.opened, p.raw.Len())
	}
}

const arrow = "~>"

// keep copies an existing item, or restores a deleted one.
func (p *printer) keep(w *target) {
	at := diffwrap.Span{Start: p.raw.Len(), End: p.raw.Len() + len(w.text)}
	if w.restored {
		if w.kind == syntaxItem && strings.HasPrefix(w.text, "{") { // a comment or highlight opens here
			p.opens(p.table.At(w.id).Syntax)
		}
		p.insert(w.text, w.placement(Placement{After: w.id}))
		p.remaps = append(p.remaps, model.IDRemap{Old: w.id, New: model.OffsetRange(at)})
	} else {
		p.remove(w.off)
		p.at = w.off + len(w.text)
		p.raw.WriteString(w.text)
	}
	if w.kind == textItem {
		p.views(w.text, w.inOriginal, w.inAccepted)
	}
}

// placement returns a placement next to the item, or after the last written text if the item's place is not its own.
func (x *item) placement(at Placement) Placement {
	if x.placeTaken {
		return Placement{}
	}
	return at
}

func (p *printer) insert(text string, at Placement) {
	p.edit(diffwrap.Edit{Off: p.at, New: text})
	at.Len = len(text)
	p.placed = append(p.placed, at)
	p.raw.WriteString(text)
}

func (p *printer) remove(to int) {
	if to > p.at {
		p.edit(diffwrap.Edit{Off: p.at, Len: to - p.at})
		p.at = to
	}
}

func (p *printer) edit(e diffwrap.Edit) {
	if n := len(p.edits) - 1; n >= 0 && p.edits[n].Off+p.edits[n].Len == e.Off {
		p.edits[n].Len += e.Len
		p.edits[n].New += e.New
		return
	}
	p.edits = append(p.edits, e)
}

func (p *printer) check(raw string, known diffwrap.Known) error {
	o, a := known.Texts(raw)
	if o != p.original.String() || a != p.accepted.String() {
		return model.RefusedError(errNotReadBack)
	}
	oldEnd, _ := diffwrap.FrontMatter(p.current.Raw())
	newEnd, _ := diffwrap.FrontMatter(raw)
	if p.entry.FrontMatter == nil {
		if strings.TrimRight(raw[:newEnd], "\r\n") != strings.TrimRight(p.current.Raw()[:oldEnd], "\r\n") {
			return model.RefusedError(errNotReadBack)
		}
		return nil
	}
	body, _ := diffwrap.FrontMatter(p.current.Canonical())
	bodyO, bodyA := p.current.Known().MarksOf(p.current.Canonical()).From(body).Texts(p.current.Canonical()[body:])
	if o, a := known.From(newEnd).Texts(raw[newEnd:]); p.entry.Decision == nil && (o != bodyO || a != bodyA) {
		return model.RefusedError(errFrontMatterChanged)
	}
	if err := diffwrap.CheckFrontMatterChange(p.current.Raw()[:oldEnd], raw[:newEnd]); err != nil {
		return model.RefusedError(err)
	}
	return nil
}
