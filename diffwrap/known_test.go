package diffwrap

import (
	"slices"
	"strings"
	"testing"
)

// Known marks move with their text, and those that a change of the text takes a part of are none.
func TestKnownMarks(t *testing.T) {
	raw := "{++a++} `{++b++}` {>>c<<}"
	k := KnownAt([]int{0, 9, 18})
	for what, tt := range map[string]struct {
		got  Known
		want []int
	}{
		"before":              {k.Before(9), []int{0, 9}[:1]},
		"the rest":            {k.From(9), []int{0, 9}},
		"all marks":           {KnownAt([]int{9}).MarksOf(raw), []int{0, 9, 18}},
		"by themselves":       {Known{}.MarksOf(raw), []int{0, 18}},
		"everything":          {Everything.AfterEdits(raw, []Edit{{Len: 1}}), nil},
		"text before":         {k.AfterEdits(raw, []Edit{{Off: 0, New: "x"}, {Off: 8, Len: 1}}), []int{1, 9, 18}},
		"a part of an opener": {k.AfterEdits(raw, []Edit{{Off: 10, Len: 1}}), []int{0, 17}},
		"a cut opener":        {k.AfterEdits(raw, []Edit{{Off: 20, New: "--}{--"}}), []int{0, 9, 18}},
		"a joined opener":     {KnownAt([]int{3}).AfterEdits("{--{>--}{-->c<<}--}", []Edit{{Len: 3}, {Off: 5, Len: 6}}), []int{0}},
		"a cut one's end":     {KnownAt([]int{3}).AfterEdits("{--{>--}{-->c<<}--}", []Edit{{Off: 11, Len: 1}}), []int{}},
		"without one":         {k.Without(9), []int{0, 18}},
		"read":                {k.Read(raw), []int{0, 9, 18}},
	} {
		if !slices.Equal(tt.got.Offsets(), tt.want) {
			t.Errorf("%s: %v, want %v", what, tt.got.Offsets(), tt.want)
		}
	}
	if got := MayBeMarks(raw + "{--{>--}"); !slices.Equal(got, []int{0, 9, 18, 25, 28}) {
		t.Errorf("may be marks: %v", got)
	}
	if Everything.MarksOf(raw).Offsets() != nil || k.Bytes() > 0 || k.Read(raw).Bytes() == 0 || !k.Same(KnownAt([]int{0, 9, 18})) || k.Same(Known{}) {
		t.Error("what is known is not as it was said")
	}
	for text, want := range map[string]bool{"a {++b++}": true, raw: false, "{++`++} {++a++}": false, "{++    a++}": false} {
		if IsCertain(text) != want {
			t.Errorf("%q: certain %v, want %v", text, !want, want)
		}
	}
}

// A known mark counts wherever it stands, so what looks like a highlight that ends in it is text.
func TestAHighlightCutsNoKnownMark(t *testing.T) {
	for _, tt := range []struct{ raw, original, accepted string }{
		{"{==a {--b==} c--} d", "{==a b==} c d", "{==a  d"},
		{"{==a {++b==} c++} d", "{==a  d", "{==a b==} c d"},
		{"{==a {--b--} c==} {--d==}--}", "a b c d==}", "a  c "},
		{"{==a {==b {--c==} d--} e==}", "{==a {==b c==} d e==}", "{==a {==b  e==}"},
	} {
		for what, k := range map[string]Known{"known": KnownAt([]int{strings.LastIndex(tt.raw, "{")}), "everything": Everything} {
			if o, a := k.Texts(tt.raw); o != tt.original || a != tt.accepted {
				t.Errorf("%s: the views of %q are %q and %q, want %q and %q", what, tt.raw, o, a, tt.original, tt.accepted)
			}
		}
	}
	if IsCertain("{==a {--b==} c--} d") {
		t.Error("it is certain that the highlight counts")
	}
}

// What was a mark and is in code after a change is told, and what was in code and is a mark.
func TestMarksThatAChangeWouldTurn(t *testing.T) {
	const fenced = "{++```\n++}a {++b++} {>>c<<}{++\n```++}\n"
	known := KnownAt([]int{0, 27})
	edits := known.Accept(fenced, known.Suggestions(fenced)[0], known.Suggestions(fenced)[2])
	if got, want := Apply(fenced, edits), "```\na {++b++} {>>c<<}\n```\n"; got != want {
		t.Fatalf("accepted: %q, want %q", got, want)
	}
	for _, tt := range []struct {
		raw           string
		known         []int
		edits         []Edit
		kept, literal []int
	}{
		{raw: fenced, known: []int{0, 27}, edits: edits, kept: []int{6, 14}},
		{raw: fenced, known: []int{0, 27}},
		{raw: "{++a++}", known: []int{0}, edits: []Edit{{New: "    "}}},
		{raw: "    {++a++}\n", edits: []Edit{{Len: 4}}, literal: []int{0}},
		{raw: "    {++a\n{++b++}\n", edits: []Edit{{Len: 4}}, kept: []int{5}, literal: []int{0}}, // the first opener would hide the second one
		{raw: "    a {>>b<<}\n", edits: []Edit{{Len: 4}}, literal: []int{2}},
		{raw: "a {--{>--}{-->b<<}--}\n", known: []int{2, 10}, edits: []Edit{{Off: 2, Len: 3}, {Off: 7, Len: 6}, {Off: 18, Len: 3}}},
	} {
		known, after := KnownAt(tt.known), Apply(tt.raw, tt.edits)
		want := known.MarksOf(tt.raw).AfterEdits(tt.raw, tt.edits)
		kept, literal := known.AfterEdits(tt.raw, tt.edits).ToHave(want, after)
		if !slices.Equal(kept, tt.kept) || !slices.Equal(literal, tt.literal) {
			t.Errorf("%q of %q: kept %v, literal %v, want %v, %v", after, tt.raw, kept, literal, tt.kept, tt.literal)
		}
		is := known.AfterEdits(tt.raw, tt.edits).And(kept...).Except(literal...)
		if got := is.MarksOf(after).Offsets(); len(tt.literal) > 0 && !slices.Equal(got, want.Offsets()) {
			t.Errorf("%q has the marks %v, want %v", after, got, want.Offsets())
		}
		if moved := is.AfterEdits(after, []Edit{{New: "x"}}); !moved.Same(is.Before(0).And(moved.Offsets()...).Except(moved.Literal()...)) || len(moved.Literal()) != len(literal) {
			t.Errorf("%q: what is literal does not move with the text: %v", after, moved.Literal())
		}
	}
}

func TestNames(t *testing.T) {
	for _, v := range []View{AcceptedView, OriginalView, RawView} {
		if got, err := ParseView(v.String()); got != v || err != nil {
			t.Errorf("view %v: %v, %v", v, got, err)
		}
	}
	for _, d := range []Dialect{Plain, Commentator, RelayComments} {
		if got, err := ParseDialect(d.String()); got != d || err != nil {
			t.Errorf("dialect %v: %v, %v", d, got, err)
		}
	}
	for name, want := range map[string]FrontMatterPolicy{"direct": FrontMatterDirect, "refuse": FrontMatterRefuse} {
		if got, err := ParseFrontMatterPolicy(name); got != want || err != nil {
			t.Errorf("policy %s: %v, %v", name, got, err)
		}
	}
	_, view := ParseView("x")
	_, dialect := ParseDialect("x")
	_, policy := ParseFrontMatterPolicy("x")
	if view == nil || dialect == nil || policy == nil {
		t.Error("names that are none are taken")
	}
}
