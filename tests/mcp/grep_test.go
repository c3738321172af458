package mcp

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// grepCall is a call of grep and the command line of ripgrep for the same.
type grepCall struct {
	args []any
	rg   []string
}

// generateCalls makes calls that find something in files, most of them.
func generateCalls(rnd *rand.Rand, files map[string]string, n int) []grepCall {
	sets := make(map[string][]string) // names of their files; a call opens each file of its set
	for _, name := range sortedKeys(files) {
		set, _, _ := strings.Cut(name, "/")
		sets[set] = append(sets[set], name)
	}
	calls := make([]grepCall, n)
	for i := range calls {
		names := sets[oneOf(rnd, sortedKeys(sets))]
		name := oneOf(rnd, names)
		calls[i] = generateCall(rnd, name, pattern(rnd, oneOf(rnd, strings.Split(files[name], "\n"))))
	}
	return calls
}

func oneOf[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var words = regexp.MustCompile(`[\p{L}\p{N}_]+`)

// pattern is made of what stands in line.
func pattern(rnd *rand.Rand, line string) string {
	found := append(words.FindAllString(line, -1), "the")
	word, other := found[rnd.IntN(len(found))], found[rnd.IntN(len(found))]
	quoted := regexp.QuoteMeta(strings.TrimSpace(line))
	if r := []rune(strings.TrimSpace(line)); len(r) > 30 {
		quoted = regexp.QuoteMeta(string(r[10:30]))
	}
	all := []string{
		word, quoted, `\b` + word + `\b`, word + "|" + other, "(?:" + word + "|" + other + ")[a-z]*",
		"^" + word, word + "$", "^#+ .*" + word, word + `.*` + other, word[:1] + `\w+`, `[A-Z]\w*` + regexp.QuoteMeta(word[len(word)-1:]),
		`\d+\.\d+`, `^\s*[-*] ` + word, `\[[^\]]*` + word + `[^\]]*\]`, "`" + word, `[^\x00-\x7f]+`, `\p{Han}+`, `(?i)` + strings.ToUpper(word),
		`\p{Lu}\p{Ll}+ ` + word, "[" + regexp.QuoteMeta(word) + "]{3,}", `^$`, `\|.*` + word + `.*\|`, word + `{1,2}`,
	}
	p := all[rnd.IntN(len(all))]
	if !utf8.ValidString(p) {
		return word
	}
	return p
}

func generateCall(rnd *rand.Rand, name, pattern string) grepCall {
	c := grepCall{args: []any{"pattern", pattern, "head_limit", 300}}
	add := func(arg string, value any, flags ...string) {
		c.args = append(c.args, arg, value)
		c.rg = append(c.rg, flags...)
	}
	if rnd.IntN(3) == 0 {
		add("-i", true, "-i")
	}
	multiline := rnd.IntN(6) == 0
	if multiline {
		add("multiline", true, "-U", "--multiline-dotall")
	}
	switch rnd.IntN(4) {
	case 0:
		add("output_mode", "files_with_matches", "-l")
	case 1:
		add("output_mode", "count", "-c")
	default:
		add("output_mode", "content")
		contentFlags(rnd, pattern == "^$" || pattern == "", multiline, add)
	}
	switch rnd.IntN(6) {
	case 0:
		add("glob", "*[a-m]*.md", "--glob", "*[a-m]*.md")
	case 1:
		add("glob", "!README.md", "--glob", "!README.md")
	case 2:
		add("glob", "{docs,rules,src}*", "--glob", "{docs,rules,src}*")
	case 3:
		add("type", "md", "--type", "md")
	}
	set, _, _ := strings.Cut(name, "/")
	path := oneOf(rnd, []string{"Docs/" + set, "Docs/" + name})
	if rnd.IntN(60) == 0 {
		path = "Docs"
	}
	add("path", path, "-e", pattern, "--", path)
	return c
}

// contentFlags adds flags for lines. It leaves out those with which ripgrep 13 prints something for an empty match that it does not
// count: -o, and in multiline mode the context before the end of the text.
func contentFlags(rnd *rand.Rand, empty, multiline bool, add func(string, any, ...string)) {
	if rnd.IntN(3) == 0 {
		add("-n", false, "--no-line-number")
	} else {
		add("-n", true, "--line-number")
	}
	n := 1 + rnd.IntN(3)
	switch k := rnd.IntN(6); {
	case k == 0:
		add("-A", n, "-A", strconv.Itoa(n))
	case k == 1 && !(empty && multiline):
		add("-B", n, "-B", strconv.Itoa(n))
	case k == 2 && !(empty && multiline):
		add("-C", n, "-C", strconv.Itoa(n))
	case k == 3 && !empty:
		add("-o", true, "-o")
	}
}

// suggest changes some of the notes on a mount, and returns their texts with the lines that it has added. Each of these
// notes has pending additions and deletions, so its file in the vault has other lines than the mount shows.
func suggest(t *testing.T, rnd *rand.Rand, m *harness.Mount, files map[string]string) map[string]string {
	t.Helper()
	all, changed := maps.Clone(files), 0
	for i, name := range sortedKeys(files) {
		lines := strings.Split(files[name], "\n")
		if i%20 != 0 || len(lines) < 40 {
			continue
		}
		at := len(lines)/2 + rnd.IntN(len(lines)/4)
		added := []string{"", fmt.Sprintf("The suggestion %d.%d that is pending, лодка 灯台.", i, at), ""}
		view := slices.Concat(lines[:at], added, lines[at+2:])
		harness.WriteFile(t, m.Path(name), strings.Join(view, "\n"))
		if got := harness.ReadFile(t, m.Path(name)); got != strings.Join(view, "\n") {
			t.Fatalf("the mount does not show the change of %s", name)
		}
		if raw := harness.ReadFile(t, m.VaultPath(name)); !strings.Contains(raw, "{++") || !strings.Contains(raw, "{--") {
			continue
		}
		all[name] = strings.Join(append(lines, added...), "\n")
		changed++
	}
	t.Logf("%d notes have pending suggestions", changed)
	if changed < 30 {
		t.Fatal("these are too few")
	}
	return all
}

// Searching published documentation over MCP finds what ripgrep finds on the mount, also in notes with pending suggestions.
func TestMCPGrepEqualsRipgrepOnDocs(t *testing.T) {
	t.Parallel()
	need.Programs(t, "rg")
	s := harness.NewSandbox(t)
	files := harness.DocsSets(t, s)
	if len(files) < 2000 {
		t.Fatalf("%d documents, want 2,000", len(files))
	}
	for _, name := range sortedKeys(files)[2000:] { // ripgrep opens each of them in many calls
		delete(files, name)
	}
	rnd := randomtest.New(t)
	m := s.Mount(t, s.Vault(t, "Docs", files))
	files = suggest(t, rnd, m, files)
	client := s.MCP(t, m.Vault)
	found, differ := 0, 0
	n := 100
	if randomtest.Soaks() {
		n = 2000
	}
	calls := generateCalls(rnd, files, n)
	wants := ripgreps(t, m.Dir, calls)
	for i, c := range calls {
		got, want := client.MustCall(t, "grep", c.args...), wants[i]
		if want != "" {
			found++
		}
		if diff := compareOutput(got, want); diff != "" {
			if differ++; differ <= 10 {
				t.Errorf("%v\nrg %q\n%s", c.args, c.rg, diff)
			}
		}
	}
	t.Logf("%d documents, %d calls, %d with matches, %d differ", len(files), len(calls), found, differ)
	if found < n/2 {
		t.Errorf("only %d of %d calls find anything", found, n)
	}
}

// ripgreps returns the output of ripgrep for each call. Each run uses one processor, because it sorts.
func ripgreps(t *testing.T, dir string, calls []grepCall) []string {
	t.Helper()
	out := make([]string, len(calls))
	var runs errgroup.Group
	runs.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range calls {
		runs.Go(func() (err error) {
			if out[i], err = ripgrep(t, dir, c.rg); err != nil {
				err = fmt.Errorf("rg %q: %w", c.rg, err)
			}
			return err
		})
	}
	if err := runs.Wait(); err != nil {
		t.Fatal(err)
	}
	return out
}

func ripgrep(t *testing.T, dir string, flags []string) (string, error) {
	t.Helper()
	args := append([]string{"rg", "--no-config", "--crlf", "--hidden", "--no-heading", "--with-filename", "--color", "never", "--sort", "path"}, flags...)
	out := harness.OutputIn(t, dir, args)
	if out.Code > 1 {
		return "", errors.New(out.Stderr)
	}
	return out.Stdout, nil
}

var moreFollows = regexp.MustCompile(`\n\n\[Showing entries [0-9]+-[0-9]+; there are more\. [^\]]*\]$`)

// compareOutput says where a result of grep, of which the end may be missing if
// it says so, differs from ripgrep's output; carriage returns, which read hides
// too, left aside.
func compareOutput(got, want string) string {
	got, want = strings.ReplaceAll(got+"\n", "\r\n", "\n"), strings.ReplaceAll(want, "\r\n", "\n")
	got, want = strings.TrimSuffix(got, "\n"), strings.TrimSuffix(want, "\n")
	if want == "" {
		want = "No matches found"
	}
	gotLines, wantLines := strings.Split(moreFollows.ReplaceAllString(got, ""), "\n"), strings.Split(want, "\n")
	if moreFollows.MatchString(got) && len(gotLines) < len(wantLines) {
		wantLines = wantLines[:len(gotLines)]
	}
	for i := range max(len(gotLines), len(wantLines)) {
		g, w := harness.LineAt(gotLines, i), harness.LineAt(wantLines, i)
		if g != w {
			return fmt.Sprintf("line %d of %d: got %s, want %s (of %d)", i+1, len(gotLines), g, w, len(wantLines))
		}
	}
	return ""
}
