package textmerge

import (
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

// rebase applies edits, a script against base, to cur, given what the two
// share. A change that both made in the same words is made once; otherwise what
// cur has of its own stays.
func rebase(base, cur string, shared []Span, edits []diffwrap.Edit) string {
	r := rebaser{base: base, cur: cur, shared: shared}
	for _, e := range edits {
		r.apply(e)
	}
	r.out.WriteString(cur[r.done:])
	return r.out.String()
}

type rebaser struct {
	base, cur string
	shared    []Span // ascending on both sides
	next      int    // first span that does not end before the current edit
	out       strings.Builder
	tail      string // what was written to out last
	done      int    // bytes of cur already in out
}

func (r *rebaser) apply(e diffwrap.Edit) {
	for r.next < len(r.shared) && r.shared[r.next].A+r.shared[r.next].N < e.Off {
		r.next++
	}
	if r.alreadyMade(e) {
		return
	}
	r.copyTo(r.insertAt(e))
	r.insert(e)
	for i := r.next; i < len(r.shared) && r.shared[i].A < e.Off+e.Len; i++ {
		s := r.shared[i]
		from := max(s.A, e.Off)
		to := min(s.A+s.N, e.Off+e.Len)
		if from < to {
			if s.B+from-s.A > r.done {
				r.part(e)
			}
			r.copyTo(s.B + from - s.A)
			r.done = s.B + to - s.A
		}
	}
	r.part(e)
}

// part keeps the new text of e, if that was written last, and what the other side put
// behind it from becoming one word. So it does with what is on both sides of a deletion.
func (r *rebaser) part(e diffwrap.Edit) {
	before := e.New
	if e.New == "" {
		before = r.base[:e.Off]
	}
	if (e.New == "" || r.tail == e.New) && glued(r.tail, r.cur[r.done:]) && !glued(before, r.base[e.Off+e.Len:]) {
		r.write(" ")
	}
}

// insert writes e's new text. Where the other side put text in the same place,
// the two do not become one word.
func (r *rebaser) insert(e diffwrap.Edit) {
	if e.New == "" {
		return
	}
	if glued(r.tail, e.New) && !glued(r.base[:e.Off], e.New) {
		r.write(" ")
	}
	r.write(e.New)
}

// glued says whether a's last and b's first character would form one word.
func glued(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	return joins(last) && joins(first)
}

func (r *rebaser) write(s string) {
	if s != "" {
		r.out.WriteString(s)
		r.tail = s
	}
}

func (r *rebaser) copyTo(off int) {
	if off > r.done {
		r.write(r.cur[r.done:off])
		r.done = off
	}
}

// insertAt is the place in cur for the new text of e. What replaces text goes
// before the first of it that is still there, or behind what cur has put in its
// place; what is added goes behind the character before it, or if that is gone, before
// the one behind it, or if that is gone too, behind the nearest shared one before it.
func (r *rebaser) insertAt(e diffwrap.Edit) int {
	at, near, end := 0, 0, e.Off+e.Len // near is in base what at is in cur
	for i := max(r.next-1, 0); i < len(r.shared); i++ {
		s := r.shared[i]
		if s.A < e.Off {
			n := min(s.N, e.Off-s.A)
			at, near = s.B+n, s.A+n
		}
		switch {
		case e.Len == 0 && s.A >= e.Off:
			if near < e.Off && s.A == e.Off {
				return s.B
			}
			return at
		case e.Len > 0 && s.A+s.N > e.Off: // the first shared character from e on
			return s.B + max(e.Off-s.A, 0)
		case s.A >= end:
			return s.B
		}
	}
	if e.Len > 0 || near < e.Off && e.Off == len(r.base) {
		return len(r.cur)
	}
	return at
}

// alreadyMade says whether cur replaced exactly the bytes that e replaces by
// exactly what e puts there.
func (r *rebaser) alreadyMade(e diffwrap.Edit) bool {
	if e.New == "" || e.Len == 0 {
		return false // deleting twice is harmless, and two equal insertions are two
	}
	left, right := Span{}, Span{A: len(r.base), B: len(r.cur)}
	for i := max(r.next-1, 0); i < len(r.shared); i++ {
		s := r.shared[i]
		if s.A+s.N <= e.Off {
			left = s
			continue
		}
		if s.A >= e.Off+e.Len {
			right = s
			break
		}
		if s.A < e.Off {
			left = Span{s.A, s.B, e.Off - s.A}
		}
		if s.A+s.N > e.Off+e.Len {
			skip := max(e.Off+e.Len-s.A, 0)
			right = Span{s.A + skip, s.B + skip, s.N - skip}
			break
		}
		if s.A >= e.Off {
			return false // cur still has bytes that e drops
		}
	}
	return left.A+left.N == e.Off && right.A == e.Off+e.Len &&
		r.cur[left.B+left.N:right.B] == e.New
}
