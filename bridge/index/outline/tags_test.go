package outline_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// Each place has its tag, and all tags of the text have one, in every kind of block and after every indentation.
func TestTagPlaces(t *testing.T) {
	const note = "---\ntags: [x]\n---\n# A #one\n\n- #two\n\t- \t#three and #four\n> #five\n>   #six\n\n    #code\n\n`#span` #seven [[#link]]\n\n%%\n#eight\n%%\n| #nine |\n"
	var got []string
	for _, p := range outline.TagPlaces(note) {
		got = append(got, p.Tag)
		if !strings.HasPrefix(note[p.From:], "#"+p.Tag) {
			t.Errorf("%q is not at %d", p.Tag, p.From)
		}
	}
	if want := "one two three four five six seven eight nine"; strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
	randomtest.Check(t, 2000, func(t testing.TB, r *rand.Rand) {
		note := strings.Join(randomtest.Some(r, 0, 16, "#a", "#b/c", " ", "\t", "\n", "- ", "> ", "1. ", "x", "`", "\n\n", "é", "[[", "]]", "    "), "")
		for _, p := range outline.TagPlaces(note) {
			if !strings.HasPrefix(note[p.From:], "#"+p.Tag) {
				t.Fatalf("%q: %q is not at %d", note, p.Tag, p.From)
			}
		}
	})
}

func TestRetagProperties(t *testing.T) {
	rename := func(tag string) (string, bool) { return outline.Renamed(tag, "work", "job") }
	drop := func(tag string) (string, bool) { return "", outline.SameTag(tag, "work") }
	for _, tt := range []struct {
		text, want string
		fn         func(string) (string, bool)
		changed    int
	}{
		{"tags: [Work, work/urgent, homework]", "tags: [job, job/urgent, homework]", rename, 2},
		{"tags: [work, job]", "tags: [job]", rename, 1},
		{"tag: work", "tag: job", rename, 1},
		{"tags: work, b", "tags:\n  - job\n  - b", rename, 1},
		{"tags: [work, b]", "tags: [b]", drop, 1},
		{"tags: [work]", "tags: []", drop, 1},
		{"tags: [1984, b]\nother: work", "tags: [1984, b]\nother: work", rename, 0},
	} {
		text := "---\n" + tt.text + "\n---\n"
		have, err := frontmatter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		now, changed := outline.RetagProperties(have, tt.fn)
		got, err := frontmatter.Rewrite(text, now)
		if want := "---\n" + tt.want + "\n---\n"; err != nil || got != want || changed != tt.changed {
			t.Errorf("%q: %q, %d changed, %v; want %q", tt.text, got, changed, err, want)
		}
	}
}

func TestCheckTag(t *testing.T) {
	for tag, want := range map[string]bool{"work": true, "#work/urgent": true, "y1984": true, "1984": false, "": false, "#": false, "a b": false, "a#b": false, "a/": false, "é": true} {
		if _, ok := outline.CheckTag(tag); ok != want {
			t.Errorf("%q: %v", tag, ok)
		}
	}
}
