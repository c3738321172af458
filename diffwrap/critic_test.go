package diffwrap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

const criticDir = "../tests/critic"

// otherReading is what parse.mjs says of one text: kind, start and end of each mark, in UTF-16 units.
type otherReading struct {
	Regex, Lezer [][3]any
}

// TestOtherParsers reads random results with critic-markup and lang-criticmarkup. They must find the suggestions that we
// find, wherever they found the same in the text before and the written text has no delimiters of its own.
//
// For lang-criticmarkup, which looks for openers inside of runs too, there are two more exceptions. A run that ends in "{"
// reads "{++}" at its end, and is moved or widened (brace.go) until it ends in something else. Where no text follows that it
// could take in, at the end of the note or before a comment, there is no other form: however the run is cut, its last piece
// has that brace in front of the closer. And it finds openers in the metadata of a highlight, which are text to us; the marks in
// the highlight, which the metadata precedes, may close them. Such results are counted, and are few.
func TestOtherParsers(t *testing.T) {
	requireNode(t)
	// One round: a process of Node costs more than many texts.
	randomtest.Check(t, 1, func(t testing.TB, r *rand.Rand) { readByOthers(t, rand.New(rand.NewPCG(r.Uint64(), 1))) })
}

func readByOthers(t testing.TB, r *rand.Rand) {
	var all []exchange
	all = append(all, exchanges(t, "prose", 5100, r)...)
	all = append(all, exchanges(t, "braces", 2400, r)...)
	all = append(all, exchanges(t, "hostile", 1200, r)...)
	var texts []string
	for _, x := range all {
		texts = append(texts, x.raw, x.got)
	}
	readings := readWithNode(t, texts)
	checked, strayOpeners := make(map[string]int), 0
	for k, x := range all {
		before, after := readings[2*k], readings[2*k+1]
		for _, p := range []struct {
			name          string
			before, after [][3]any
		}{{"critic-markup", before.Regex, after.Regex}, {"lang-criticmarkup", before.Lezer, after.Lezer}} {
			if differs(x.raw, x.known, p.before) != "" || hasDelimiter(x.want, x.got) {
				continue
			}
			if p.name == "lang-criticmarkup" && hasStrayOpener(x.got, x.Known) {
				strayOpeners++
				continue
			}
			checked[p.name]++
			if d := differs(x.got, x.Known, p.after); d != "" {
				t.Errorf("%s reads the result otherwise: %s\nraw    %q\nwant   %q\nstored %q", p.name, d, x.raw, x.want, x.got)
			}
		}
	}
	t.Logf("of %d results: %v compared, %d with a stray opener", len(all), checked, strayOpeners)
	if strayOpeners > len(all)/20 { // one in 40 on average
		t.Errorf("%d of %d results have a stray opener", strayOpeners, len(all))
	}
	for name, n := range checked {
		if n < 6000 {
			t.Errorf("%s: only %d of %d results could be compared, want 6000", name, n, len(all))
		}
	}
}

// requireNode skips without Node or the packages.
func requireNode(t *testing.T) {
	t.Helper()
	need.Programs(t, "node")
	if _, err := os.Stat(filepath.Join(criticDir, "node_modules")); err != nil {
		need.Missing(t, "needs `npm ci` in tests/critic: %v", err)
	}
}

// exchanges makes n random Puts and returns those that were not refused.
func exchanges(t testing.TB, alphabet string, n int, r *rand.Rand) []exchange {
	var out []exchange
	letters := newAlphabet(t, alphabet)
	g := letters.generator(r)
	for range n {
		x := exchange{raw: g.raw()}
		x.known = knownIn(x.raw)
		x.want = g.edit(x.known.Accepted(x.raw))
		var err error
		x.Result, err = Options{Known: x.known}.Put(x.raw, x.want)
		if err != nil {
			if !errors.As(err, new(*RefusedError)) {
				t.Fatal(err)
			}
			continue
		}
		x.got = Apply(x.raw, x.Edits)
		out = append(out, x)
	}
	return out
}

// readWithNode reads all texts in one Node process.
func readWithNode(t testing.TB, texts []string) []otherReading {
	t.Helper()
	var in, out bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, s := range texts {
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "parse.mjs")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = criticDir, &in, &out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	readings := make([]otherReading, 0, len(texts))
	lines := bufio.NewReader(&out)
	for range texts {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var r otherReading
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		readings = append(readings, r)
	}
	return readings
}

// differs compares the suggestions that another parser found in raw with ours; "" when they are the same.
func differs(raw string, known Known, marks [][3]any) string {
	var theirs, ours []string
	for _, m := range marks {
		if m[0] == "addition" || m[0] == "deletion" || m[0] == "substitution" {
			theirs = append(theirs, fmt.Sprintf("%s %v-%v", m[0], m[1], m[2]))
		}
	}
	names := map[critic.Kind]string{critic.Addition: "addition", critic.Deletion: "deletion", critic.Substitution: "substitution"}
	doc := known.parse(raw)
	for i := range doc.Cells {
		if c := &doc.Cells[i]; c.IsSuggestion() {
			ours = append(ours, fmt.Sprintf("%s %d-%d", names[c.Kind], utf16Len(raw[:c.Start]), utf16Len(raw[:c.Body.End+critic.DelimiterLen])))
		}
	}
	if slices.Equal(theirs, ours) {
		return ""
	}
	return fmt.Sprintf("theirs %v, ours %v", theirs, ours)
}

func utf16Len(s string) int { return len(utf16.Encode([]rune(s))) }

// hasDelimiter reports whether a written text has a delimiter outside of the comments that are comments in the result.
func hasDelimiter(want, got string) bool {
	for _, c := range slices.Backward(critic.CommentsIn(want)) {
		if !strings.Contains(got, c.Of(want)) {
			return true
		}
		want = want[:c.Start] + strings.Repeat(" ", c.Len()) + want[c.End:]
	}
	_, n := critic.FirstDelimiter(want)
	return n > 0
}

// hasStrayOpener reports whether a suggestion that no text follows ends in an opening brace, or the metadata of a highlight
// has an opener.
func hasStrayOpener(raw string, known Known) bool {
	doc := known.parse(raw)
	for i := range doc.Cells {
		c := &doc.Cells[i]
		body := c.Body.Of(raw)
		if c.Kind == critic.HighlightOpen && critic.FirstOpener(c.Of(raw)[critic.DelimiterLen:]) >= 0 {
			return true
		}
		if c.IsSuggestion() && (critic.EndsOpen(body, '+') || critic.EndsOpen(body, '-')) && !textFollows(doc, i) {
			return true
		}
	}
	return false
}
