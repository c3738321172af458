package render

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
)

var (
	editCount = flag.Int("edits", 0, "how many edits TestMarks makes; 0 for a short run in which nothing may break")
	onlyKinds = flag.String("kind", "", "of the edits of TestMarks, those of these kinds only, separated by commas")
	onlyEdit  = flag.Int("edit", -1, "of the edits of TestMarks, the one with this number only")
	seedFlag  = flag.Uint64("seed", 1, "what the edits of TestMarks depend on")
	show      = flag.Int("show", 0, "how many broken edits of each kind TestMarks shows, as small as they can be made")
	others    = flag.Bool("others", false, "TestMarks compares marks with those of git diff --word-diff and go-diff")
)

// shortRun is how many edits may break nothing.
const shortRun = 31 * 40

// tally is what edits of one kind come to.
type tally struct {
	edits, refused, brokenEdits int
	boxedIn                     int // edits with a block that no mark can leave standing
	unchanged, broken           int // blocks
	lost                        map[string]int
	brokenKinds                 map[string]int // of blocks
	lens, git, goDiff           marked
	grouped
	put     time.Duration
	slowest time.Duration
}

func newTally() *tally {
	return &tally{lost: make(map[string]int), brokenKinds: make(map[string]int)}
}

func (t *tally) add(o tally) {
	t.edits += o.edits
	t.refused += o.refused
	t.brokenEdits += o.brokenEdits
	t.boxedIn += o.boxedIn
	t.unchanged += o.unchanged
	t.broken += o.broken
	for kind, n := range o.lost {
		t.lost[kind] += n
	}
	for kind, n := range o.brokenKinds {
		t.brokenKinds[kind] += n
	}
	for _, m := range []struct{ to, from *marked }{{&t.lens, &o.lens}, {&t.git, &o.git}, {&t.goDiff, &o.goDiff}} {
		m.to.marks += m.from.marks
		m.to.chars += m.from.chars
	}
	t.lines += o.lines
	t.groups += o.groups
	t.crowded += o.crowded
	t.put += o.put
	t.slowest = max(t.slowest, o.slowest)
}

func TestMarks(t *testing.T) {
	run := runner{t: t, renderer: newRenderer(t), tallies: make(map[string]*tally), shown: make(map[string]int)}
	e := edits{collection: collect(t), seed: *seedFlag}
	n := *editCount
	if n == 0 {
		n = shortRun
	}
	var chosen []string
	if *onlyKinds != "" {
		chosen = strings.Split(*onlyKinds, ",")
		for _, name := range chosen {
			if !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name }) {
				t.Fatalf("no kind %q", name)
			}
		}
	}
	n = max(n, *onlyEdit+1)
	start := time.Now()
	measured := 0
	var batch []edit
	for i := range n {
		if chosen != nil && !slices.Contains(chosen, kinds[i%len(kinds)].name) || *onlyEdit >= 0 && i != *onlyEdit {
			continue
		}
		measured++
		if batch = append(batch, e.make(i)); len(batch) == 310 {
			run.measure(batch)
			batch = batch[:0]
		}
	}
	run.measure(batch)
	t.Logf("seed %d, %d edits of %d notes of the sample vault and %d of packages, in %v\n%s",
		e.seed, measured, len(e.sample), len(e.packages), time.Since(start).Round(time.Second/10), run.report())
	if *editCount == 0 && *seedFlag == 1 && *onlyEdit < 0 {
		run.check()
	}
}

// runner measures edits.
type runner struct {
	*renderer
	t       *testing.T
	tallies map[string]*tally
	shown   map[string]int
}

// measure makes suggestions of edits and looks at the pages.
func (r *runner) measure(all []edit) {
	r.t.Helper()
	if len(all) == 0 {
		return
	}
	type put struct {
		edit
		pending string
		matter  bool
	}
	var puts []put
	var texts []string
	for _, e := range all {
		t := r.tallies[e.kind]
		if t == nil {
			t = newTally()
			r.tallies[e.kind] = t
		}
		t.edits++
		start := time.Now()
		res, err := diffwrap.Options{}.Put(e.before, e.after)
		took := time.Since(start)
		t.put += took
		t.slowest = max(t.slowest, took)
		if errors.As(err, new(*diffwrap.RefusedError)) {
			t.refused++
			if r.shown[e.kind] < *show {
				r.shown[e.kind]++
				r.t.Logf("%s, edit %d, %s: %v", e.kind, e.number, e.note, err)
			}
			continue
		} else if err != nil {
			r.t.Fatal(err)
		}
		pending := diffwrap.Apply(e.before, res.Edits)
		puts = append(puts, put{e, pending, res.FrontMatter != nil})
		texts = append(texts, e.before, diffwrap.Everything.Accepted(pending), pending)
	}
	pages, err := r.pages(texts, func(i int) bool { return i%3 == 0 && len(texts[i]) < 4<<10 })
	if err != nil {
		r.t.Fatal(err)
	}
	// What is written at once, as front matter is, has no marks; git would mark it.
	var compared []edit
	for i, p := range puts {
		t := r.tallies[p.kind]
		v := compare(pages[3*i], pages[3*i+1], pages[3*i+2], p.pending)
		t.unchanged += v.unchanged
		if !v.stands() {
			boxed, err := r.boxedIn(pages[3*i], pages[3*i+1])
			if err != nil {
				r.t.Fatal(err)
			}
			if boxed {
				t.boxedIn++
				v = verdict{}
			}
		}
		t.broken += len(v.broken)
		for kind, n := range v.lost {
			t.lost[kind] += n
		}
		for _, b := range v.broken {
			t.brokenKinds[b.kind]++
		}
		if len(v.broken) > 0 {
			t.brokenEdits++
		}
		g := groupsOf(p.pending)
		t.lines += g.lines
		t.groups += g.groups
		t.crowded += g.crowded
		if !p.matter {
			m := byLens(p.pending)
			t.lens.marks += m.marks
			t.lens.chars += m.chars
			compared = append(compared, p.edit)
		}
		if !v.stands() && r.shown[p.kind] < *show {
			r.shown[p.kind]++
			r.t.Log(r.example(p.edit))
		}
	}
	if !*others {
		return
	}
	for i, m := range byGit(r.t, compared) {
		t := r.tallies[compared[i].kind]
		t.git.marks += m.marks
		t.git.chars += m.chars
		m = byGoDiff(compared[i].before, compared[i].after)
		t.goDiff.marks += m.marks
		t.goDiff.chars += m.chars
	}
}

// example shows a broken edit with as few blocks around it as it takes.
func (r *runner) example(e edit) string {
	before, after := strings.Split(e.before, "\n\n"), strings.Split(e.after, "\n\n")
	found := r.judge(e.before, e.after)
	whole, _, _ := strings.Cut(found, "\n")
	for i := len(before) - 1; i >= 0; i-- {
		j := slices.Index(after, before[i])
		if j < 0 || i == 0 && strings.HasPrefix(e.before, "---\n") {
			continue
		}
		x, y := slices.Delete(slices.Clone(before), i, i+1), slices.Delete(slices.Clone(after), j, j+1)
		smaller := r.judge(strings.Join(x, "\n\n"), strings.Join(y, "\n\n"))
		if first, _, _ := strings.Cut(smaller, "\n"); first == whole {
			before, after, found = x, y, smaller
		}
	}
	return fmt.Sprintf("%s, edit %d, %s\n%s", e.kind, e.number, e.note, found)
}

// judge returns what is broken by an edit and its pending text; "" if nothing is.
func (r *runner) judge(before, after string) string {
	edits, err := diffwrap.Put(before, after)
	if err != nil {
		return ""
	}
	pending := diffwrap.Apply(before, edits)
	pages, err := r.pages([]string{before, diffwrap.Everything.Accepted(pending), pending}, func(int) bool { return false })
	if err != nil {
		r.t.Fatal(err)
	}
	v := compare(pages[0], pages[1], pages[2], pending)
	if len(v.broken) == 0 && len(v.lost) == 0 {
		return ""
	}
	var b strings.Builder
	for _, x := range v.broken {
		fmt.Fprintf(&b, "broken %s: %q\n", x.kind, shorten(pages[0].source(x)))
	}
	for _, kind := range slices.Sorted(maps.Keys(v.lost)) {
		fmt.Fprintf(&b, "lost: %d %s\n", v.lost[kind], kind)
	}
	return b.String() + "-- pending --\n" + pending + "\n--"
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// report is a table by kind.
func (r *runner) report() string {
	var b strings.Builder
	total := newTally()
	rows := func(head string, row func(name string, t *tally) string) {
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "%s\t\n", head)
		for _, k := range kinds {
			if t := r.tallies[k.name]; t != nil {
				fmt.Fprintf(w, "%s\t\n", row(k.name, t))
			}
		}
		fmt.Fprintf(w, "%s\t\n\n", row("all", total))
		w.Flush()
	}
	for _, t := range r.tallies {
		total.add(*t)
	}
	b.WriteString("Pages: edits that break a block, unchanged blocks that break, constructs that are lost\n")
	rows("kind\tedits\trefused\tboxed in\tbroken\tblocks\tbroken\tshare\ttables\tcode\tmath\tcallouts\thtml\tcomments", func(name string, t *tally) string {
		s := fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f %%", name, t.edits, t.refused, t.boxedIn, t.brokenEdits, t.unchanged, t.broken, 100*ratio(t.broken, t.unchanged))
		for _, kind := range constructs {
			s += fmt.Sprintf("\t%d", t.lost[kind])
		}
		return s
	})
	b.WriteString("Broken blocks by what they were:")
	for _, kind := range slices.Sorted(maps.Keys(total.brokenKinds)) {
		fmt.Fprintf(&b, " %s %d", kind, total.brokenKinds[kind])
	}
	b.WriteString("\n\nMarks: per edit, characters in them per edit, groups per line that changed in part, such lines with 8 groups or more, milliseconds per put\n")
	rows("kind\tmarks\tgit\tgo-diff\tchars\tgit\tgo-diff\tgroups\tcrowded\tms\tslowest", func(name string, t *tally) string {
		per := func(n int) string {
			if n == 0 {
				return "-"
			}
			return fmt.Sprintf("%.2f", ratio(n, t.edits-t.refused))
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.1f %%\t%.2f\t%.0f", name, per(t.lens.marks), per(t.git.marks), per(t.goDiff.marks),
			per(t.lens.chars), per(t.git.chars), per(t.goDiff.chars), ratio(t.groups, t.lines), 100*ratio(t.crowded, t.lines),
			t.put.Seconds()*1000/float64(t.edits), t.slowest.Seconds()*1000)
	})
	return b.String()
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// check wants no unchanged block to break, and no table to be lost, where that can be.
func (r *runner) check() {
	for _, k := range kinds {
		if t := r.tallies[k.name]; t != nil && t.broken+t.lost["table"] > 0 {
			r.t.Errorf("%s: %d unchanged blocks break and %d tables are lost, want none; see them with -kind='%s' -show=3", k.name, t.broken, t.lost["table"], k.name)
		}
	}
}
