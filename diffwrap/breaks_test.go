package diffwrap

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestKeepBreaks(t *testing.T) {
	for _, tt := range []struct{ name, written, shown, original, want string }{
		{"nothing to keep", "a\r\nb\n", "a", "", "a\r\nb\n"},
		{"LF in a note of CR LF", "a\nc\n", "a\r\nb\r\n", "", "a\r\nc\r\n"},
		{"CR LF in a note of LF", "a\r\nc\r\n", "a\nb\n", "", "a\nc\n"},
		{"both kinds written", "a\nc\r\n", "a\r\nb\n", "", "a\nc\r\n"},
		{"a carriage return before a break", "a\r\r\n", "a\n", "", "a\r\r\n"},
		{"a word of a mixed note", "a\nb c\nd\n", "a\r\nb\nd\r\n", "", "a\r\nb c\nd\r\n"},
		{"the same in CR LF", "a\r\nb c\r\nd\r\n", "a\r\nb\nd\r\n", "", "a\r\nb c\nd\r\n"},
		{"a new line is as the one above", "a\nx\nb\nc\n", "a\nb\r\nc\n", "", "a\nx\nb\r\nc\n"},
		{"a new first line behind front matter is as the next one", "---\nk: a\nl: b\n---\nx\ny\n", "---\nk: a\n---\ny\r\n", "", "---\nk: a\nl: b\n---\nx\r\ny\r\n"},
		{"a new last line is as the one before", "a\nb\nc\n", "a\nb\r\n", "", "a\nb\r\nc\r\n"},
		{"a line in the place of another", "a\nX\nc\n", "a\nb\r\nc\n", "", "a\nX\r\nc\n"},
		{"no break is shown", "a\nb\n", "", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"the original has the break otherwise", "a\nb\nc\n", "a\r\nb\r\n", "a\nb\n", "a\nb\nc\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := KeepBreaks(tt.written, tt.shown, tt.original); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// In a note of both kinds of line breaks a program that knows one kind changes no line but the one that it writes.
func TestMixedBreaksStay(t *testing.T) {
	letters := newAlphabet(t, "prose")
	marked := func(raw string) (lines int) {
		for line := range strings.Lines(raw) {
			if strings.Contains(line, "{++") || strings.Contains(line, "++}") || strings.Contains(line, "--}") {
				lines++
			}
		}
		return lines
	}
	randomtest.Check(t, rounds/5, func(t testing.TB, r *rand.Rand) {
		g := letters.generator(r)
		raw := g.head()
		for _, line := range strings.Split(g.excerpt(), "\n") {
			raw += strings.TrimSuffix(line, "\r") + []string{"\n", "\r\n"}[g.IntN(2)]
		}
		written := strings.ReplaceAll(raw, "\r\n", "\n")
		body, _ := FrontMatter(written)
		at := body
		for range g.IntN(1 + strings.Count(written[body:], "\n")) {
			at += strings.IndexByte(written[at:], '\n') + 1
		}
		written = written[:at] + "word " + written[at:]
		if g.IntN(2) == 0 {
			written = strings.ReplaceAll(written, "\n", "\r\n")
		}
		got, known, err := Options{}.apply(raw, written)
		if err != nil {
			t.Fatal(err)
		}
		if shown, old := known.Accepted(got), known.Original(got); strings.Replace(shown, "word ", "", 1) != raw || old != raw || marked(got) > 2 {
			t.Fatalf("raw %q\nwritten %q\nstored %q", raw, written, got)
		}
	})
}
