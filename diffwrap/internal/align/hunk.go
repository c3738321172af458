package align

import "github.com/relayfs/relayfs/diffwrap/internal/span"

// Hunk is one difference of two texts: the range Old of the old text became the range New of the new text. The texts
// between hunks are equal. Hunks are sorted. Two adjacent hunks stay two changes.
type Hunk struct{ Old, New span.Span }

func (h Hunk) Shift(by int) Hunk { return Hunk{h.Old.Shift(by), h.New.Shift(by)} }

func (h Hunk) Union(last Hunk) Hunk {
	return Hunk{span.New(h.Old.Start, last.Old.End), span.New(h.New.Start, last.New.End)}
}

func (h Hunk) Grow(before, after int) Hunk {
	return Hunk{span.New(h.Old.Start-before, h.Old.End+after), span.New(h.New.Start-before, h.New.End+after)}
}

type mode struct {
	exact    bool // see Exact
	typed    bool // see matchLines; also exact
	fragment bool // see Readable
}
