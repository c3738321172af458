package planner

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// printer writes the raw text for the planned items. Unchanged marks keep their bytes.
type printer struct {
	*takeback
	wants  []want
	intact []bool // by layout mark: no change in it

	edits   []diffwrap.Edit
	placed  []model.Placement
	revived []model.Revival
	sizes   map[inMark]uint64 // text sizes of marks; nil until first used
	at      int               // offset reached in the old raw text
	pos     int               // position reached in the new raw text, in UTF-16 units
	open    *want             // an item of the open mark, nil for none
	o, a    strings.Builder   // expected original and accepted view
	raw     strings.Builder
	were    []int // offsets of the marks of the old raw text that are not yet reached
	marked  []int // offsets in raw of the marks that are known
}

func (p *printer) findIntact() {
	n := len(p.x.Marks)
	p.intact = make([]bool, n)
	closed, delimiters := make([]bool, n), make([]int, n)
	for k := range p.intact {
		p.intact[k] = true
	}
	last := -1
	for _, w := range p.wants {
		if w.gone && !w.shown {
			continue
		}
		m := w.mark
		switch {
		case w.kind == furnitureItem || w.revived:
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
	for k, m := range p.x.Marks {
		if delimiters[k] != m.Len()-m.Deleted.Len()-m.Added.Len() {
			p.intact[k] = false
		}
	}
}

// dropped reports whether an item is a delimiter that is not copied.
func (p *printer) dropped(w *want) bool {
	return w.kind == delimiterItem && (w.mark < 0 || !p.intact[w.mark])
}

func (p *printer) print() {
	p.findIntact()
	raw := p.cur.Raw()
	p.were = p.cur.RawKnown().MarksOf(raw).Offsets() // for the check, every mark stays a mark, even in text that becomes code
	p.outside(diffwrap.Span{End: p.in.Start})
	p.at, p.pos = p.in.Start, textmerge.UTF16Len(raw[:p.in.Start])
	for i := 0; i < len(p.wants); i++ {
		w := &p.wants[i]
		switch {
		case p.dropped(w):
		case w.kind == delimiterItem:
			p.close()
			p.keep(w)
		case !w.shown:
		case w.kind == furnitureItem, w.o && w.a, !w.key.decided && p.intact[w.key.n]:
			p.close()
			p.keep(w)
		default:
			if n := p.substitution(i); n > 0 {
				i += n - 1
				continue
			}
			if p.open == nil || p.open.key != w.key || p.open.o != w.o {
				p.close()
				open, _ := p.delimiters(w)
				p.opens()
				p.delimit(w.key, open)
				p.open = w
			}
			p.keep(w)
		}
	}
	p.close()
	p.remove(p.in.End)
	p.outside(diffwrap.Span{Start: p.in.End, End: len(raw)})
}

// outside copies text that the undo does not concern.
func (p *printer) outside(s diffwrap.Span) {
	if s.Empty() {
		return
	}
	for ; len(p.were) > 0 && p.were[0] < s.End; p.were = p.were[1:] {
		if p.were[0] >= s.Start {
			p.marked = append(p.marked, p.raw.Len()+p.were[0]-s.Start)
		}
	}
	p.raw.WriteString(s.Of(p.cur.Raw()))
	for _, c := range p.x.Text {
		if c.Start = max(c.Start, s.Start); c.Start < min(c.End, s.End) {
			c.End = min(c.End, s.End)
			p.views(c.Of(p.cur.Raw()), !c.Added, !c.Deleted)
		}
	}
}

// views adds text to the expected views.
func (p *printer) views(text string, o, a bool) {
	if o {
		p.o.WriteString(text)
	}
	if a {
		p.a.WriteString(text)
	}
}

func (p *printer) close() {
	if p.open != nil {
		_, closer := p.delimiters(p.open)
		p.delimit(p.open.key, closer)
		p.open = nil
	}
}

// delimit writes a delimiter of a mark. A user's mark stays the user's.
func (p *printer) delimit(key inMark, text string) {
	from := p.pos
	p.write(text)
	if !key.decided && !p.x.Owners[key.n].IsAgents() {
		p.d.ByHand = append(p.d.ByHand, model.PlaceRun(from, p.pos))
	}
}

func (p *printer) written(key inMark) model.DecidedMark {
	if key.decided {
		return p.marks[key.n]
	}
	return (&decider{Layout: p.x}).describe(0, p.x.Marks[key.n])
}

// delimiters returns the delimiters of the mark that contains w: the original ones if they still fit.
func (p *printer) delimiters(w *want) (open, closer string) {
	open, closer = "{++", "++}"
	if w.o {
		open, closer = "{--", "--}"
	}
	if was := p.written(w.key); strings.HasPrefix(was.Open, open) {
		return was.Open, was.Close
	}
	return open, closer
}

// substitution writes a mark {~~old~>new~~} if all of it exists or returns. It returns how many of wants it wrote, 0
// for none.
func (p *printer) substitution(i int) int {
	key := p.wants[i].key
	was := p.written(key)
	if was.Open != "{~~" {
		return 0
	}
	var units uint64
	n, turn := 0, -1 // turn is the index of the first added item
	for ; i+n < len(p.wants); n++ {
		w := &p.wants[i+n]
		if !w.shown || p.dropped(w) {
			continue
		}
		if w.kind != contentItem || w.key != key {
			break
		}
		if !w.o && turn < 0 {
			turn = n
		} else if w.o && turn >= 0 {
			return 0
		}
		units += w.id.Len
	}
	if units != p.sizeOf(key) {
		return 0
	}
	p.close()
	p.opens()
	p.delimit(key, "{~~")
	for j := range n {
		if j == turn {
			p.delimit(key, arrow)
		}
		if w := &p.wants[i+j]; w.shown && !p.dropped(w) {
			p.keep(w)
		}
	}
	if turn < 0 {
		p.delimit(key, arrow)
	}
	p.delimit(key, was.Close)
	return n
}

// sizeOf returns how much text the mark had, in UTF-16 units.
func (p *printer) sizeOf(key inMark) uint64 {
	if p.sizes == nil {
		p.sizes = make(map[inMark]uint64)
		for _, r := range p.runs {
			if r.Role <= model.RejectedDeletion {
				p.sizes[inMark{true, r.Mark}] += r.At.Len
			}
		}
		for i, c := range p.x.Text {
			if c.Mark >= 0 {
				p.sizes[inMark{false, c.Mark}] += uint64(p.x.Places[i].To - p.x.Places[i].From)
			}
		}
	}
	return p.sizes[key]
}

// opens records that a known mark opens where the next text is written.
func (p *printer) opens() { p.marked = append(p.marked, p.raw.Len()) }

const arrow = "~>"

// keep copies an item that exists, or restores it.
func (p *printer) keep(w *want) {
	size := int(w.id.Len)
	at := model.PlaceRun(p.pos, p.pos+size)
	if w.revived {
		if w.kind == furnitureItem && strings.HasPrefix(w.text, "{") && p.table.At(w.id).Syntax {
			p.opens() // of a recorded comment
		}
		if w.moved {
			p.write(w.text)
		} else {
			p.insert(w.text, w.id)
		}
		p.revived = append(p.revived, model.Revival{Old: w.id, New: at})
	} else {
		p.remove(w.off)
		p.at = w.off + len(w.text)
		for ; len(p.were) > 0 && p.were[0] < p.at; p.were = p.were[1:] {
			if at := p.were[0] - w.off; at >= 0 {
				p.marked = append(p.marked, p.raw.Len()+at)
			}
		}
		p.raw.WriteString(w.text)
		p.pos += size
	}
	if w.kind == contentItem {
		p.views(w.text, w.o, w.a)
	}
}

// write inserts text after the last written text, insert after a deleted character.
func (p *printer) write(text string) { p.insert(text, model.IDRun{}) }

func (p *printer) insert(text string, behind model.IDRun) {
	if text == "" {
		return
	}
	p.edit(diffwrap.Edit{Off: p.at, New: text})
	p.placed = append(p.placed, model.Placement{Len: len(text), Behind: behind})
	p.raw.WriteString(text)
	p.pos += textmerge.UTF16Len(text)
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

func (p *printer) check() error {
	raw, known := p.raw.String(), diffwrap.KnownAt(p.marked)
	o, a := known.Texts(raw)
	if o != p.o.String() || a != p.a.String() {
		return model.Refuse(errNotReadBack)
	}
	was, _ := diffwrap.FrontMatter(p.cur.Raw())
	is, _ := diffwrap.FrontMatter(raw)
	if p.entry.FrontMatter == nil {
		if strings.TrimRight(raw[:is], "\r\n") != strings.TrimRight(p.cur.Raw()[:was], "\r\n") {
			return model.Refuse(errNotReadBack)
		}
		return nil
	}
	body, _ := diffwrap.FrontMatter(p.cur.Canonical())
	bodyO, bodyA := p.cur.Known().MarksOf(p.cur.Canonical()).From(body).Texts(p.cur.Canonical()[body:])
	if o, a := known.From(is).Texts(raw[is:]); p.entry.Decision == nil && (o != bodyO || a != bodyA) {
		return model.Refuse(errMatterChanged)
	}
	if err := diffwrap.CheckFrontMatterChange(p.cur.Raw()[:was], raw[:is]); err != nil {
		return model.Refuse(err)
	}
	return nil
}
