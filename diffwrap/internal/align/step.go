package align

import "github.com/relayfs/relayfs/diffwrap/internal/span"

// step is a part of a script of lines: line numbers of old lines and of the corresponding new lines.
type step struct {
	old, new span.Span
	kind     stepKind
}

type stepKind uint8

const (
	stepSame      stepKind = iota // equal lines; the breaks before them may differ
	stepGap                       // lines between unchanged lines, not yet paired
	stepChanged                   // one line and its new version
	stepReplaced                  // unrelated lines
	stepRewrapped                 // a paragraph whose line breaks changed more than its words
)

// lineScript lists the unchanged lines and the gaps between them.
func lineScript(o *lineText, match []int, newLines int) (out []step) {
	i, j := 0, 0
	upTo := func(k, partner int, w stepKind) {
		if s := (step{span.New(i, k), span.New(j, partner), w}); !s.old.Empty() || !s.new.Empty() {
			out = append(out, s)
		}
		i, j = k, partner
	}
	for k := 0; k < len(match); k++ {
		if match[k] < 0 {
			continue
		}
		upTo(k, match[k], stepGap)
		end := k + 1
		for end < len(match) && match[end] == match[end-1]+1 {
			end++
		}
		upTo(end, match[k]+end-k, stepSame)
		k = end - 1
	}
	upTo(len(match), newLines, stepGap)
	return out
}

func lineStep(i, j int, w stepKind) step { return step{span.New(i, i+1), span.New(j, j+1), w} }
