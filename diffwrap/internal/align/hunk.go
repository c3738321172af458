package align

import "github.com/relayfs/relayfs/diffwrap/internal/span"

// Hunk is one place where two texts differ: Old of the old text became New of the new one. What lies between hunks is equal.
// Hunks are sorted; two that touch are to be shown as two changes.
type Hunk struct{ Old, New span.Span }

// Shift is the hunk by so many bytes further on in both texts.
func (h Hunk) Shift(by int) Hunk { return Hunk{h.Old.Shift(by), h.New.Shift(by)} }

// Through is the hunk from one to another one after it.
func (h Hunk) Through(last Hunk) Hunk {
	return Hunk{span.New(h.Old.Start, last.Old.End), span.New(h.New.Start, last.New.End)}
}

// Grow is the hunk with so many equal bytes before and behind it.
func (h Hunk) Grow(before, behind int) Hunk {
	return Hunk{span.New(h.Old.Start-before, h.Old.End+behind), span.New(h.New.Start-before, h.New.End+behind)}
}

// mode says how two texts are compared.
type mode struct {
	exact    bool // see Exact
	fragment bool // see Readable
}
