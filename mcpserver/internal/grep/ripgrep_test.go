package grep_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// corpus writes generated notes to dir and returns their names, sorted, with
// their texts.
func corpus(t testing.TB, rnd *rand.Rand, dir string) (names []string, texts map[string]string) {
	t.Helper()
	words := strings.Fields("the a note [[Link]] **bold** TODO todo FIXME #tag über Straße naïve 你好 émigré foo foobar bar baz x1 42 2024-01-02 (see) - [ ] > `code` $5 snake_case it's end.")
	texts = map[string]string{"b1.md": "", "b2.md": "\n", "b3.md": "no newline", "b4.md": "\ufefffoo bom\nbar\n", "b5.md": "crlf foo\r\nbar\r\n\r\nfoo\r\n"}
	for i := range 20 {
		var b strings.Builder
		for range rnd.IntN(40) {
			for range rnd.IntN(9) {
				b.WriteString(words[rnd.IntN(len(words))] + " "[:rnd.IntN(2)])
			}
			b.WriteByte('\n')
		}
		texts[fmt.Sprintf("n%02d.md", i)] = b.String()
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names, texts
}

// piece makes a random part of a pattern.
func piece(rnd *rand.Rand, depth int) string {
	atoms := []string{
		"foo", "bar", "o", "TODO", "todo", "über", "ß", "你", `\[\[`, `\w`, `\d`, `\s`, `\W`, `\D`, `\S`, ".", "[a-f]", "[^a-z ]", "[äöü]", `\b`, "^", "$",
		`\d{4}-\d{2}`, "a*", "[[:upper:]]", `\p{Lu}`, `\p{Han}`, "é", " ", "x?", `\(`, "end", "(?:the|note)", "e+", ".*", ".+?",
	}
	if depth == 0 || rnd.IntN(3) > 0 {
		return atoms[rnd.IntN(len(atoms))]
	}
	switch rnd.IntN(5) {
	case 0:
		return "(" + piece(rnd, depth-1) + "|" + piece(rnd, depth-1) + ")"
	case 1:
		return "(?:" + piece(rnd, depth-1) + ")" + []string{"*", "+", "?", "{1,2}", "+?"}[rnd.IntN(5)]
	case 2:
		return "(?i:" + piece(rnd, depth-1) + ")"
	default:
		return piece(rnd, depth-1) + piece(rnd, depth-1)
	}
}

// crlfNote is the note with CRLF line breaks.
const crlfNote = "b5.md"

// call is one generated search.
type call struct {
	pattern string
	o       grep.Options
	f       grep.Format
	mode    int // 0 content, 1 count, 2 files
}

func randomCall(rnd *rand.Rand) call {
	c := call{mode: rnd.IntN(4) % 3}
	for range 1 + rnd.IntN(3) {
		c.pattern += piece(rnd, 2)
	}
	c.o.IgnoreCase = rnd.IntN(3) == 0
	c.o.Multiline = rnd.IntN(3) == 0
	if c.o.Multiline && rnd.IntN(2) == 0 {
		c.pattern += `\n` + piece(rnd, 1)
	}
	c.f.LineNumbers = rnd.IntN(4) > 0
	c.f.OnlyMatching = rnd.IntN(4) == 0
	c.avoidDifferences()
	if rnd.IntN(2) == 0 {
		c.f.Before, c.f.After = rnd.IntN(4), rnd.IntN(4)
	}
	return c
}

// avoidDifferences takes out of c what ripgrep 13 does by accident.
func (c *call) avoidDifferences() {
	if c.o.Multiline {
		// After a match the rest of the text is searched as if it were a new one,
		// with a '^' and a \b at its beginning.
		c.pattern = strings.TrimLeft(c.pattern, "^")
	}
	// In a note with CRLF, '$' takes the CR with it, and a \b behind it sees that.
	if c.o.Multiline || c.f.OnlyMatching || strings.Contains(c.pattern, "$") {
		// A \b stops the search for further matches in a line.
		c.pattern = strings.ReplaceAll(c.pattern, `\b`, "")
	}
	// "$^" and "\b^" are not found where they should be.
	c.pattern = innerCaret.ReplaceAllString(c.pattern, "${1}a?")
	if c.f.OnlyMatching || c.o.Multiline && c.mode == 1 {
		c.pattern += "o" // empty matches are counted by bytes, not by characters
	}
}

// innerCaret are the carets that do not begin the pattern.
var innerCaret = regexp.MustCompile(`([^\[])\^+`)

func (c call) args() []string {
	args := []string{"--no-config", "--crlf", "--hidden", "--no-follow", "--sort=path", "--with-filename", "--no-heading", "--color=never"}
	for flag, on := range map[string]bool{
		"-i": c.o.IgnoreCase, "-o": c.f.OnlyMatching, "-c": c.mode == 1, "-l": c.mode == 2,
		"-n": c.f.LineNumbers, "-N": !c.f.LineNumbers,
	} {
		if on {
			args = append(args, flag)
		}
	}
	if c.o.Multiline {
		// A line feed in a pattern matches CRLF here, as read shows it; in ripgrep it does not.
		args = append(args, "-U", "--multiline-dotall", "--glob=!"+crlfNote)
	}
	args = append(args, fmt.Sprintf("-A%d", c.f.After), fmt.Sprintf("-B%d", c.f.Before))
	pattern := c.pattern
	if c.o.Multiline {
		// ripgrep 13 looks for a literal inside of the pattern first, and then for a match only in
		// the lines around it, so that it misses where a longer one begins. A pattern that also
		// matches a character that no note has leaves it no literal.
		pattern = "(?:" + pattern + ")|[\\x{E000}-\\x{F8FF}]"
	}
	return append(args, "-e", pattern, "--", ".")
}

func (c call) run(t testing.TB, names []string, texts map[string]string) string {
	t.Helper()
	p, err := grep.Compile(c.pattern, c.o)
	if err != nil {
		t.Fatalf("Compile(%q): %v", c.pattern, err)
	}
	var out []string
	for _, name := range names {
		text := texts[name]
		if c.o.Multiline && name == crlfNote {
			continue
		}
		switch c.mode {
		case 0:
			lines := printed(p, "./"+name, text, c.f)
			if len(out) > 0 && len(lines) > 0 && c.f.Before+c.f.After > 0 {
				out = append(out, grep.Separator)
			}
			out = append(out, lines...)
		case 1:
			if n := p.Count(text, c.f.OnlyMatching); n > 0 {
				out = append(out, fmt.Sprintf("./%s:%d", name, n))
			}
		case 2:
			if p.Matches(text) {
				out = append(out, "./"+name)
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

// For generated patterns, options and notes the result is ripgrep's with --crlf, byte for byte but for the carriage returns.
func TestEqualsRipgrep(t *testing.T) {
	need.Programs(t, "rg")
	calls, matched := 0, 0
	randomtest.Check(t, 11, func(t testing.TB, rnd *rand.Rand) {
		dir := t.TempDir()
		names, texts := corpus(t, rnd, dir)
		slices.Sort(names)
		for range 20 {
			c := randomCall(rnd)
			cmd := exec.Command("rg", c.args()...)
			cmd.Dir = dir
			want, err := cmd.Output()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() > 1 {
				t.Fatalf("rg %q: %v\n%s", c.args(), err, exit.Stderr)
			}
			calls++
			if len(want) > 0 {
				matched++
			}
			if got, want := c.run(t, names, texts), strings.ReplaceAll(string(want), "\r\n", "\n"); got != want {
				t.Fatalf("%+v\n%s", c, firstDifference(got, want))
			}
		}
	})
	if calls > 200 && matched < calls/3 {
		t.Errorf("only %d of %d calls matched anything", matched, calls)
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d of %d (want %d):\n got %q\nwant %q", i+1, len(g), len(w), a, b)
		}
	}
	return ""
}
