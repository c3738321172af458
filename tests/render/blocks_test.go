package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	blocks "github.com/relayfs/relayfs/diffwrap/block"
)

// TestBlocks compares the blocks that the lens sees with those of markdown-it, in notes and in notes with marks.
func TestBlocks(t *testing.T) {
	r := newRenderer(t)
	e := edits{collection: collect(t), seed: *seedFlag}
	var texts []string
	for i := range max(shortRun, *editCount) {
		x := e.make(i)
		texts = append(texts, x.before)
		if put, err := diffwrap.Put(x.before, x.after); err == nil {
			texts = append(texts, diffwrap.Apply(x.before, put))
		}
	}
	total := 0
	for batch := range slices.Chunk(texts, 300) {
		pages, err := r.pages(batch, func(int) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pages {
			total += len(p.blocks)
			if err := sameBlocks(p); err != nil {
				t.Errorf("%v\n%s", err, batch[i])
			}
		}
	}
	t.Logf("%d blocks of %d texts", total, len(texts))
}

var kindNames = [blocks.Kinds]string{"paragraph", "heading", "rule", "code", "math", "comment", "html", "table", "quote", "callout", "list", "footnote", "definition"}

// sameBlocks compares kinds and lines of blocks. A definition is no block of a page.
func sameBlocks(p page) error {
	first := 0
	var want []string
	for _, b := range p.blocks {
		switch source := p.source(b); {
		case b.kind == "front matter":
			first = b.to
		case b.to > 0: // not the notes that the plugin for footnotes makes itself
			want = append(want, fmt.Sprint(b.kind, " ", b.from, "-", b.from+strings.Count(source, "\n")))
		}
	}
	body := strings.Join(p.lines[first:], "\n")
	var got []string
	for _, b := range blocks.Scan(body) {
		if b.Kind != blocks.Definition {
			from := first + strings.Count(body[:b.Start], "\n")
			got = append(got, fmt.Sprint(kindNames[b.Kind], " ", from, "-", from+strings.Count(b.Of(body), "\n")))
		}
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Errorf("block %d: the lens sees %v, markdown-it %v", i, got[min(i, len(got)):min(i+2, len(got))], want[min(i, len(want)):min(i+2, len(want))])
		}
	}
	return nil
}
