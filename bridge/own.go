package bridge

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A writer may amend its own pending suggestions, and nobody else's: what a
// person typed, be it as a mark by hand or inside of somebody's addition, is
// never changed without a mark. Marks carry no author in the text, so who typed
// what is read from the document.

// foreign says which marks of the current version are not entirely by the
// author: diffwrap.Options.Foreign, nil if there are no marks. The write lock
// is held.
func (n *note) foreign(cur *Version, author string) (func(start, end int) bool, error) {
	if !hasMarks(cur.raw) {
		return nil, nil
	}
	who, err := n.attribution(cur)
	if err != nil {
		return nil, err
	}
	mine := who.ranges(cur.raw, author)
	return func(start, end int) bool { return !ownMark(mine, cur.raw, start, end) }, nil
}

// markEdge is the length of a mark's delimiters.
const markEdge = len("{++")

// ownMark says whether the author made a mark: its delimiters and, of an
// addition, all that is inside. What a deletion holds is other people's text.
func ownMark(mine []span, raw string, start, end int) bool {
	if end-start < 2*markEdge {
		return false
	}
	if raw[start:start+markEdge] != "{--" {
		return covers(mine, start, end)
	}
	return covers(mine, start, start+markEdge) && covers(mine, end-markEdge, end)
}

// covers says whether one of the ranges (span.a, of span.n bytes) holds all
// bytes from start to end.
func covers(ranges []span, start, end int) bool {
	i, found := slices.BinarySearchFunc(ranges, start, func(s span, off int) int { return s.a - off })
	if !found {
		i--
	}
	return i >= 0 && end <= ranges[i].a+ranges[i].n
}

// ranges are the bytes of raw that the author inserted: ascending, in as few
// ranges as possible.
func (a attribution) ranges(raw, author string) []span {
	var out []span
	cursor := utf16Cursor{text: raw}
	pos := 0
	for _, r := range a.runs {
		for _, piece := range a.piecesBy(author, r) {
			from := cursor.offAt(pos + piece.a)
			to := cursor.offAt(pos + piece.a + piece.n)
			if last := len(out) - 1; last >= 0 && out[last].a+out[last].n == from {
				out[last].n += to - from
			} else {
				out = append(out, span{a: from, n: to - from})
			}
		}
		pos += r.Len
	}
	return out
}

// piecesBy are the stretches of a run that the author's records inserted, as
// positions in the run, ascending.
func (a attribution) piecesBy(author string, r ycrdt.Run) []span {
	var out []span
	for i := range a.records {
		rec := &a.records[i]
		if rec.Author != author || rec.Client != uint64(r.ID.Client) {
			continue
		}
		from := max(rec.Clock, r.ID.Clock)
		to := min(rec.Clock+rec.Len, r.ID.Clock+uint64(r.Len))
		if from < to {
			out = append(out, span{a: int(from - r.ID.Clock), n: int(to - from)})
		}
	}
	slices.SortFunc(out, func(x, y span) int { return x.a - y.a })
	return out
}
