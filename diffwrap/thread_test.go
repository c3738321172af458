package diffwrap_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
	"github.com/rivo/uniseg"
)

func TestThreads(t *testing.T) {
	const raw = "# T\n\nOne {--a--}{++b++}{>>shorter<<}{>>so?<<} two.\n\nThe {==pond==}{>>{\"author\":\"ann\"}@@which?<<} is deep{>>is it<<}.\n"
	type thread struct{ about, texts string }
	var got []thread
	for _, th := range diffwrap.Threads(raw) {
		var texts []string
		for _, c := range th.Comments {
			texts = append(texts, c.Author+":"+c.New)
		}
		if from, to := th.Comments[0].Start, th.Comments[len(th.Comments)-1].End; from != th.Start || to != th.End {
			t.Errorf("thread at %d to %d, its comments at %d to %d", th.Start, th.End, from, to)
		}
		got = append(got, thread{th.About, strings.Join(texts, "|")})
	}
	want := []thread{{"One b", ":shorter|:so?"}, {"pond", "ann:which?"}, {"The pond is deep", ":is it"}}
	if len(got) != len(want) {
		t.Fatalf("threads %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("thread %d is %q, want %q", i, got[i], want[i])
		}
	}
}

// A comment that fits leaves both views as they are, and is read back with its author in every dialect that
// writes one.
func TestCommentsThatFitAreReadBack(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		raw := strings.Join(randomtest.Some(r, 0, 20, "a", " b", "\n", "{++c++}", "{--d--}", "{>>e<<}", "{==f==}", "{~~g~>h~~}", "{", "+", "}", "~>", "é🦊", "e\u0301", "👨\u200d👩\u200d👧", "\r\n", "[[B]]", "`c`", "```", "[l](u v)"), "")
		at := randomtest.Between(r, 0, len(raw))
		dialect := randomtest.Pick(r, diffwrap.Plain, diffwrap.Commentator, diffwrap.RelayComments)
		text := randomtest.Pick(r, "why?", "{++x++}", "a <<} b", "été", "{>>")
		comment := diffwrap.WriteComment(dialect, "ann", text, time.Unix(1_700_000_000, 0))
		if !(diffwrap.Known{}).CommentFits(raw, at, comment) {
			return
		}
		if n := uniseg.GraphemeClusterCount; n(raw[:at])+n(raw[at:]) != n(raw) {
			t.Fatalf("the comment at %d cuts a character of %q in two", at, raw)
		}
		after := raw[:at] + comment + raw[at:]
		known := diffwrap.KnownAt([]int{at})
		o, a := (diffwrap.Known{}).Texts(raw)
		if gotO, gotA := known.Texts(after); gotO != o || gotA != a {
			t.Fatalf("views %q, %q; want %q, %q", gotO, gotA, o, a)
		}
		for _, th := range known.Threads(after) {
			for _, c := range th.Comments {
				if c.Start != at {
					continue
				}
				if author := map[bool]string{true: "", false: "ann"}[dialect == diffwrap.Plain]; c.New != text || c.Author != author {
					t.Fatalf("read back as %q by %q, want %q by %q", c.New, c.Author, text, author)
				}
				return
			}
		}
		t.Fatalf("no thread of %q has the comment at %d", after, at)
	})
}
