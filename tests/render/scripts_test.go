package render

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/relayfs/relayfs/diffwrap"
)

// scriptCeilings are how many times as many groups per changed line as in Latin prose a script may get, and which share of
// the lines may have 8 groups or more. They may only be lowered.
var scriptCeilings = map[string]struct{ groups, crowded float64 }{
	"hebrew": {1.05, 0.08}, "arabic": {1.06, 0.08}, "emoji": {1.09, 0.09},
	"han": {0.93, 0.02}, "kana": {1.02, 0.04},
	"thai": {1.13, 0.08}, "khmer": {1.10, 0.06}, "lao": {1.18, 0.09}, "myanmar": {1.23, 0.13},
}

// The same edits of words, in scripts with spaces between them and in those without, leave about as many groups of marks.
func TestScripts(t *testing.T) {
	const lines = 600
	measured := make(map[string]grouped)
	all := []script{english, hebrew, arabic, emoji, chinese, japan, thai, khmer, lao, burmese}
	for _, s := range all {
		// All scripts get the same numbers of words and changes.
		d := &draft{Rand: rand.New(rand.NewPCG(*seedFlag, 0))}
		var g grouped
		for range lines {
			before, after := d.edited(s, 10+d.IntN(30))
			edits, err := diffwrap.Put(before+"\n", after+"\n")
			if err != nil {
				t.Fatal(err)
			}
			one := groupsOf(diffwrap.Apply(before+"\n", edits))
			g.lines += one.lines
			g.groups += one.groups
			g.crowded += one.crowded
		}
		measured[s.name] = g
	}
	latin := ratio(measured["latin"].groups, measured["latin"].lines)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "script\tlines\tgroups per line\tof Latin\t8 or more\t")
	for _, s := range all {
		g := measured[s.name]
		times, crowded := ratio(g.groups, g.lines)/latin, ratio(g.crowded, g.lines)
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.1f %%\t\n", s.name, g.lines, times*latin, times, 100*crowded)
		if most, ok := scriptCeilings[s.name]; ok && *seedFlag == 1 && (times > most.groups || crowded > most.crowded) {
			t.Errorf("%s: %.2f times the groups of Latin and %.1f %% of lines with %d or more, the ceilings are %.2f and %.1f %%",
				s.name, times, 100*crowded, crowd, most.groups, 100*most.crowded)
		}
	}
	w.Flush()
	t.Logf("Groups of marks per line that changed in part\n%s", b.String())
}
