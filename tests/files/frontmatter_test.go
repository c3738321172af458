package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// otherReading is what tests/frontmatter/read.mjs says of one note.
type otherReading struct{ YAML, Matter reading }

type reading struct {
	Data  map[string]any
	Error string
}

// Front matter, as read_metadata tells it and property_search finds it, is what
// yaml and gray-matter read, on two thousand generated notes and on those of the
// packages below tests/docs-sets.
func TestFrontMatterAgreesWithOtherReaders(t *testing.T) {
	t.Parallel()
	need.Programs(t, "node")
	if _, err := os.Stat(harness.Repo("tests/frontmatter/node_modules/yaml")); err != nil {
		need.Missing(t, "tests/frontmatter is not installed: run npm ci there")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	notes := generatedFrontMatter(rand.New(rand.NewPCG(seed, 0)), 2100)
	s := harness.NewSandbox(t)
	for p, text := range harness.DocsSets(t, s) {
		if strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "---") {
			notes["published/"+p] = text
		}
	}
	vault := s.Vault(t, "Vault", notes)
	others := readByOthers(t, notes)
	client := s.MCP(t, "--toolsets", "notes", vault)
	compared, differing := 0, 0
	for p := range notes {
		meta := readMetadataOf(t, client, "Vault/"+p)
		if problem := others[p].compare(meta); problem != "" {
			differing++
			t.Errorf("%s: %s\nours: %v\ntext:\n%s", p, problem, meta, head(notes[p]))
			if differing == 10 {
				t.Fatal("and so on")
			}
		}
		if meta.Error == "" {
			compared++
		}
	}
	if compared < 2000 {
		t.Errorf("only %d notes have front matter that could be compared", compared)
	}
	t.Logf("%d notes, %d of them valid", len(notes), compared)
	findByOthers(t, client, others)
}

func head(text string) string { return text[:min(len(text), 600)] }

// metadata is the part of read_metadata's result that is compared.
type metadata struct {
	FrontMatter map[string]any `json:"frontmatter"`
	Error       string         `json:"frontmatter_error"`
}

func readMetadataOf(t *testing.T, client *harness.MCPClient, path string) metadata {
	t.Helper()
	var m metadata
	if err := json.Unmarshal([]byte(client.MustCall(t, "read_metadata", "path", path)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func readByOthers(t *testing.T, notes map[string]string) map[string]otherReading {
	t.Helper()
	input, err := json.Marshal(notes)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", harness.Repo("tests/frontmatter/read.mjs"))
	cmd.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("read.mjs: %v\n%s", err, stderr.Bytes())
	}
	var others map[string]otherReading
	if err := json.Unmarshal(stdout.Bytes(), &others); err != nil {
		t.Fatal(err)
	}
	return others
}

// compare says how a note is read differently, "" if it is not. What one of them
// takes for an error need not be one for another: libraries differ in what they
// forgive. But if both take it for one, so must we.
func (o otherReading) compare(m metadata) string {
	switch {
	case o.YAML.Error != "" && o.Matter.Error != "" && m.Error == "":
		return "both readers refuse it: " + o.YAML.Error
	case o.YAML.Error == "" && o.Matter.Error == "" && m.Error != "":
		return "both readers take it"
	case m.Error != "":
		return ""
	case o.YAML.Error == "" && !sameData(m.FrontMatter, o.YAML.Data, false):
		return fmt.Sprintf("yaml reads %v", o.YAML.Data)
	case o.Matter.Error == "" && !sameData(m.FrontMatter, o.Matter.Data, true):
		return fmt.Sprintf("gray-matter reads %v", o.Matter.Data)
	}
	return ""
}

// sameData compares values; where dates are told, a date of the other reader is
// the string that is its text.
func sameData(ours, theirs any, dates bool) bool {
	switch theirs := theirs.(type) {
	case map[string]any:
		if at, ok := theirs["date"].(float64); ok && dates {
			text, isText := ours.(string)
			return isText && sameDate(text, time.UnixMilli(int64(at)).UTC())
		}
		mine, ok := ours.(map[string]any)
		if !ok || len(mine) != len(theirs) {
			return false
		}
		for k, v := range theirs {
			if x, ok := mine[k]; !ok || !sameData(x, v, dates) {
				return false
			}
		}
		return true
	case []any:
		mine, ok := ours.([]any)
		if !ok || len(mine) != len(theirs) {
			return false
		}
		for i, v := range theirs {
			if !sameData(mine[i], v, dates) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(ours, theirs)
}

func sameDate(text string, at time.Time) bool {
	for _, layout := range []string{"2006-01-02", "2006-1-2", time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04:05.999Z07:00"} {
		if d, err := time.Parse(layout, text); err == nil {
			return d.UTC().Equal(at)
		}
	}
	return false
}

// findByOthers searches for properties that the other readers found, and counts.
func findByOthers(t *testing.T, client *harness.MCPClient, others map[string]otherReading) {
	t.Helper()
	want := make(map[string]int)
	for _, o := range others {
		if s, ok := o.YAML.Data["status"].(string); ok && o.YAML.Error == "" {
			want[strings.ToLower(s)]++
		}
	}
	if len(want) < 3 {
		t.Errorf("the notes have only the statuses %v", want)
	}
	for status, n := range want {
		var res struct{ Count int }
		text := client.MustCall(t, "property_search", "properties", map[string]any{"status": status})
		if err := json.Unmarshal([]byte(text), &res); err != nil || res.Count != n {
			t.Errorf("status %q: %d notes, %v, want %d", status, res.Count, err, n)
		}
	}
}

// generatedFrontMatter makes n notes whose front matter is written in many ways.
func generatedFrontMatter(r *rand.Rand, n int) map[string]string {
	values := []string{
		" plain", " 'it''s'", " \"a \\\"q\\\" \\u00e9\\n\"", " 12", " -3.5", " 1e3", " true", " False", " null", " ~", "", " # only a comment", " 2024-05-06",
		" [a, b, 'c d']", " [ ]", " {x: 1, y: [2, z]}", " [a,\n    b, # c\n  c]", " \"[[Note|alias]]\"", " [[nested]]", " http://example.com/a?b#c", " a:b",
		"\n  - one\n  - two # c\n  # between\n  - 'three'", "\n- a\n- b", "\n  - x: 1\n    y: 2\n  - z", "\n  - - deep\n    - er", "\n  x: 1\n  y:\n    z: [q]",
		" |\n  literal # text\n\n  more", " |-\n  no end", " >-\n  folded\n  text\n\n  next", " |+\n  keep", " plain over\n  two lines", " 味噌汁 🍲",
		" &a anchored", " 'multi\n  line'", " yes", " off", " 007x", " .5", " \"12\"", " C:\\path", " a - b", " 50%", " x, y", " (paren)",
	}
	statuses := []string{"open", "Done", "'later'", "\"open\"", "done # really"}
	notes := make(map[string]string, n)
	for i := range n {
		var b strings.Builder
		b.WriteString("---\n")
		for k := range r.IntN(7) {
			if r.IntN(5) == 0 {
				b.WriteString("# a comment\n")
			}
			key := []string{"key", "'quoted ", "\"double ", "with space ", "größe"}[r.IntN(5)]
			name := fmt.Sprintf("%s%d", key, k)
			if q := key[0]; q == '\'' || q == '"' {
				name += string(q)
			}
			b.WriteString(name + ":" + values[r.IntN(len(values))] + "\n")
		}
		if r.IntN(2) == 0 {
			b.WriteString("status: " + statuses[r.IntN(len(statuses))] + "\n")
		}
		b.WriteString("---\n# Body\n\nkey: not a property\n")
		text := b.String()
		if r.IntN(6) == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		notes[fmt.Sprintf("generated/%04d.md", i)] = text
	}
	return notes
}
