package diffwrap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

// A writer's marks of whole lines stay as they are when the writer adds a line elsewhere, also between lines that another
// author adds or deletes. Whatever is decided on each mark, no decision joins two lines.
func TestMarksOfLinesStay(t *testing.T) {
	randomtest.Check(t, 2000, func(t testing.TB, r *rand.Rand) {
		item := randomtest.Pick(r, "", "- ")
		raw := item + "first"
		for k := range randomtest.Between(r, 3, 8) {
			raw += fmt.Sprintf(randomtest.Pick(r, "\n%sw%d", "\n%sw%d", "{++\n%sw%d++}", "{--\n%sw%d--}"), item, k)
		}
		raw += "\n"
		owners, theirs := make(map[int]Owner), 0
		for at := range raw {
			if raw[at] == '{' {
				theirs++
				owners[at] = Owner{Suggestion: fmt.Sprint("s", theirs), Author: "Bob", Access: Foreign}
			}
		}
		write := func(changed []string) bool {
			res, err := Options{Known: Everything, Owners: owners}.Put(raw, strings.Join(changed, "\n"))
			if err != nil {
				return false
			}
			after := make(map[int]Owner)
			for at, o := range owners {
				if o.Access == Foreign {
					moved := at
					for _, e := range res.Edits {
						if e.Off+e.Len <= at {
							moved += len(e.New) - e.Len
						}
					}
					after[moved] = o
				}
			}
			raw = Apply(raw, res.Edits)
			for at := range raw {
				if _, known := after[at]; raw[at] == '{' && !known {
					after[at] = Owner{Suggestion: "own"}
				}
			}
			owners = after
			return true
		}
		lines := func() []string { return strings.Split(Everything.Accepted(raw), "\n") }
		start := raw
		changed := lines()
		if len(changed) < 3 {
			return
		}
		at := randomtest.Between(r, 1, len(changed)-2)
		if r.IntN(2) == 0 {
			changed = slices.Delete(changed, at, at+1)
		} else {
			changed = slices.Insert(changed, at, item+"mine")
		}
		if !write(changed) {
			return
		}
		before := raw
		changed = lines()
		to := randomtest.Between(r, 1, len(changed)-1)
		if to >= at-1 && to <= at+2 {
			return
		}
		if !write(slices.Insert(changed, to, item+"more")) {
			return
		}
		if got := strings.Replace(raw, "{++\n"+item+"more++}", "", 1); got != before {
			t.Errorf("%q: stored %q, and with another line %q", start, before, raw)
		}
		decided := raw
		for {
			list := Everything.SuggestionsBy(decided, func(start int) Owner { return Owner{Suggestion: fmt.Sprint(start)} })
			if len(list) == 0 {
				break
			}
			s := randomtest.Pick(r, list...)
			decided = Apply(decided, Everything.Decide(decided, r.IntN(2) == 0, func(Attached) bool { return false }, s))
		}
		for line := range strings.SplitSeq(decided, "\n") {
			if strings.Count(line, "w")+strings.Count(line, "m")+strings.Count(line, "f") > 1 {
				t.Errorf("%q: of %q a decision makes %q", start, raw, decided)
			}
		}
	})
}
