package render

import (
	"cmp"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The notes are those of the sample vault and the Markdown files of the packages that the tests install.
var (
	packageDirs = []string{"critic", "docs-sets", "frontmatter", "mcp-client", "peer", "render", "review-page", "servers"}
	minNotes    = 2000
)

// The sizes of notes. Larger ones are changelogs, and cost time.
const (
	minNote = 40
	maxNote = 24 << 10
)

type note struct {
	name, text string
	key        uint64 // its place on the ring
}

// collection is notes on a ring of numbers, so that a note more changes few choices.
type collection struct{ sample, packages []note }

func collect(t *testing.T) collection {
	t.Helper()
	seen := make(map[uint64]bool)
	var c collection
	c.sample = read(t, harness.Repo("tests/sample-vault"), seen)
	for _, dir := range packageDirs {
		root := harness.Repo(filepath.Join("tests", dir, "node_modules"))
		if _, err := os.Stat(root); err != nil {
			need.Missing(t, "needs `npm ci` in tests/%s: %v", dir, err)
		}
		c.packages = append(c.packages, read(t, root, seen)...)
	}
	for _, notes := range [][]note{c.sample, c.packages} {
		slices.SortFunc(notes, func(a, b note) int { return cmp.Compare(a.key, b.key) })
	}
	if len(c.packages) < minNotes {
		t.Fatalf("%d different Markdown files in the packages, want %d", len(c.packages), minNotes)
	}
	return c
}

// read returns the notes below root that have no marks and that seen does not have.
func read(t *testing.T, root string, seen map[uint64]bool) (notes []note) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.EqualFold(filepath.Ext(name), ".md") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text := string(data)
		if len(text) < minNote || len(text) > maxNote || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return nil
		}
		if marks, _, furniture := diffwrap.Everything.Layout(text); len(marks) > 0 || len(furniture) > 0 {
			return nil
		}
		h := fnv.New64a()
		h.Write(data)
		if key := mix(h.Sum64()); !seen[key] {
			seen[key] = true
			notes = append(notes, note{strings.TrimPrefix(name, harness.Repo("tests")+"/"), text, key})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// mix spreads numbers over all of the ring.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// at returns the note at a place of the ring.
func at(notes []note, key uint64) note {
	i, _ := slices.BinarySearchFunc(notes, key, func(n note, key uint64) int { return cmp.Compare(n.key, key) })
	return notes[i%len(notes)]
}
