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
		{"Plan", "", `there are 2 sections "Plan"`},
		{"# Log", "", `there is no section "# Log"`},
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

// Every heading has an address that finds it, whatever headings there are beside it.
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
}
