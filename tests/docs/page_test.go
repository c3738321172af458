package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// page is what the tests need of a Markdown file.
type page struct {
	name    string          // relative to the repository
	links   []string        // destinations, as written
	anchors map[string]bool // of the headings, as GitHub makes them
	code    []string        // the texts of code spans
	blocks  []block
}

// block is a fenced code block.
type block struct {
	info  string // language and what follows it
	lines []string
}

// readPages reads README.md, its neighbours and docs/*.md. CHANGELOG.md tells of commands that are gone.
func readPages(t *testing.T) map[string]*page {
	t.Helper()
	pages := make(map[string]*page)
	for _, file := range append(globPages(t, "docs"), globPages(t)...) {
		if filepath.Base(file) == "CHANGELOG.md" {
			continue
		}
		name, err := filepath.Rel(harness.Repo(), file)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = parse(name, source)
	}
	return pages
}

func globPages(t *testing.T, folder ...string) []string {
	t.Helper()
	files, err := filepath.Glob(harness.Repo(append(folder, "*.md")...))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages in %q: %v", folder, err)
	}
	return files
}

func parse(name string, source []byte) *page {
	p := &page{name: name, anchors: make(map[string]bool)}
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Heading:
			p.anchor(plain(n, source))
		case *ast.CodeSpan:
			p.code = append(p.code, plain(n, source))
		case *ast.FencedCodeBlock:
			b := block{}
			if n.Info != nil {
				b.info = string(n.Info.Value(source))
			}
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.lines = append(b.lines, strings.TrimRight(string(line.Value(source)), "\n"))
			}
			p.blocks = append(p.blocks, b)
		}
		return ast.WalkContinue, nil
	})
	return p
}

// plain is the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}

// anchor adds the anchor of a heading: its letters, digits, hyphens and underscores in lower case, hyphens for blanks, and a
// number if it is not the first of that name.
func (p *page) anchor(heading string) {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	unique := name
	for i := 1; p.anchors[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	p.anchors[unique] = true
}
