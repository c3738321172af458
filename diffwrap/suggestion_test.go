package diffwrap_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
)

var july = time.Date(2026, 7, 13, 7, 1, 55, 0, time.UTC)

func TestSuggestions(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []diffwrap.Suggestion
	}{
		{"none", "plain { text }\n", nil},
		{"addition", "a\nb {++c++}", []diffwrap.Suggestion{{Kind: diffwrap.Addition, Start: 4, End: 11, Line: 2, New: "c", Gap: 4}}},
		{"deletion", "{--c--}", []diffwrap.Suggestion{{Kind: diffwrap.Deletion, End: 7, Line: 1, Old: "c"}}},
		{"replacement", "{--c--}{++d++}", []diffwrap.Suggestion{{Kind: diffwrap.Replacement, End: 14, Line: 1, Old: "c", New: "d"}}},
		{"substitution", "{~~c~>d~~}", []diffwrap.Suggestion{{Kind: diffwrap.Replacement, End: 10, Line: 1, Old: "c", New: "d"}}},
		{"addition before deletion", "{++d++}{--c--}", []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 7, Line: 1, New: "d"},
			{Kind: diffwrap.Deletion, Start: 7, End: 14, Line: 1, Old: "c"}}},
		{"two blocks", "{++a++}{++\n\nb++}", []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 7, Line: 1, New: "a"},
			{Kind: diffwrap.Addition, Start: 7, End: 16, Line: 3, New: "\n\nb"}}},
		{"cut run", "{++a {-++}{++-x--} b++}", []diffwrap.Suggestion{{Kind: diffwrap.Addition, End: 23, Line: 1, New: "a {--x--} b"}}},
		{"whole line", "- a{++\n- b++}\n- c", []diffwrap.Suggestion{{Kind: diffwrap.Addition, Start: 3, End: 13, Line: 2, New: "\n- b", Gap: 3}}},
		{"in a highlight", "{==a {--b--}{++c++}==}", []diffwrap.Suggestion{{Kind: diffwrap.Replacement, Start: 5, End: 19, Line: 1, Old: "b", New: "c", Gap: 2}}},
		{"comments", "{--a--}{++b++}{>>why<<}{>>{\"done\":true}@@old<<}{>>and<<} {>>else<<}", []diffwrap.Suggestion{
			{Kind: diffwrap.Replacement, End: 14, Line: 1, Old: "a", New: "b", Comments: []string{"why", "and"}}}},
		{"commentator", `{++{"author":"Ada","time":1783926115}@@x++}`, []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 43, Line: 1, New: "x", Author: "Ada", Time: july}}},
		{"lens", `{--{"author":"Ada","timestamp":1783926115000}@@x--}`, []diffwrap.Suggestion{
			{Kind: diffwrap.Deletion, End: 51, Line: 1, Old: "x", Author: "Ada", Time: july}}},
		{"not metadata", "{++{x}@@y++}{++a@@b++}", []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 12, Line: 1, New: "{x}@@y"},
			{Kind: diffwrap.Addition, Start: 12, End: 22, Line: 1, New: "a@@b"}}},
		{"relay comments", `{--a--}{++b++}{{author="AI" date="2026-07-13T07:01:55.000Z">><<}}{{author="Ada">>why<<}}`, []diffwrap.Suggestion{
			{Kind: diffwrap.Replacement, End: 65, Line: 1, Old: "a", New: "b", Author: "AI", Time: july, Comments: []string{"why"}}}},
		{"two authors", `{++{"author":"Ada"}@@a++}{++b++}`, []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 25, Line: 1, New: "a", Author: "Ada"},
			{Kind: diffwrap.Addition, Start: 25, End: 32, Line: 1, New: "b"}}},
		{"an id behind a mark is text", "{++x++}{#s1}\n\n---\nsuggestions:\n  s1:\n    by: AI\n", []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 7, Line: 1, New: "x"}}},
		{"an id is text", "{++x++}{#s1}", []diffwrap.Suggestion{{Kind: diffwrap.Addition, End: 7, Line: 1, New: "x"}}},
		{"relay comments, ID of an author", `{++b++}{{authorId="u-1">><<}}`, []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 29, Line: 1, New: "b", Author: "u-1"}}},
		{"a gap", "{++a++} b{>>why<<} c {++d++}", []diffwrap.Suggestion{
			{Kind: diffwrap.Addition, End: 7, Line: 1, New: "a"},
			{Kind: diffwrap.Addition, Start: 21, End: 28, Line: 1, New: "d", Gap: 5}}},
		{"unclosed", "{++a {--b--} {== {~~c~~}", []diffwrap.Suggestion{{Kind: diffwrap.Deletion, Start: 5, End: 12, Line: 1, Old: "b", Gap: 5}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := diffwrap.Suggestions(tc.raw); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	raw := "{++a++}{>>attached<<}\n{==b {--c--}d==}{>>why<<} {>>{\"author\":\"Ada\"}@@alone<<}{>>thread<<} {>>{\"done\":true}@@gone<<}"
	got := (diffwrap.Known{}).Annotations(raw)
	want := []diffwrap.Suggestion{
		{Kind: diffwrap.Highlight, Start: 22, End: 38, Line: 2, New: "b d", Comments: []string{"why"}},
		{Kind: diffwrap.Comment, Start: 48, End: 77, Line: 2, New: "alone", Author: "Ada", Comments: []string{"thread"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecide(t *testing.T) {
	tests := []struct{ name, raw, accepted, rejected string }{
		{"addition", "a {++b ++}c", "a b c", "a c"},
		{"deletion", "a {--b --}c", "a c", "a b c"},
		{"replacement", "a {--b--}{++d++} c", "a d c", "a b c"},
		{"substitution", "a {~~b~>d~~} c", "a d c", "a b c"},
		{"comments", "a {--b--}{++d++}{>>x<<}{>>{\"done\":true}@@y<<} c{>>z<<}", "a d c{>>z<<}", "a b c{>>z<<}"},
		{"highlight", "{==a {++b++}==}{>>c<<}", "{==a b==}{>>c<<}", "{==a ==}{>>c<<}"},
		{"cut run", "x{++ {-++}{++-y--}++}", "x {--y--}", "x"},
		{"commentator", `a {++{"author":"A","time":1}@@b++}`, "a b", "a "},
		{"relay comments", `a {--b--}{++d++}{{author="AI">><<}}{{author="B">>why<<}} c`, "a d c", "a b c"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := diffwrap.Apply(tc.raw, (diffwrap.Known{}).Decide(tc.raw, true, nil, diffwrap.Suggestion{End: len(tc.raw)})); got != tc.accepted {
				t.Errorf("accepted %q, want %q", got, tc.accepted)
			}
			if got := diffwrap.Apply(tc.raw, (diffwrap.Known{}).Decide(tc.raw, false, nil, diffwrap.Suggestion{End: len(tc.raw)})); got != tc.rejected {
				t.Errorf("rejected %q, want %q", got, tc.rejected)
			}
		})
	}
}

// TestDecideOne accepts or rejects one of several suggestions; the others stay as they are.
func TestDecideOne(t *testing.T) {
	raw := "a {++b++} c {++d++}\n"
	all := diffwrap.Suggestions(raw)
	if len(all) != 2 {
		t.Fatalf("suggestions %+v", all)
	}
	got := diffwrap.Apply(raw, (diffwrap.Known{}).Accept(raw, all[1]))
	if want := "a {++b++} c d\n"; got != want {
		t.Errorf("second accepted: %q, want %q", got, want)
	}
	got = diffwrap.Apply(raw, (diffwrap.Known{}).Decide(raw, false, nil, all[0]))
	if want := "a  c {++d++}\n"; got != want {
		t.Errorf("first rejected: %q, want %q", got, want)
	}
	if edits := (diffwrap.Known{}).Accept("x"+raw, all[0]); edits != nil {
		t.Errorf("a suggestion that is not there: %v", edits)
	}
}

func TestViews(t *testing.T) {
	raw := "a {--b--}{++c++} {==d==}{>>e<<}{>>{\"done\":true}@@f<<} {~~g~>h~~}\n"
	for view, want := range map[diffwrap.View]string{
		diffwrap.AcceptedView: "a c d{>>e<<} h\n",
		diffwrap.OriginalView: "a b d g\n",
		diffwrap.RawView:      raw,
	} {
		if got := (diffwrap.Known{}).Render(raw, view); got != want {
			t.Errorf("%v: %q, want %q", view, got, want)
		}
		var b strings.Builder
		for _, s := range (diffwrap.Known{}).Segments(raw, view) {
			if s.ViewOff != b.Len() || s.Len == 0 {
				t.Errorf("%v: segment %+v at %d", view, s, b.Len())
			}
			b.WriteString(raw[s.RawOff : s.RawOff+s.Len])
		}
		if b.String() != want {
			t.Errorf("%v: segments make %q, want %q", view, b.String(), want)
		}
		if v, err := diffwrap.ParseView(view.String()); v != view || err != nil {
			t.Errorf("ParseView(%q) = %v, %v", view, v, err)
		}
	}
	if _, err := diffwrap.ParseView("other"); err == nil {
		t.Error("ParseView accepts any word")
	}
}

func TestFrontMatter(t *testing.T) {
	tests := []struct {
		text string
		end  int
		ok   bool
	}{
		{"---\na: 1\n---\ntext\n", 13, true},
		{"---\r\na: 1\r\n---\r\ntext", 16, true},
		{"---\n---\n", 8, true},
		{"---\na: 1\n---", 12, true},
		{"--- \na: 1\n---\t\n", 15, true},
		{"---\na: 1\n", 0, false},
		{"---", 0, false},
		{"----\na\n----\n", 0, false},
		{"\n---\na: 1\n---\n", 0, false},
		{"", 0, false},
	}
	for _, tc := range tests {
		if end, ok := diffwrap.FrontMatter(tc.text); end != tc.end || ok != tc.ok {
			t.Errorf("FrontMatter(%q) = %d, %v, want %d, %v", tc.text, end, ok, tc.end, tc.ok)
		}
	}
}

func TestFrontMatterChange(t *testing.T) {
	raw := "---\nstatus: draft\n---\n# {++New ++}title\n"
	r, err := diffwrap.Options{}.Put(raw, "---\nstatus: done\n---\n# New title\n")
	if err != nil {
		t.Fatal(err)
	}
	want := &diffwrap.FrontMatterChange{Before: "---\nstatus: draft\n---\n", After: "---\nstatus: done\n---\n"}
	if !reflect.DeepEqual(r.FrontMatter, want) {
		t.Errorf("front matter %+v, want %+v", r.FrontMatter, want)
	}
	if got := diffwrap.Apply(raw, r.Edits); got != want.After+"# {++New ++}title\n" {
		t.Errorf("stored %q", got)
	}
	refusal := new(diffwrap.RefusedError)
	for want, text := range map[string]string{
		`property "status" twice`:          "---\nstatus: done\nstatus: draft\n---\n# New title\n",
		"not a mapping of names to values": "---\n- done\n---\n# New title\n",
	} {
		if _, err := (diffwrap.Options{}).Put(raw, text); !errors.As(err, &refusal) || !strings.Contains(err.Error(), want) {
			t.Errorf("Put of %q: %v; want a refusal with %q", text, err, want)
		}
	}
	r, err = diffwrap.Options{}.Put(raw, "# New title\n")
	if err != nil || r.FrontMatter.After != "" || diffwrap.Apply(raw, r.Edits) != "# {++New ++}title\n" {
		t.Errorf("front matter removed: %+v, %v", r, err)
	}
}
