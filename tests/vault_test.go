package tests

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

// vault makes a directory of the given name in the sandbox and fills it.
func (s *sandbox) vault(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := s.mkdir(t, name)
	for file, text := range files {
		writeFile(t, filepath.Join(dir, file), text)
	}
	return dir
}

// sampleVault copies the vault of the demo.
func (s *sandbox) sampleVault(t *testing.T) string {
	t.Helper()
	dir := s.path("Garden")
	if err := os.CopyFS(dir, os.DirFS("sample-vault/Garden")); err != nil {
		t.Fatal(err)
	}
	return dir
}

var vaultWords = strings.Fields(`harbour slate ledger copper tide lantern meadow orchard winter kettle
	quay compass thistle granite willow ferry letter barley clock chalk ember 港 灯台 ספר שלום été naïve 🌾 👩‍🌾`)

// generatedVault returns n notes in folders, the same for every run: prose,
// tasks, tables, links among the notes, front matter, CRLF here and there.
func generatedVault(n int) map[string]string {
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

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// listFiles returns the paths below dir, sorted; folders end in "/". Dot
// directories are left out, as the mount does.
func listFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := walkFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// walkFiles is listFiles for a tree that somebody may be changing.
func walkFiles(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			name += "/"
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

// checkText compares two texts and shows where they part.
func checkText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Errorf("%s differs at byte %d:\n got %q\nwant %q", what, at, excerpt(got, at), excerpt(want, at))
}

func excerpt(s string, at int) string { return s[max(0, at-40):min(len(s), at+160)] }

// checkSuggested checks the law of the product for one note: the vault's file
// holds the difference between before and after as suggestions, no more and no
// less, and the mount shows after.
func (m *mount) checkSuggested(t *testing.T, name, before, after string) {
	t.Helper()
	checkText(t, "mount's text of "+name, readFile(t, m.path(name)), after)
	raw := readFile(t, m.vaultPath(name))
	checkText(t, "original view of the vault's "+name, diffwrap.Original(raw), before)
	checkText(t, "accepted view of the vault's "+name, diffwrap.Accepted(raw), after)
}
