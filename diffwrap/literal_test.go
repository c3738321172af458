package diffwrap_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// literals are texts in which nothing is a mark, unless it is known to be one.
var literals = []struct{ name, text string }{
	{"front matter", "---\ntitle: The {--old--}{++new++} thing\n---\nBody\n"},
	{"front matter after a byte order mark", "\ufeff---\ntitle: why {>>why<<}\n---\n"},
	{"front matter to the body", "---\ntitle: a {++a\n---\nb++}\n"},
	{"fence", "A.\n\n```c\nfor (;;) {++n; m++}\n```\n\nB.\n"},
	{"fence of tildes", "~~~\n{--x--}\n```\n{++y++}\n~~~\n"},
	{"fence without an end", "```\n{--x--}\n\n{++y++}\n"},
	{"fence in a list", "- a\n\n  ```\n  {++n; m++}\n  ```\n- b\n"},
	{"fence in an item of a list", "1. a\n2. ```\n   {++n; m++}\n   ```\n"},
	{"fence in a quote", "> ```\n> {++n; m++}\n> ```\n"},
	{"fence in a callout in a list", "- > [!note]\n  > ```\n  > {--n; m--}\n  > ```\n"},
	{"indented code", "A.\n\n    {++n; m++}\n\nB.\n"},
	{"indented code in a list", "- a\n\n      {++n; m++}\n"},
	{"inline code", "Write `{++n; m++}` there.\n"},
	{"inline code with two backticks", "Write ``{++ ` ++}`` there.\n"},
	{"inline code over a line break", "Write `{++n;\nm++}` there.\n"},
	{"inline code in a table", "| a |\n|---|\n| `{--x--}` |\n"},
	{"inline code to prose", "Write `{++` and then ++} there.\n"},
	{"ions", "$A^{--}$ first.\n\n## Middle\n\nText of a person.\n\n$B^{--}$ last.\n"},
	{"formula", "With $x_{--y--}$ it fits.\n"},
	{"formula in two dollars", "With $$x {++y++}$$ it fits.\n"},
	{"block of a formula", "A.\n\n$$\nx_{--a--}\n$$\n\nB.\n"},
	{"tag of HTML", "A <b class=\"{++x++}\">word</b>.\n"},
	{"comment of HTML", "A <!-- {++x++} --> word.\n"},
	{"block of a comment of HTML", "<!--\n{++x++}\n\n{--y--}\n-->\n"},
	{"script", "<script>\n{++x++}\n\n{--y--}\n</script>\n"},
	{"comment of Obsidian", "A %%{++x++}%% word.\n"},
	{"block of a comment of Obsidian", "%%\n{++x++}\n\n{--y--}\n%%\n"},
	{"template", "At {{date {++x++}}} it fell.\n"},
	{"Blade", "{{-- x --}}\n"},
	{"Templater", "<%* if (a) {++b; c++} %>\n"},
	{"Templater over blank lines", "<%*\n{++b;\n\nc++}\n%>\n"},
	{"BibTeX", "@article{a, pages={123{--}145}}\n\n@article{b, pages={1{--}2}}\n"},
	{"empty addition", "a {++} b {++} c\n"},
	{"empty marks", "a {++++}{----}{~~~>~~}{>><<}{====} b\n"},
	{"over blocks", "Call f({--n, or\n\n# Head\n\nthen g(n--}) again.\n"},
	{"over paragraphs", "Call f({++n, or\n\nthen g(n++}) again.\n"},
}

// Text that relayfs did not write is literal where it can be ordinary text: in every view, in lists and counts, for every decision and
// for a writer.
func TestLiteral(t *testing.T) {
	for _, tt := range literals {
		t.Run(tt.name, func(t *testing.T) {
			raw := tt.text
			if o, a := diffwrap.Original(raw), diffwrap.Accepted(raw); o != raw || a != raw {
				t.Errorf("views %q, %q", o, a)
			}
			if list := diffwrap.Suggestions(raw); len(list) > 0 {
				t.Errorf("suggestions %+v", list)
			}
			if list := (diffwrap.Known{}).Annotations(raw); len(list) > 0 {
				t.Errorf("annotations %+v", list)
			}
			for _, accept := range []bool{true, false} {
				if edits := (diffwrap.Known{}).Decide(raw, accept, nil, diffwrap.Suggestion{End: len(raw)}); len(edits) > 0 {
					t.Errorf("accept %t: %+v", accept, edits)
				}
			}
			raw = strings.TrimPrefix(raw, diffwrap.ByteOrderMark) // which no writer adds
			result, err := diffwrap.Options{}.Put("", raw)
			if err != nil {
				t.Fatalf("an agent writes it: %v", err)
			}
			got := diffwrap.Apply("", result.Edits)
			if shown := result.Known.Accepted(got); shown != raw {
				t.Errorf("written as %q, which shows %q", got, shown)
			}
			edits := result.Known.Decide(got, true, nil, diffwrap.Suggestion{End: len(got)})
			if left := result.Known.AfterEdits(got, edits); diffwrap.Apply(got, edits) != raw || left.Accepted(raw) != raw {
				t.Errorf("written and accepted: %q with %v known", diffwrap.Apply(got, edits), left)
			}
		})
	}
}

// A mark that is known counts wherever it stands.
func TestKnownCounts(t *testing.T) {
	for _, tt := range []struct{ name, raw, original, accepted string }{
		{"fence", "```c\n{--a--}{++b++}\n```\n", "```c\na\n```\n", "```c\nb\n```\n"},
		{"fence that is cut", "{--```js\n--}{++~~~js\n++}code{--\n```--}{++\n~~~++}\n", "```js\ncode\n```\n", "~~~js\ncode\n~~~\n"},
		{"formula", "$x_{--a--}$\n", "$x_a$\n", "$x_$\n"},
		{"front matter", "---\na: {--b--}\n---\n", "---\na: b\n---\n", "---\na: \n---\n"},
		{"over paragraphs", "A {--b\n\nc--} d.\n", "A b\n\nc d.\n", "A  d.\n"},
		{"empty", "a{++++}b", "ab", "ab"},
		{"behind a brace", "if {++}++}", "if ", "if }"},
		{"comment in code", "`x{>>why<<}`\n", "`x`\n", "`x{>>why<<}`\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := knownIn(tt.raw)
			if o, a := known.Original(tt.raw), known.Accepted(tt.raw); o != tt.original || a != tt.accepted {
				t.Errorf("views %q, %q; want %q, %q", o, a, tt.original, tt.accepted)
			}
		})
	}
}

// What relayfs has written makes nothing literal, nor what a person typed a mark: what is seen is the text as it is without it.
func TestLiteralBesideKnown(t *testing.T) {
	cut := "{--```js\n--}{++~~~js\n++}code{--\n```--}{++\n~~~++}\n\nProse {++typed++}.\n"
	known := knownIn(cut[:strings.Index(cut, "typed")])
	if got := known.Suggestions(cut); len(got) == 0 || got[len(got)-1].New != "typed" {
		t.Errorf("behind a fence that is replaced: %+v", got)
	}
	inside := "```js\nx {++n; m++}{++y++}\n```\n"
	known = diffwrap.KnownAt([]int{strings.Index(inside, "{++y")})
	if got := known.Suggestions(inside); len(got) != 1 || got[0].New != "y" {
		t.Errorf("in code: %+v", got)
	}
	swallowed := "a {++ b {++c++} d\n"
	known = diffwrap.KnownAt([]int{strings.Index(swallowed, "{++c")})
	if got := known.Suggestions(swallowed); len(got) != 1 || got[0].New != "c" {
		t.Errorf("behind an opener that is not closed: %+v", got)
	}
}

// Marks of people, in any dialect, count in prose.
func TestMarksInProse(t *testing.T) {
	for _, raw := range []string{
		"a {++b++} c", "a {--b--}{++c++}.", "{~~a~>b~~}", "a {++ b\nc ++} d", "A.{++\n\nNew.++}\n\nB.", "A.{-- --}{++\n\n++}B.", "# A {++b++}", "- a{++\n- b++}\n",
		"| a |\n|---|\n| {--1--}{++2++} |\n", "> a {++b++}\n", `{++{"author":"Bob"}@@b++}`, `a {++b++}{{author="Bob">><<}}`, "{==a {--b--} c==}{>>why<<}",
		"{--`a`--}{++`b`++}", "{--$a$--}{++$b$++}", "It costs {--$5--}{++$6++} now, not $7.", "`a` {++b++} `c`", "{--`a--}{++`b++}", "a < b {++c++} > d",
		"{++\n```\ncode\n```\n++}", "<div>\nText {++a++}\n</div>\n", "<script>a</script> no {--plums--}{++<i>damsons</i>++}.\n", "<!-- a --> no {--b--}\n", "a{++b++}c{>>why?\n\nreally<<} d\n", "{--{{date}}--}{++{{time}}++}", "It is 5 %% of {++all++}, no more.",
		// What looks like a tag is none.
		"`{++a++} <a b=", "`{++a++} <a b==c>", "`{++a++} <a b='c", "<br/> {++a++}", "<?xml a?>\n\n{++b++}\n",
		"A.{--\n\n-----}\n\nMore.",
	} {
		if len(diffwrap.Suggestions(raw)) == 0 {
			t.Errorf("%q has no suggestion", raw)
		}
		if known := knownIn(raw); known.Accepted(raw) != diffwrap.Accepted(raw) || known.Original(raw) != diffwrap.Original(raw) {
			t.Errorf("%q is read otherwise if all its marks are known", raw)
		}
	}
}

// noise is what stands in literal stretches.
var noise = []string{"a", "b", " ", "x = 1;", "{++", "++}", "{--", "--}", "{~~", "~>", "~~}", "{>>", "<<}", "{==", "==}", "{++}", "{--}", "{++n; m++}", "{--x--}", "{>>c<<}"}

// aLiteral makes a block that is literal, or has a literal stretch in it.
func aLiteral(r *rand.Rand) string {
	text := "q" + strings.Join(randomtest.Some(r, 1, 8, noise...), "") + "q"
	lines := "q" + strings.Join(randomtest.Some(r, 1, 8, append(noise, "\n", "\n\nq")...), "") + "q"
	indented := func(s, author string) string { return author + strings.ReplaceAll(s, "\n", "\n"+author) }
	switch r.IntN(12) {
	case 0:
		return "```js\n" + lines + "\n```"
	case 1:
		return "~~~\n" + lines + "\n~~~"
	case 2:
		return "- Word\n\n  ```\n" + indented(lines, "  ") + "\n  ```"
	case 3:
		return "> ```\n" + indented(lines, "> ") + "\n> ```"
	case 4:
		return "# Code\n\n" + indented(lines, "    ") // behind a list it would be a paragraph of that
	case 5:
		return "Word `" + text + "` word."
	case 6:
		return "Word $" + text + "$ word."
	case 7:
		return "$$\n" + lines + "\n$$"
	case 8:
		return "Word <!-- " + strings.ReplaceAll(text, "-->", "") + " --> word."
	case 9:
		return "Word %%" + text + "%% word."
	case 10:
		return "Word {{" + strings.ReplaceAll(text, "}}", "") + "}} word."
	}
	return "<%*\n" + strings.ReplaceAll(lines, "%>", "") + "\n%>"
}

// Literal text stays byte for byte while an agent writes beside it, changes lines of it and writes more of it, and after every decision.
func TestLiteralsStay(t *testing.T) {
	rounds, refused := 0, 0
	defer func() {
		if rounds > 1000 && refused*500 > rounds {
			t.Errorf("%d of %d changes were refused since a literal delimiter would be read as a mark, want at most one of 500", refused, rounds)
		}
	}()
	randomtest.Check(t, 1200, func(t testing.TB, r *rand.Rand) {
		rounds++
		var before, after []string
		if r.IntN(4) == 0 {
			matter := "---\na: 'q" + strings.Join(randomtest.Some(r, 0, 4, noise...), "") + "'\n---"
			before, after = append(before, matter), append(after, matter)
		}
		prose := []string{"One two three four.", "# Five six", "- seven\n- eight nine", "| a | b |\n|---|---|\n| c | d |", "> Ten eleven.", "Twelve [[thirteen]] fourteen."}
		for range randomtest.Between(r, 1, 8) {
			block := randomtest.Pick(r, prose...)
			if r.IntN(2) == 0 {
				block = aLiteral(r)
			}
			before = append(before, block)
			switch r.IntN(6) {
			case 0:
				after = append(after, block, randomtest.Pick(r, prose...))
			case 1:
				after = append(after, strings.Replace(block, "e", "ee", 1))
			case 2:
				after = append(after, strings.Replace(block, "x = 1;", "y = 2;", 1))
			case 3:
				after = append(after, block, aLiteral(r))
			case 4:
			default:
				after = append(after, block)
			}
		}
		raw, want := strings.Join(before, "\n\n")+"\n", strings.Join(after, "\n\n")+"\n"
		if got := diffwrap.Accepted(raw); got != raw {
			t.Fatalf("%q shows %q", raw, got)
		}
		if got := diffwrap.Accepted(want); got != want {
			t.Fatalf("%q shows %q", want, got)
		}
		result, err := diffwrap.Options{}.Put(raw, want)
		if errors.Is(err, diffwrap.ErrAmbiguous) {
			refused++
			t.Skip("no place for the marks")
		}
		if err != nil {
			t.Fatalf("%q to %q: %v", raw, want, err)
		}
		stored := diffwrap.Apply(raw, result.Edits)
		known := result.Known
		if o, a := known.Original(stored), known.Accepted(stored); o != raw || a != want {
			t.Fatalf("%q to %q is stored as %q with the views\n%q\n%q", raw, want, stored, o, a)
		}
		for accept, text := range map[bool]string{true: want, false: raw} {
			edits := known.Decide(stored, accept, nil, diffwrap.Suggestion{End: len(stored)})
			if got := diffwrap.Apply(stored, edits); got != text {
				t.Fatalf("%q decided, accept %t: %q, want %q", stored, accept, got, text)
			}
			if left := known.AfterEdits(stored, edits); left.Accepted(text) != text || left.Original(text) != text {
				t.Fatalf("%q decided, accept %t: %q has marks", stored, accept, text)
			}
		}
	})
}

// A text without an opener is not looked at closer, and one of many openers is read once.
func TestLiteralsAreLinear(t *testing.T) {
	for _, part := range []string{
		"{++x++}", "`{++x++}", "$x {--y--}", "$$ {++a++}", "<!-- {++a++}", "<a b=\"{++a++}", "<a {++b++}", "%% {--a--}", "{{ {++a++}", "<% {++a++}\n\n", "``{++a++}` ",
		"> ```\n> {++a++}\n", "- {++a++}\n", "  - {++a++}\n", "    {++a++}\n", "\\{++a++}", "{++a\n\nb++}\n", "{++ {--a--}",
	} {
		need.Linear(t, "many "+part, 60_000, func(n int) string { return need.Repeat(part, n) }, func(text string) {
			diffwrap.Suggestions(text)
			knownIn(text).Suggestions(text)
		})
	}
}

// A closer that was text beside a highlight does not come into it: accepted there, it would end the highlight.
func TestACloserIsWrittenOutsideOfAHighlight(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"- a ==} {==b==}\n", "* a ==} b\n"},
		{"a\n\n ==} {==b==}\n", "a\n  ==} c b\n"},
	} {
		edits, err := diffwrap.Put(c.raw, c.want)
		if err != nil {
			t.Fatal(err)
		}
		stored := diffwrap.Apply(c.raw, edits)
		accepted := diffwrap.Apply(stored, diffwrap.Known{}.Accept(stored, diffwrap.Suggestions(stored)...))
		if got := diffwrap.Accepted(accepted); got != c.want {
			t.Errorf("%q: of %q an acceptance makes %q, which shows %q, want %q", c.raw, stored, accepted, got, c.want)
		}
	}
}
