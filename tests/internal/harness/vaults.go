//go:build linux

package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relayfs/relayfs/tests/need"
)

const TideTable = `# Tide table

The tide turns at six, and with it the boats turn too.
A second line of the first paragraph, left alone.

- [ ] paint the hull
- [ ] mend the sail

Last words: the harbour is quiet. 灯台 👩‍🌾 שלום
`

var ReviewNotes = map[string]string{
	"Apples.md": "We sell {--one--}{++two++} apples.\n\nAnd {++green ++}pears.\n\nNo {--plums--}{++damsons++} today.\n",
	"Bread.md":  "The {--oven--}{++kiln++} is hot.\n",
}

func (s *Sandbox) Vault(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := s.Mkdir(t, name)
	for file, text := range files {
		WriteFile(t, filepath.Join(dir, file), text)
	}
	return dir
}

func (s *Sandbox) SampleVault(t *testing.T) string {
	t.Helper()
	dir := s.Path("Garden")
	if err := os.CopyFS(dir, os.DirFS(Repo("tests/sample-vault/Garden"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// DocsSets returns the Markdown files of the npm packages below tests/docs-sets: a folder for each package, and one
// folder for their dependencies. It omits texts that relayfs and ripgrep read differently, such as texts with
// CriticMarkup, with very long lines or with invalid UTF-8.
func DocsSets(t *testing.T, s *Sandbox) (files map[string]string) {
	t.Helper()
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal([]byte(ReadFile(t, Repo("tests/docs-sets/package.json"))), &manifest); err != nil {
		t.Fatal(err)
	}
	need.Full(t, "it needs npm ci in tests/docs-sets")
	root := Repo("tests/docs-sets/node_modules")
	if _, err := os.Stat(root); err != nil {
		need.Missing(t, "tests/docs-sets is not installed: run npm ci there")
	}
	files = make(map[string]string)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		set, rest := "others", rel
		for pkg := range manifest.Dependencies {
			if after, ok := strings.CutPrefix(rel, pkg+"/"); ok {
				set, rest = strings.TrimPrefix(strings.ReplaceAll(pkg, "/", "-"), "@"), after
			}
		}
		data, err := os.ReadFile(name)
		if err == nil && utf8.Valid(data) && !bytes.Contains(data, []byte{0}) && !hasLongLine(data) && !criticMarkup.Match(data) {
			files[set+"/"+strings.TrimLeft(strings.ReplaceAll(rest, "/", "__"), ".")] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var criticMarkup = regexp.MustCompile(`\{\+\+|\{--|\{~~|\{==|\{>>`)

func hasLongLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if utf8.RuneCount(line) > 2000 {
			return true
		}
	}
	return false
}

var vaultWords = strings.Fields(`harbour slate ledger copper tide lantern meadow orchard winter kettle
	quay compass thistle granite willow ferry letter barley clock chalk ember 港 灯台 ספר שלום été naïve 🌾 👩‍🌾`)

// GeneratedVault returns n notes in folders, the same in every run. They have prose, tasks, tables, links and front
// matter, and some have CRLF line ends.
func GeneratedVault(n int) map[string]string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	files := make(map[string]string, n)
	for i := range n {
		text := generatedNote(rng, i, n)
		if i%17 == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		files[generatedName(i)] = text
	}
	return files
}

func generatedName(i int) string {
	folder := fmt.Sprintf("Area %d/Topic %d", i%7, i%23)
	switch i % 40 {
	case 11:
		return fmt.Sprintf("%s/灯台 %d 🌊.md", folder, i)
	case 22:
		return fmt.Sprintf("%s/it's %d & more.md", folder, i)
	default:
		return fmt.Sprintf("%s/Note %d.md", folder, i)
	}
}

func generatedNote(rng *rand.Rand, i, n int) string {
	var b strings.Builder
	if i%3 == 0 {
		fmt.Fprintf(&b, "---\ntags: [t%d, t%d]\nnumber: %d\n---\n", i%5, i%11, i)
	}
	fmt.Fprintf(&b, "# Note %d\n\n", i)
	for range 2 + rng.IntN(8) {
		switch rng.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "- [ ] %s\n- [x] %s\n\n", sentence(rng), sentence(rng))
		case 1:
			fmt.Fprintf(&b, "See [[Note %d]] and [[Note %d|that one]]. %s\n\n", rng.IntN(n), rng.IntN(n), sentence(rng))
		case 2:
			fmt.Fprintf(&b, "| a | b |\n| - | - |\n| %d | %s |\n\n", rng.IntN(100), sentence(rng))
		default:
			fmt.Fprintf(&b, "%s %s %s\n\n", sentence(rng), sentence(rng), sentence(rng))
		}
	}
	return b.String()
}

func sentence(rng *rand.Rand) string {
	words := make([]string, 5+rng.IntN(12))
	for i := range words {
		words[i] = vaultWords[rng.IntN(len(vaultWords))]
	}
	return strings.Join(words, " ") + "."
}
