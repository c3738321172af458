package bases_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/bridge/bases"
	"github.com/relayfs/relayfs/bridge/frontmatter"
)

var now = time.Date(2026, 1, 20, 15, 4, 5, 0, time.Local)

func file() *bases.File {
	p, err := frontmatter.ParseYAML("status: open\nPriority: 3\nprice: 2.5\ndue: 2026-01-31\nempty:\nlist: [a, b]\nother: '[[Pond|the pond]]'\nmap: {sub: 1}\nwith-dash: yes it has\nwhen: 2026-01-20T10:00\ndone: false\n")
	if err != nil {
		panic(err)
	}
	return &bases.File{
		Path: "Projects/Open Day.md", Size: 120, Modified: now.Add(-48 * time.Hour), Tags: []string{"work/urgent", "Home"}, Properties: p, Now: now,
		Links:     func() []string { return []string{"Projects/Pond.md", "image.png"} },
		Backlinks: func() []string { return []string{"Index.md"} },
	}
}

func TestExpressions(t *testing.T) {
	for expr, want := range map[string]bool{
		`status == "open"`: true, `status != 'done'`: true, `Status == "open"`: true, `status == "Open"`: false, `missing != "done"`: true, `missing == null`: true, `missing`: false, `!missing`: true,
		`priority > 2`: true, `priority >= 3 && price < 3`: true, `priority < 3 || price == 2.5`: true, `!(priority == 3)`: false, `priority + 1 == 4`: true, `-priority == 0 - 3`: true, `1 + 2 * 3 == 7`: true, `7 % 4 == 3`: true, `1 / 0 == null`: true,
		`missing > 2`: false, `missing < 2`: false, `status > 2`: false, `status < "p"`: true,
		`due < date("2026-02-01")`: true, `due > today()`: true, `due - "2w" < today()`: true, `due <= now() + "11d"`: true, `due == date("2026-01-31")`: true, `date("2026-01-31") != due`: false, `due.month == 1`: true, `due.year == 2026 && due.day == 31`: true,
		`file.mtime > now() - "3 days"`: true, `file.mtime > now() - "1d 23h"`: false, `now() - file.mtime == 172800000`: true, `date("2026-12-01") + "1M" + "4h" + "3m" == date("2027-01-01 04:03")`: true, `when.hour == 10`: true, `due.format("YYYY/[Q]Q") == "2026/Q1"`: true, `due.date() == due`: true,
		`status.contains("pe")`: true, `status.containsAny("x", "op")`: true, `status.containsAll("x", "op")`: false, `list.contains("a")`: true, `list.contains("A")`: false, `list.containsAll("a", "b")`: true, `list.length == 2`: true, `list[1] == "b"`: true, `list[2] == null`: true, `list == ["a", "b"]`: true, `missing.contains("x")`: false,
		`status.startsWith("op") && status.endsWith("en")`: true, `status.lower().length == 4`: true, `empty.isEmpty() && missing.isEmpty()`: true, `status.isEmpty()`: false, `done.isEmpty()`: false, `price.round() == 3`: true, `price.toFixed(2) == "2.50"`: true, `list.join("-") == "a-b"`: true,
		`file.name == "Open Day.md"`: true, `file.basename == "Open Day"`: true, `file.folder == "Projects"`: true, `file.ext == "md"`: true, `file.path.startsWith("Projects/")`: true, `file.size > 100`: true,
		`file.hasTag("work")`: true, `file.hasTag("x", "home")`: true, `file.hasTag("wor")`: false, `file.tags.contains("#work/urgent")`: true, `file.tags.contains("home")`: true, `file.tags.contains("work")`: false, `file.tags.length == 2`: true,
		`file.inFolder("Projects")`: true, `file.inFolder("Proj")`: false, `file.inFolder("/")`: true, `file.hasLink("Pond")`: true, `file.hasLink("[[Projects/Pond]]")`: true, `file.hasLink("Other/Pond")`: false, `file.hasLink(link("pond"))`: true, `file.links.contains(link("image.png"))`: true, `file.backlinks.contains("Index")`: true, `file.hasProperty("due")`: true, `file.hasProperty("nope")`: false,
		`other == link("Pond")`: true, `link("Projects/Pond") == other`: true, `other == link("Sea")`: false, `note["with-dash"].contains("has")`: true, `note.status == "open"`: true, `map.sub == 1`: true, `map["sub"] == 1`: true, `if(priority > 2, "high", "low") == "high"`: true, `if(missing, 1) == null`: true,
		`number("3") == priority`: true, `list("x").contains("x")`: true, `max(1, priority, 2) == 3 && min(1, 2) == 1`: true, `"a" + 1 == "a1"`: true, `"it\"s" == 'it"s'`: true, `true && !false`: true,
	} {
		e, err := bases.Parse(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := e.True(file()); got != want {
			t.Errorf("%s: got %v, want %v", expr, got, want)
		}
	}
}

// What is not supported, or no expression, is refused in words that quote it.
func TestErrors(t *testing.T) {
	for expr, want := range map[string]string{
		``:                             "it is empty",
		`status ==`:                    "something is missing at the end",
		`status = "x"`:                 `column 8: "=" is no part`,
		`(a`:                           `")" is missing`,
		`"a`:                           "the text has no end",
		`a b`:                          `"b" is not expected`,
		`a.map(value)`:                 "the function .map() is not supported; those that are: abs,",
		`html("x")`:                    "the function html() is not supported; those that are: date,",
		`file.ctime > now()`:           "file.ctime is not supported; those that are: backlinks,",
		`file.asLink()`:                "file.asLink() is not supported; those that are: hasLink,",
		`this.file.name`:               "`this` is not supported",
		`due-date < now()`:             `write note["..."]`,
		`name.contains(/x/)`:           "regular expressions are not supported",
		`a.contains()`:                 "contains() does not take 0 arguments",
		`now(1)`:                       "now() does not take 1 arguments",
		strings.Repeat("(", 200):       "nested more than 100 deep",
		strings.Repeat("!", 200):       "nested more than 100 deep",
		strings.Repeat("x", 20_000):    "longer than 10000 bytes",
		"a" + strings.Repeat("[0", 99): `"]" is missing`,
	} {
		_, err := bases.Parse(expr)
		var of *bases.Error
		if !errors.As(err, &of) || !strings.Contains(err.Error(), want) || expr != "" && !strings.Contains(err.Error(), expr[:1]) {
			t.Errorf("%.50s: got %v, want %q", expr, err, want)
		}
	}
}

const base = `filters:
  or:
    - file.hasTag("book")
    - and: ['status == "open"', {not: [file.inFolder("Archive"), 'done']}]
formulas:
  ppu: (price / age).round(2)
  label: 'if(formula.ppu > 5, "dear", "cheap")'
properties:
  status: {displayName: Status}
views:
  - type: table
    name: All
    order: [file.name, note.status, formula.ppu, formula.label]
    sort: [{property: formula.ppu, direction: DESC}, {property: file.name, direction: ASC}]
    limit: 3
  - type: cards
    name: Cheap
    filters: 'formula.ppu <= 5'
    groupBy: {property: status, direction: ASC}
`

func TestBase(t *testing.T) {
	var files []*bases.File
	for i, props := range []string{
		"status: open\nprice: 10\nage: 1", "status: open\nprice: 10\nage: 4", "status: done\nprice: 1\nage: 1", "status: open", "status: shut\nprice: 9\nage: 3", "status: open\ndone: true",
	} {
		p, err := frontmatter.ParseYAML(props)
		if err != nil {
			t.Fatal(err)
		}
		f := &bases.File{Path: fmt.Sprintf("Note %d.md", i), Properties: p, Now: now}
		if i == 4 {
			f.Tags, f.Path = []string{"book"}, "Archive/Note 4.md"
		}
		files = append(files, f)
	}
	b, err := bases.ParseBase(base)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`Note 0.md {"file.name":"Note 0.md","note.status":"open","formula.ppu":10,"formula.label":"dear"}` + "\n" +
			`Archive/Note 4.md {"file.name":"Note 4.md","note.status":"shut","formula.ppu":3,"formula.label":"cheap"}` + "\n" +
			`Note 1.md {"file.name":"Note 1.md","note.status":"open","formula.ppu":2.5,"formula.label":"cheap"}` + "\n",
		`Note 1.md {"file.name":"Note 1.md"}` + "\n" + `Archive/Note 4.md {"file.name":"Note 4.md"}` + "\n",
	} {
		got := ""
		for _, r := range b.Rows(b.Views[i], files) {
			values, err := json.Marshal(r.Values)
			if err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprintf("%s %s\n", r.File.Path, values)
		}
		if got != want {
			t.Errorf("view %s: got\n%swant\n%s", b.Views[i].Name, got, want)
		}
	}
}

func TestBaseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"filters: [a]":                                       "put it below and, or, or not",
		"filters: {xor: [a]}":                                `filters has {"xor":["a"]}; give one of and, or, not`,
		"filters: {and: [a], or: [b]}":                       "give one of and, or, not",
		"filters: 'a.map(x)'":                                "the expression `a.map(x)`, column 3",
		"formulas: {a: 'formula.b', b: formula.a}":           "formula a: the expression `formula.b`: it needs its own value",
		"formulas: {a: 'formula.c'}":                         "there is no formula \"c\"",
		"formulas: {a: ')'}":                                 "formula a: the expression `)`, column 1",
		"views: [{order: [formula.x]}]":                      "view 1: the expression `formula.x`: there is no formula \"x\"",
		"views: [{filters: {and: [{not: ['file.ctime']}]}}]": "view 1: the expression `file.ctime`",
		"views: x":             "views is not a list",
		"views: [x]":           "view 1: it is not a mapping",
		"views: [":             "line 1, column",
		"views: [{sort: [x]}]": "view 1: sort: a property to show or to sort by has no name",
	} {
		b, err := bases.ParseBase(text)
		if err == nil {
			err = b.Views[0].Err
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// Formulas that name each other twice take no more time and space than they have text.
func TestDoublingFormulas(t *testing.T) {
	for _, form := range []string{"formula.f%d + formula.f%d", "[formula.f%d, formula.f%d]", "list(formula.f%d).join(formula.f%d)"} {
		text := "formulas:\n  f0: '\"x\"'\n"
		for i := range 90 {
			text += fmt.Sprintf("  f%d: '"+form+"'\n", i+1, i, i)
		}
		b, err := bases.ParseBase(text + "views: [{order: [formula.f90]}]\n")
		if err != nil {
			t.Fatal(err)
		}
		rows := b.Rows(b.Views[0], []*bases.File{file()})
		if raw, err := json.Marshal(rows[0].Values); err != nil || len(raw) > 2_000_000 {
			t.Errorf("%s: %d bytes, %v", form, len(raw), err)
		}
	}
}

// An expression and its negation divide the files, whatever they are; and the order of a question is total.
func TestLaws(t *testing.T) {
	values := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Int64Range(-3, 3), func(n int64) any { return n }), rapid.Map(rapid.SampledFrom([]string{"", "a", "B", "2026-01-31", "[[a]]", "3"}), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just[any]([]any{}), rapid.Just[any]([]any{"a", int64(1)}), rapid.Just[any](frontmatter.Properties{{Key: "a", Value: "b"}}),
	)
	atoms := []string{`a`, `b`, `1`, `"a"`, `date("2026-01-31")`, `a.length`, `file.size`, `link("a")`, `[a, b]`, `now()`, `b.lower()`}
	rapid.Check(t, func(t *rapid.T) {
		var files []*bases.File
		for i := range rapid.IntRange(1, 8).Draw(t, "files") {
			files = append(files, &bases.File{Path: fmt.Sprint(i, ".md"), Size: int64(i), Now: now, Properties: frontmatter.Properties{{Key: "a", Value: values.Draw(t, "a")}, {Key: "b", Value: values.Draw(t, "b")}}})
		}
		atom := rapid.SampledFrom(atoms)
		expr := atom.Draw(t, "left") + rapid.SampledFrom([]string{" == ", " != ", " < ", " <= ", " > ", " + ", " - ", " && ", " || "}).Draw(t, "operator") + atom.Draw(t, "right")
		count := func(where string) []string {
			b, err := bases.Ask([]string{where}, nil, []string{"a", "-b"})
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, r := range b.Rows(b.Views[0], files) {
				paths = append(paths, r.File.Path)
			}
			return paths
		}
		yes, not, sorted := count(expr), count("!("+expr+")"), count("true")
		if len(yes)+len(not) != len(files) {
			t.Errorf("%s: %v and not %v of %d files", expr, yes, not, len(files))
		}
		slices.Reverse(files)
		again := count("true")
		slices.Reverse(files)
		key := func(path string) string {
			i := slices.IndexFunc(files, func(f *bases.File) bool { return f.Path == path })
			return fmt.Sprint(files[i].Properties)
		}
		for i := range sorted {
			x, y := key(sorted[i]), key(again[i])
			if x != y && !strings.EqualFold(x, y) && !sameRank(files, sorted[i], again[i]) {
				t.Errorf("sorted %v, and from the other end %v: %s, %s", sorted, again, x, y)
			}
		}
	})
}

// sameRank reports whether two files differ only in what is empty, which has no order.
func sameRank(files []*bases.File, x, y string) bool {
	plain := func(path string) string {
		i := slices.IndexFunc(files, func(f *bases.File) bool { return f.Path == path })
		s := strings.ToLower(fmt.Sprint(files[i].Properties))
		return strings.NewReplacer("<nil>", "", "[]", "").Replace(s)
	}
	return plain(x) == plain(y)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`status != "done"`, `a.b(c)[1] && !d`, `file.hasTag("x")`, `date("2026") + '1d'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if e, err := bases.Parse(s); err == nil {
			e.True(file())
		} else if err.Error() == "" {
			t.Error("an empty error")
		}
	})
}
