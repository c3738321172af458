package textmerge

import (
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

// rebase applies edits, a script of base, to current. shared are the spans that base and current have in common. It
// applies a change only once if both sides made it to the same words. Other changes of current stay.
func rebase(base, current string, shared []Match, edits []diffwrap.Edit) string {
	r := rebaser{base: base, current: current, shared: shared}
	for _, e := range edits {
		r.apply(e)
	}
	r.payLineBreak()
	r.out.WriteString(current[r.done:])
	return r.out.String()
}

type rebaser struct {
	base, current string
	shared        []Match // ascending on both sides
	next          int     // index of the first span that does not end before the current edit
	out           strings.Builder
	tail          string // last text written to out
	done          int    // number of bytes of current that are already in out
	owed          string // line break to write after the writer's words of a line that others have deleted
	owedAt        int    // end of that line in base
}

func (r *rebaser) apply(e diffwrap.Edit) {
	for r.next < len(r.shared) && r.shared[r.next].A+r.shared[r.next].Len < e.Off {
		r.next++
	}
	if r.alreadyMade(e) {
		return
	}
	if e.Off >= r.owedAt {
		r.payLineBreak()
	}
	r.copyTo(r.insertAt(e))
	if strings.HasSuffix(r.tail, "\n") || r.tail == "" {
		r.oweLineBreak(e)
	}
	r.insert(e)
	inserted := false // the text written last was inserted by the other side into the text that e deletes
	for i := r.next; i < len(r.shared) && r.shared[i].A < e.Off+e.Len; i++ {
		s := r.shared[i]
		from := max(s.A, e.Off)
		to := min(s.A+s.Len, e.Off+e.Len)
		if from < to {
			if at := s.B + from - s.A; at > r.done {
				r.separateWords(e, inserted)
				r.copyTo(at)
				inserted = true
			}
			r.done = s.B + to - s.A
		}
	}
	r.separateWords(e, inserted)
}

// separateWords inserts a space if the text that was written last would form one word with the remaining text of
// current, except if both form one word for the writer of e. A line break is used instead if e deletes it there, or if
// others have deleted it with the text that e replaces. inserted is described in apply.
func (r *rebaser) separateWords(e diffwrap.Edit, inserted bool) {
	before, after := e.New, r.base[e.Off+e.Len:]
	if e.New == "" {
		before = r.base[:e.Off]
	}
	rest := r.current[r.done:]
	joined := formsOneWord(r.tail, rest) && (inserted || !formsOneWord(before, after))
	for _, end := range []string{"\r\n", "\n"} {
		if (joined || inserted && !strings.HasSuffix(r.tail, "\n")) && e.New == "" && strings.HasSuffix(r.base[:e.Off+e.Len], end) && strings.HasSuffix(r.current[:r.done], end) {
			r.done -= len(end)
			return
		}
	}
	end := after[:strings.IndexByte(after, '\n')+1]
	_, kept := sharedIn(r.shared, e.Off, e.Len+len(end))
	switch {
	case r.owed != "":
	case joined && e.Len > 0 && end != "" && strings.TrimSpace(end) == "" && kept == 0:
		r.write(end)
	case joined:
		r.write(" ")
	}
}

// insert writes e's new text, separated from what the other side put before it: a whole line by a line break, a word by
// a space.
func (r *rebaser) insert(e diffwrap.Edit) {
	if e.New == "" {
		return
	}
	before := r.base[:e.Off]
	isLine := e.Len == 0 && strings.HasSuffix(before, "\n") && (e.Off == len(r.base) || strings.HasSuffix(e.New, "\n"))
	switch {
	case isLine && r.tail != "" && !strings.HasSuffix(r.tail, "\n"):
		r.write(before[len(strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r")):])
	case formsOneWord(r.tail, e.New) && !formsOneWord(before, e.New):
		r.write(" ")
	}
	r.write(e.New)
}

func formsOneWord(a, b string) bool {
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

// oweLineBreak is called before e's text is written at the start of a line. If others have deleted the line that e
// changes, with its line break, the writer's words get a line of their own.
func (r *rebaser) oweLineBreak(e diffwrap.Edit) {
	start := strings.LastIndexByte(r.base[:e.Off], '\n') + 1
	end := e.Off + e.Len + strings.IndexByte(r.base[e.Off+e.Len:], '\n') + 1
	_, kept := sharedIn(r.shared, start, end-start)
	if e.New != "" && !strings.HasSuffix(e.New, "\n") && kept == 0 && end > e.Off+e.Len {
		r.owed, r.owedAt = r.base[start+len(strings.TrimRight(r.base[start:end], "\r\n")):end], end
	}
}

func (r *rebaser) payLineBreak() {
	r.write(r.owed)
	r.owed = ""
}

func (r *rebaser) copyTo(off int) {
	if off > r.done {
		r.payLineBreak()
		r.write(r.current[r.done:off])
		r.done = off
	}
}

// insertAt returns the offset in current for the new text of e. A replacement goes before the first remaining character
// of the replaced text, or after the text that current has in its place. An insertion goes after the character that
// precedes it in base. If that character was deleted, the insertion goes before the character that follows it in base.
// If both were deleted, the insertion goes after the nearest shared character before it. What was appended to base is
// appended to current.
func (r *rebaser) insertAt(e diffwrap.Edit) int {
	at, near, end := 0, 0, e.Off+e.Len // the offset at of current corresponds to the offset near of base
	for i := max(r.next-1, 0); i < len(r.shared); i++ {
		s := r.shared[i]
		if s.A < e.Off {
			n := min(s.Len, e.Off-s.A)
			at, near = s.B+n, s.A+n
		}
		switch {
		case e.Len == 0 && s.A >= e.Off:
			if near < e.Off && s.A == e.Off {
				return s.B
			}
			return at
		case e.Len > 0 && s.A+s.Len > e.Off: // s has the first shared character at or after e.Off
			return s.B + max(e.Off-s.A, 0)
		case s.A >= end:
			return s.B
		}
	}
	if e.Len > 0 || e.Off == len(r.base) {
		return len(r.current)
	}
	return at
}

// alreadyMade reports whether current already has e's change: the same bytes of base, replaced by the same text.
func (r *rebaser) alreadyMade(e diffwrap.Edit) bool {
	if e.New == "" || e.Len == 0 {
		return false // deleting twice is harmless, and two equal insertions count as two
	}
	left, right := Match{}, Match{A: len(r.base), B: len(r.current)}
	for i := max(r.next-1, 0); i < len(r.shared); i++ {
		s := r.shared[i]
		if s.A+s.Len <= e.Off {
			left = s
			continue
		}
		if s.A >= e.Off+e.Len {
			right = s
			break
		}
		if s.A < e.Off {
			left = Match{s.A, s.B, e.Off - s.A}
		}
		if s.A+s.Len > e.Off+e.Len {
			skip := max(e.Off+e.Len-s.A, 0)
			right = Match{s.A + skip, s.B + skip, s.Len - skip}
			break
		}
		if s.A >= e.Off {
			return false // current still has bytes that e deletes
		}
	}
	return left.A+left.Len == e.Off && right.A == e.Off+e.Len &&
		r.current[left.B+left.Len:right.B] == e.New
}
