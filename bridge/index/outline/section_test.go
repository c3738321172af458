package outline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestTasks(t *testing.T) {
	o := outline.Of("---\na: 1\n---\n- [ ] one #x\n  - [x] two\n    more\n* [/] three\n1. [ ] four\n- [] no\n- [ ]no\n```\n- [ ] code\n```\n> - [X] five\n\n- [ ]\n[ ] no\n")
	if !o.TaskHas(o.Tasks[0], "x") || o.TaskHas(o.Tasks[1], "x") {
		t.Errorf("tags %v", o.Tasks)
	}
	tagged := outline.Of("---\ntags: [p/q]\n---\n- [ ] one\n\n#y\n")
	if !tagged.TaskHas(tagged.Tasks[0], "p") || tagged.TaskHas(tagged.Tasks[0], "y") {
		t.Error("a task has the tags of its note's properties, and no others")
	}
	got := fmt.Sprintf("%+v", o.Tasks)
	want := "[{Line:4 Done:false Box:  Text:one #x Tags:[x]} {Line:5 Done:true Box:x Text:two Tags:[]} {Line:7 Done:true Box:/ Text:three Tags:[]} {Line:8 Done:false Box:  Text:four Tags:[]} {Line:14 Done:true Box:X Text:five Tags:[]} {Line:16 Done:false Box:  Text: Tags:[]}]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

const sections = "---\nt: 1\n---\n# Top\n\nIntro. ^intro\n\n## Plan\n\n- one\n- two ^two\n  - nested\n- three\n\n| a |\n|---|\n| b |\n\n^table\n\n## Log\nold\n\n# End\n## Plan\nx\n"

// A line that only continues a paragraph is no underline, and an item ends where its text does, whatever indents it.
func TestItems(t *testing.T) {
	const note = "- [ ] one\n===\n- a\n\t- b ^b\n\t\t- c ^c\n\t- d\n\n> \t- [x] e ^e\n> \t\t- f\n===\n"
	o := outline.Of(note)
	if len(o.Headings) > 0 || len(o.Tasks) != 2 {
		t.Errorf("headings %v, tasks %v", o.Headings, o.Tasks)
	}
	for id, want := range map[string]string{"^b": "\t- b ^b\n\t\t- c ^c\n", "^c": "\t\t- c ^c\n", "^e": "> \t- [x] e ^e\n> \t\t- f\n===\n"} {
		if s, err := outline.SectionOf(note, id); err != nil || note[s.From:s.To] != want {
			t.Errorf("%s: got %q, %v", id, note[s.From:s.To], err)
		}
	}
}

// Sections never fail, whatever the text, and lines are appended inside or at the end of them.
func TestSectionsOfAnyText(t *testing.T) {
	randomtest.Check(t, 2000, func(t testing.TB, r *rand.Rand) {
		note := strings.Join(randomtest.Some(r, 0, 12, "a", "- ", "* b", "1. ", "> ", "[^1]: n", "    ", "\t", "# T", "===", "---", "```", "$$", "| a |", "|---|", " ^id", "^id", "\n", "\n", "\n\n"), "")
		s, err := outline.SectionOf(note, "^id")
		if err != nil {
			return
		}
		if off, _ := outline.Append(note, &s, "- x"); s.From > off || off > s.To || s.To > len(note) {
			t.Fatalf("%q: appended at %d to %+v", note, off, s)
		}
	})
}

func TestSectionOf(t *testing.T) {
	for _, tt := range []struct{ name, want, err string }{
		{"# Top", sections[strings.Index(sections, "# Top"):strings.Index(sections, "# End")], ""},
		{"log", "## Log\nold\n\n", ""},
		{"End", "# End\n## Plan\nx\n", ""},
		{"^intro", "Intro. ^intro\n", ""},
		{"^two", "- two ^two\n  - nested\n", ""},
		{"^table", "| a |\n|---|\n| b |\n\n^table\n", ""},
		{"## Plan (line 8)", sections[strings.Index(sections, "## Plan"):strings.Index(sections, "## Log")], ""},
		{"plan (line 25)", "## Plan\nx\n", ""},
		{"# Plan (line 25)", "", `there is no section "# Plan (line 25)"`},
		{"Plan (line 9)", "", `there is no section "Plan (line 9)"`},
		{"Plan (line 0)", "", `there is no section "Plan (line 0)"`},
		{"Plan (line 99999999999999999999)", "", `there is no section "Plan (line 99999999999999999999)"`},
		{"Plan", "", `there are 2 sections named "Plan"`},
		{"# Log", "", `there is no section "# Log"`},
		{"Top::Plan", sections[strings.Index(sections, "## Plan"):strings.Index(sections, "## Log")], ""},
		{"# Top :: ## Log", "## Log\nold\n\n", ""},
		{"End::plan", "## Plan\nx\n", ""},
		{"End::Plan (line 25)", "## Plan\nx\n", ""},
		{"End::Log", "", `there is no section "End::Log"`},
		{"Plan::Top", "", `there is no section "Plan::Top"`},
		{"::Log", "", `there is no section "::Log"`},
		{"^none", "", `there is no section "^none"`},
		{"", "", `there is no section ""`},
	} {
		s, err := outline.SectionOf(sections, tt.name)
		if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%q: error %v, want %q", tt.name, err, tt.err)
			continue
		}
		if err != nil {
			var e *outline.SectionError
			if !errors.As(err, &e) || len(e.Have) != 5 {
				t.Errorf("%q: %+v does not have the headings", tt.name, e)
			}
			continue
		}
		lines := strings.SplitAfter(sections, "\n")
		if got := sections[s.From:s.To]; got != tt.want || got != strings.Join(lines[s.Line-1:s.Last], "") {
			t.Errorf("%q: %q, lines %d to %d; want %q", tt.name, got, s.Line, s.Last, tt.want)
		}
	}
}

const (
	board = "---\nkanban-plugin: board\n---\n\n## Now\n\n- [ ] a\n\n\n## Later\n\n\n\n## Done\n\n**Complete**\n- [x] c\n\n\n***\n\n## Archive\n\n- [x] e\n\n%% kanban:settings\n```\n{\"kanban-plugin\":\"board\"}\n```\n%%"

	drawing = "---\nexcalidraw-plugin: parsed\n---\n# Back\none\n\n# Excalidraw Data\n\n## Text Elements\nHello ^abc123\n\n%%\n## Drawing\n```compressed-json\nN4KA\n```\n%%"
)

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ name, note, section, content, want string }{
		{"empty note", "", "", "x", "x\n"},
		{"only front matter", "---\na: 1\n---\n", "", "x\n", "---\na: 1\n---\nx\n"},
		{"paragraph", "one\n", "", "two", "one\n\ntwo\n"},
		{"no last break", "one", "", "two\n", "one\n\ntwo\n"},
		{"blank lines at the end stay", "one\n\n\n", "", "two", "one\n\ntwo\n\n\n"},
		{"list goes on", "- one\n  more\n", "", "- two", "- one\n  more\n- two\n"},
		{"its bullet", "* one\n", "", "- two\n- [ ] three", "* one\n* two\n* [ ] three\n"},
		{"loose list", "- one\n\n- two\n", "", "- three", "- one\n\n- two\n\n- three\n"},
		{"list after text", "one\n", "", "- two", "one\n\n- two\n"},
		{"text after list", "- one\n", "", "two", "- one\n\ntwo\n"},
		{"table", "|a|\n|-|\n|b|\n", "", "|c|", "|a|\n|-|\n|b|\n|c|\n"},
		{"section", "# A\n\none\n\n# B\n\ntwo\n", "A", "x", "# A\n\none\n\nx\n\n# B\n\ntwo\n"},
		{"last section", "# A\n\none\n\n# B\n\ntwo\n", "# B", "x", "# A\n\none\n\n# B\n\ntwo\n\nx\n"},
		{"empty section", "# A\n\none\n\n# B\n", "B", "x", "# A\n\none\n\n# B\n\nx\n"},
		{"empty section of tight headings", "# A\none\n# B\n", "B", "- x", "# A\none\n# B\n- x\n"},
		{"empty section before another", "# A\none\n# B\n# C\n", "B", "x", "# A\none\n# B\nx\n# C\n"},
		{"block", "- one ^id\n- two\n", "^id", "- x", "- one ^id\n- x\n- two\n"},
		{"CR LF", "# A\r\n\r\none\r\n", "A", "x\ny", "# A\r\n\r\none\r\n\r\nx\r\ny\r\n"},
		{"list with an id", "- a\n- b\n\n^id\n\nEnd.\n", "^id", "- c\n- d", "- a\n- b\n- c\n- d\n\n^id\n\nEnd.\n"},
		{"list with an id, CR LF", "* a\r\n\r\n^id\r\n", "^id", "- c", "* a\r\n* c\r\n\r\n^id\r\n"},
		{"text after a list with an id", "- a\n\n^id\n\nEnd.\n", "^id", "text", "- a\n\n^id\n\ntext\n\nEnd.\n"},
		{"table with an id", "| a |\n|---|\n| b |\n\n^id\n", "^id", "| c |", "| a |\n|---|\n| b |\n| c |\n\n^id\n"},
		{"quote with an id", "> a\n\n^id\n", "^id", "b\n\nc", "> a\n>\n> b\n>\n> c\n\n^id\n"},
		{"marked text in a quote", "> a\n\n^id\n", "^id", "> b", "> a\n>\n> b\n\n^id\n"},
		{"list in a callout with an id", "> [!note] T\n> - a\n\n^id\n", "^id", "- b", "> [!note] T\n> - a\n> - b\n\n^id\n"},
		{"section that ends in an id", "# A\n- a\n\n^id\n\n# B\n", "A", "- b", "# A\n- a\n\n^id\n\n- b\n\n# B\n"},
		{"comment at the end", "one\n\n%%\nmine\n%%\n", "", "two", "one\n\ntwo\n\n%%\nmine\n%%\n"},
		{"two comments at the end", "# A\none\n\n%%\nmine\n%%\n\n%% more\nlines %%\n", "A", "two", "# A\none\n\ntwo\n\n%%\nmine\n%%\n\n%% more\nlines %%\n"},
		{"comment without an end", "one\n\n%%\nmine\n", "", "two", "one\n\ntwo\n\n%%\nmine\n"},
		{"only a comment", "%%\nmine\n%%\n", "", "two", "two\n\n%%\nmine\n%%\n"},
		{"comment of one line", "one\n\n%% mine %%\n", "", "two", "one\n\n%% mine %%\n\ntwo\n"},
		{"comment before text", "%%\nmine\n%%\none\n", "", "two", "%%\nmine\n%%\none\n\ntwo\n"},
		{"percent signs in text and code", "100%%\n\n```mermaid\n%% x\n```\n", "", "two", "100%%\n\n```mermaid\n%% x\n```\n\ntwo\n"},
		{"card", board, "## Now", "- [ ] b", strings.Replace(board, "- [ ] a\n", "- [ ] a\n- [ ] b\n", 1)},
		{"text becomes a card", board, "Now", "b\nmore", strings.Replace(board, "- [ ] a\n", "- [ ] a\n- [ ] b\n\tmore\n", 1)},
		{"card in an empty lane", board, "Later", "b", strings.Replace(board, "## Later\n", "## Later\n\n- [ ] b\n", 1)},
		{"card in the last lane", board, "Done", "- [x] d", strings.Replace(board, "- [x] c\n", "- [x] c\n- [x] d\n", 1)},
		{"card in the archive", board, "Archive", "- [x] f", strings.Replace(board, "- [x] e\n", "- [x] e\n- [x] f\n", 1)},
		{"drawing", drawing, "", "two", strings.Replace(drawing, "one\n", "one\n\ntwo\n", 1)},
		{"drawing without text", strings.Replace(drawing, "# Back\none\n\n", "", 1), "", "two", strings.Replace(drawing, "# Back\none\n", "two\n", 1)},
		{"section of a drawing", drawing, "Back", "two", strings.Replace(drawing, "one\n", "one\n\ntwo\n", 1)},
		{"byte order mark", "\ufeff", "", "x", "\ufeffx\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var at *outline.Section
			if tt.section != "" {
				s, err := outline.SectionOf(tt.note, tt.section)
				if err != nil {
					t.Fatal(err)
				}
				at = &s
			}
			off, insert := outline.Append(tt.note, at, tt.content)
			if got := tt.note[:off] + insert + tt.note[off:]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A heading that is missing is made at the end of the note or of the section above it. Only headings are.
func TestAppendNew(t *testing.T) {
	const note = "# Top\n\n## Project\n\none\n\n## Log\n\n# End\n"
	for _, tt := range []struct{ note, name, content, want, made string }{
		{note, "New", "x", note + "\n## New\n\nx\n", "## New"},
		{note, "#### New", "- x", note + "\n#### New\n\n- x\n", "#### New"},
		{note, "Project::Tasks", "- [ ] x", strings.Replace(note, "one\n", "one\n\n### Tasks\n\n- [ ] x\n", 1), "### Tasks"},
		{"", "New", "x", "## New\n\nx\n", "## New"},
		{"# A\none\n", "New", "x", "# A\none\n\n## New\nx\n", "## New"},
		{"one\n\n%%\n# New\n%%\n", "# New", "x", "one\n\n# New\n\nx\n\n%%\n# New\n%%\n", "# New"},
		{board, "New", "b", strings.Replace(board, "- [x] c\n", "- [x] c\n\n## New\n\n- [ ] b\n", 1), "## New"},
		{note, "Nothing::Tasks", "x", "", ""},
		{note, "^new", "x", "", ""},
		{note, "New (line 3)", "x", "", ""},
		{note, "####### New", "x", "", ""},
		{note, "##", "x", "", ""},
	} {
		off, insert, made, ok := outline.AppendNew(tt.note, tt.name, tt.content)
		got := ""
		if ok {
			got = tt.note[:off] + insert + tt.note[off:]
		}
		if got != tt.want || made != tt.made {
			t.Errorf("%q: got %q and heading %q, want %q and %q", tt.name, got, made, tt.want, tt.made)
		}
	}
}

// Headings in comments of several lines are none; in every other place they are.
func TestCommentedHeadings(t *testing.T) {
	const note = "---\nx: '%%'\n---\n# A\n\n%%\n## B\n%%\n\n`%%`\n## C\n\n%% one %%\n## D\n\n```\n%%\n```\n## E\n\ntext %%\n## F\n\n    %%\n\n## G\n\n- ```\n  %%\n  ```\n\n## H\n\n%%\n## I\n"
	var got []string
	for _, h := range outline.Of(note).Headings {
		got = append(got, h.Text)
	}
	if want := "A C D E F G H"; strings.Join(got, " ") != want {
		t.Errorf("headings %q, want %s", got, want)
	}
}

// Every heading has an address that finds it, whatever headings there are next to it.
func TestAddresses(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		lines := randomtest.Some(r, 1, 12, "# A", "## A", "# B (line 3)", "B", "===", "", "## A (line 1)", "> # A", "- x", "###")
		note := strings.Join(lines, "\n")
		for _, h := range outline.Of(note).Headings {
			if h.Line == 0 {
				continue
			}
			if s, err := outline.SectionOf(note, h.Address()); err != nil || s.Line != h.Line {
				t.Fatalf("%q of %q: got line %d and %v, want line %d", h.Address(), note, s.Line, err, h.Line)
			}
		}
	})
}

func TestSectionsAreLinear(t *testing.T) {
	need.LinearInParts(t, 60_000, "# A\n", "\n^id\n", func(note string) {
		for _, name := range []string{"A", "^id"} {
			if s, err := outline.SectionOf(note, name); err == nil {
				outline.Append(note, &s, "- x")
			}
		}
		outline.Append(note, nil, "- x")
	})
	need.LinearInParts(t, 20_000, "%%\n", "a\n%%\n", func(note string) { outline.Append(note, nil, "- x") })
}

func TestBlockIDs(t *testing.T) {
	const note = "---\na: x ^no\n---\nText ^a\nmore ^b\n\n- one ^c\n- two\n\n^d\n\n# Heading ^e\n\n```\ncode ^no\n```\n\n^f\n" +
		"\nText\n| a | b |\n|:--|--:|\n| c | d |\n^no\n\n- a | b\n  -|-\n  c | d ^no\n\na | b\n-|-\n^no\n\n| a |\n|---|---|\n^g\n\n| a |\n|---|\n\n^h\n"
	got := fmt.Sprint(outline.BlockIDs(note))
	if want := "[{b 5} {c 7} {d 10} {e 12} {f 18} {g 36} {h 41}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s, err := outline.SectionOf(note, "^no"); err == nil {
		t.Errorf("^no is %q, want none", note[s.From:s.To])
	}
}
