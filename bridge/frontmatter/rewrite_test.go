package frontmatter_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// list and mapping make values short to write.
func list(items ...any) []any { return items }

func mapping(pairs ...any) frontmatter.Properties {
	p := frontmatter.Properties{}
	for i := 0; i < len(pairs); i += 2 {
		p = p.With(pairs[i].(string), pairs[i+1])
	}
	return p
}

func TestRewrite(t *testing.T) {
	set := func(key string, v any) func(frontmatter.Properties) frontmatter.Properties {
		return func(p frontmatter.Properties) frontmatter.Properties { return p.With(key, v) }
	}
	remove := func(key string) func(frontmatter.Properties) frontmatter.Properties {
		return func(p frontmatter.Properties) frontmatter.Properties { return p.Without(key) }
	}
	all := func(want frontmatter.Properties) func(frontmatter.Properties) frontmatter.Properties {
		return func(frontmatter.Properties) frontmatter.Properties { return want }
	}
	tests := []struct {
		name, text string
		edit       func(frontmatter.Properties) frontmatter.Properties
		want       string
	}{
		{"scalar", "---\na: 1 # one\nb: x\n---\nB\n", set("a", int64(2)), "---\na: 2 # one\nb: x\n---\nB\n"},
		{"same", "---\na:  'x'\n---\n", set("a", "x"), "---\na:  'x'\n---\n"},
		{"single quotes stay", "---\na: 'it''s' # c\n---\n", set("a", "it's new"), "---\na: 'it''s new' # c\n---\n"},
		{"double quotes stay", "---\na: \"x\"\n---\n", set("a", "y\"z"), "---\na: \"y\\\"z\"\n---\n"},
		{"string that reads as a number", "---\na: x\n---\n", set("a", "12"), "---\na: \"12\"\n---\n"},
		{"date stays plain", "---\na: 2024-01-01\n---\n", set("a", "2025-02-03"), "---\na: 2025-02-03\n---\n"},
		{"link is quoted", "---\na: x\n---\n", set("a", "[[Note]]"), "---\na: \"[[Note]]\"\n---\n"},
		{"colon is quoted", "---\na: x\n---\n", set("a", "b: c"), "---\na: \"b: c\"\n---\n"},
		{"null", "---\na: x # c\n---\n", set("a", nil), "---\na: # c\n---\n"},
		{"from null", "---\na: # c\nb:\n---\n", set("a", "v"), "---\na: v # c\nb:\n---\n"},
		{"quoted key", "---\n\"a b\": 1\n'c': 2\n---\n", set("a b", int64(3)), "---\n\"a b\": 3\n'c': 2\n---\n"},
		{"block list, add", "---\ntags:\n  - a # first\n  # about b\n  - b\nx: 1\n---\n", set("tags", list("a", "b", "c")), "---\ntags:\n  - a # first\n  # about b\n  - b\n  - c\nx: 1\n---\n"},
		{"block list, remove", "---\ntags:\n- a # first\n- b\n- c\n---\n", set("tags", list("a", "c")), "---\ntags:\n- a # first\n- c\n---\n"},
		{"block list, insert", "---\ntags:\n- a\n- c\n---\n", set("tags", list("z", "a", "b", "c")), "---\ntags:\n- z\n- a\n- b\n- c\n---\n"},
		{"block list, emptied", "---\ntags: # t\n  - a\n  - b\nx: 1\n---\n", set("tags", list()), "---\ntags: [] # t\nx: 1\n---\n"},
		{"flow list, add", "---\ntags: [a,b ,  'c'] # t\n---\n", set("tags", list("a", "b", "c", "d")), "---\ntags: [a,b ,  'c', d] # t\n---\n"},
		{"flow list, remove", "---\ntags: [a,b ,  'c'] # t\n---\n", set("tags", list("a", "c")), "---\ntags: [a,'c'] # t\n---\n"},
		{"flow list, ends", "---\ntags: [a, b, c]\n---\n", set("tags", list("b")), "---\ntags: [b]\n---\n"},
		{"flow list over lines", "---\ntags: [ a, # x\n  b ]\nx: 1\n---\n", set("tags", list("a", "b", "c")), "---\ntags: [ a, # x\n  b, c ]\nx: 1\n---\n"},
		{"scalar to list", "---\ntags: a # t\nx: 1\n---\n", set("tags", list("a", "b")), "---\ntags:  # t\n  - a\n  - b\nx: 1\n---\n"},
		{"scalar to list, no comment", "---\ntags: a\nx: 1\n---\n", set("tags", list("a", "b")), "---\ntags:\n  - a\n  - b\nx: 1\n---\n"},
		{"list to scalar", "---\ntags:\n  - a\n  - b\n# next\nx: 1\n---\n", set("tags", "z"), "---\ntags: z\n# next\nx: 1\n---\n"},
		{"nested mapping", "---\nm:\n  a: 1 # one\n  b: 2\nx: 1\n---\n", set("m", mapping("a", int64(1), "b", int64(3), "c", "d")), "---\nm:\n  a: 1 # one\n  b: 3\n  c: d\nx: 1\n---\n"},
		{"flow mapping", "---\nm: {a: 1, b: 2} # m\n---\n", set("m", mapping("a", int64(5), "c", "d")), "---\nm: {a: 5, c: d} # m\n---\n"},
		{"list of mappings", "---\nm:\n  - a: 1\n    b: 2\n  - a: 3\n---\n", set("m", list(mapping("a", int64(3)), mapping("a", int64(4), "b", list("x")))), "---\nm:\n  - a: 3\n  - a: 4\n    b:\n      - x\n---\n"},
		{"literal", "---\ntext: |\n  one\n\n  two\nx: 1\n---\n", set("text", "three\nfour\n"), "---\ntext: |\n  three\n  four\nx: 1\n---\n"},
		{"folded to scalar", "---\ntext: >-\n  one\n  two\n# c\nx: 1\n---\n", set("text", "three"), "---\ntext: three\n# c\nx: 1\n---\n"},
		{"plain over lines", "---\na: one\n  two # c\nx: 1\n---\n", set("a", "three"), "---\na: three # c\nx: 1\n---\n"},
		{"new key", "---\na: 1\n# last\n---\nB\n", set("b", list("x", int64(2))), "---\na: 1\n# last\nb:\n  - x\n  - 2\n---\nB\n"},
		{"new key, indented", "---\n  a: 1\n---\nB\n", set("b", true), "---\n  a: 1\n  b: true\n---\nB\n"},
		{"new key, flow", "---\n{a: 1}\n---\nB\n", set("b", "x, y"), "---\n{a: 1, b: \"x, y\"}\n---\nB\n"},
		{"empty front matter", "---\n---\nB\n", set("b", "x"), "---\nb: x\n---\nB\n"},
		{"only a comment", "---\n# c\n---\nB\n", set("b", "x"), "---\n# c\nb: x\n---\nB\n"},
		{"no front matter", "B\n", set("b", "x"), "---\nb: x\n---\nB\n"},
		{"no front matter, rule", "---\nB\n", set("b", "x"), "---\nb: x\n---\n---\nB\n"},
		{"nothing at all", "", set("b", "x"), "---\nb: x\n---\n"},
		{"byte order mark", "\ufeffB\n", set("b", "x"), "\ufeff---\nb: x\n---\nB\n"},
		{"CRLF", "---\r\na: 1\r\n---\r\nB\r\n", set("b", list("x")), "---\r\na: 1\r\nb:\r\n  - x\r\n---\r\nB\r\n"},
		{"CRLF, change", "---\r\na: 1 # c\r\nb: 2\r\n---\r\n", set("a", "z"), "---\r\na: z # c\r\nb: 2\r\n---\r\n"},
		{"remove", "---\na: 1\n# about b\nb:\n  - x\n\n# about c\nc: 3\n---\n", remove("b"), "---\na: 1\n# about b\n\n# about c\nc: 3\n---\n"},
		{"remove after a text block", "---\na: |+\n  x\nb: 1\n\nc: 3\n---\n", remove("b"), "---\na: |+\n  x\nc: 3\n---\n"},
		{"remove the last", "---\na: 1\n---\nB\n", remove("a"), "B\n"},
		{"alias", "---\na: &x 1\nb: *x\n---\n", set("b", int64(2)), "---\na: &x 1\nb: 2\n---\n"},
		{"explicit key", "---\n? a\n: 1\nb: 2\n---\n", set("a", int64(7)), "---\n? a\n: 7\nb: 2\n---\n"},
		{"whole", "---\na: 1 # c\nb: 2\n---\n", all(mapping("c", "x", "a", int64(1))), "---\na: 1 # c\nc: x\n---\n"},
		{"line separator in a scalar", "---\na: \"x\u2028y\"\nb: 2\n---\n", set("b", int64(3)), "---\na: \"x\u2028y\"\nb: 3\n---\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := frontmatter.Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := frontmatter.Rewrite(tt.text, tt.edit(p))
			if err != nil || got != tt.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
}

func TestRewriteRefuses(t *testing.T) {
	anchored := "---\na: &x 1\nb: *x\n---\n"
	p, err := frontmatter.Parse(anchored)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := frontmatter.Rewrite(anchored, p.Without("a")); !errors.Is(err, frontmatter.ErrEntangled) || got != "" {
		t.Errorf("an anchor in use was removed: %q, %v", got, err)
	}
	for text, line := range map[string]int{
		"---\na: 1\nb: [\n---\n":   0,
		"---\na: 1\na: 2\n---\n":   3,
		"---\n- a\n---\n":          2,
		"---\njust text\n---\n":    2,
		"---\na: &x [*x]\n---\n":   0,
		"---\na: *unknown\n---\n":  0,
		"---\na: 1\n\tb: 2\n---\n": 0,
	} {
		got, err := frontmatter.Rewrite(text, mapping("b", "x"))
		var syntax *frontmatter.SyntaxError
		if !errors.As(err, &syntax) || got != "" || line > 0 && syntax.Line != line {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

// chunk is one entry of generated front matter: the comment lines that lead it in and the lines of the entry.
type chunk struct{ lead, key, body string }

func randomChunk(r *rand.Rand, key string) chunk {
	c := chunk{key: key}
	if r.IntN(4) == 0 {
		c.lead = "# about " + key + "\n"
	}
	if r.IntN(8) == 0 {
		c.lead = "\n" + c.lead
	}
	name := []string{key, key, key, `"` + key + `"`, "'" + key + "'"}[r.IntN(5)]
	c.body = name + ":" + randomValue(r)
	return c
}

func randomValue(r *rand.Rand) string {
	values := []string{
		" 1\n", " plain text\n", " 'it''s' # why\n", " \"q \\\" # no comment\" # c\n", "\n", " # nothing\n", " ~\n", " true\n", " 2024-05-06\n",
		" [a, 'b, c' ,d]\n", " [ ] # empty\n", " {x: 1, \"y\": [2]} # m\n", " [a,\n    b, # c\n  c]\n", " [[Note]]\n", " \"[[Note|N]]\"\n",
		"\n  - a\n  - b # c\n  # in between\n  - 'c'\n", "\n- a\n- b\n", "\n  -\n    a\n  - b\n", "\n  - x: 1\n    y: 2\n  - z\n", "\n  - - n\n    - m\n",
		"\n  x: 1\n  # inside\n  y:\n    - z\n", " |\n  literal # text\n\n  more\n", " >-\n  folded\n  text\n", " |+\n  keep\n\n",
		" plain over\n  two lines\n", " \"over\n  two\"\n", " http://example.com/a#b\n", " a:b\n", " 味噌汁 🍲\n", " !!str 12\n", " -1.5e3 # n\n", " 0x1F\n", " 'x'   \n",
	}
	return values[r.IntN(len(values))]
}

func randomWanted(r *rand.Rand) any {
	values := []any{
		nil, true, int64(7), 2.5, "text", "yes", "", " padded ", "a: b", "x # y", "two\nlines\n", "multi\nline", "[[Other]]", "2025-01-02", "-", "🍲: 味噌",
		list(), list("a"), list("a", "b", "c"), list("c", "b", "new"), list(int64(1), nil, "x, y"), list(list("n"), mapping("k", "v")),
		mapping(), mapping("x", int64(1)), mapping("x", int64(2), "new key", list("z")), mapping("deep", mapping("er", list(mapping("a", "b")))),
		"it's", `back\slash`, "tab\there", "\u2028", "null",
	}
	return values[r.IntN(len(values))]
}

// Random edits of random front matter: the bytes before and after the
// entry that is edited stay, and so do those of all others.
func TestRandomEditsKeepUntouchedBytes(t *testing.T) {
	randomtest.Check(t, 3000, func(t testing.TB, r *rand.Rand) {
		var chunks []chunk
		for k := range r.IntN(6) {
			chunks = append(chunks, randomChunk(r, fmt.Sprintf("key%d", k)))
		}
		crlf := r.IntN(5) == 0
		if err := editOnce(r, chunks, crlf); err != nil {
			t.Fatal(err)
		}
	})
}

// editOnce sets, removes or adds one property and compares bytes.
func editOnce(r *rand.Rand, chunks []chunk, crlf bool) error {
	ends := func(s string) string {
		if crlf {
			return strings.ReplaceAll(s, "\n", "\r\n")
		}
		return s
	}
	head, tail := ends("---\n"), ends("# the end\n---\nBody with --- and key0: x\n---\n")
	var yaml []string
	for _, c := range chunks {
		yaml = append(yaml, ends(c.lead+c.body))
	}
	text := head + strings.Join(yaml, "") + tail
	have, err := frontmatter.Parse(text)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	k := r.IntN(len(chunks) + 1)
	key, v := fmt.Sprintf("key%d", k), randomWanted(r)
	want := have.With(key, v)
	if k < len(chunks) && r.IntN(3) == 0 {
		want = have.Without(key)
	}
	got, err := frontmatter.Rewrite(text, want)
	if err != nil {
		return fmt.Errorf("%s to %#v: %w\n%s", key, v, err, text)
	}
	again, err := frontmatter.Parse(got)
	if err != nil || !frontmatter.Equal(again, want) {
		return fmt.Errorf("%s to %#v: got %v, %v\n%s\nfrom\n%s", key, v, again, err, got, text)
	}
	before, after := head, tail
	if k < len(chunks) {
		before += strings.Join(yaml[:k], "") + ends(chunks[k].lead)
		after = strings.Join(yaml[k+1:], "") + tail
	} else {
		before += strings.Join(yaml, "") + ends("# the end\n")
		after = strings.TrimPrefix(tail, ends("# the end\n"))
	}
	if !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
		return fmt.Errorf("%s to %#v changed other bytes: got\n%s\nfrom\n%s", key, v, got, text)
	}
	return nil
}

func FuzzRewrite(f *testing.F) {
	f.Add("---\na: [x, 'y'] # c\nb: |\n  t\n---\nB\n", "a", "v")
	f.Add("---\r\n? a\r\n: &q {b: *q}\r\n---\r\n", "b", "\u2028")
	f.Add("\ufeff---\n\"k\": >-\n  z\n---", "k", "- x")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		p, err := frontmatter.Parse(text)
		if err != nil {
			return
		}
		for _, want := range []frontmatter.Properties{p.With(key, value), p.Without(key), p.With(key, list(value, value))} {
			got, err := frontmatter.Rewrite(text, want)
			if err != nil {
				continue
			}
			again, err := frontmatter.Parse(got)
			if err != nil || len(want) > 0 && !frontmatter.Equal(again, want) {
				t.Errorf("%q with %q: %q holds %v, %v", text, key, got, again, err)
			}
		}
	})
}
