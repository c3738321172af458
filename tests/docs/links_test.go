package docs

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Every relative link leads to a file of the repository, and its anchor to a heading of that.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	for _, p := range pages {
		for _, link := range p.links {
			if strings.Contains(link, "://") {
				continue
			}
			file, anchor, anchored := strings.Cut(link, "#")
			name := p.name
			if file != "" {
				name = path.Join(path.Dir(p.name), file)
			}
			if _, err := os.Stat(harness.Repo(name)); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", p.name, link, err)
			}
			if to := pages[name]; anchored && (to == nil || !to.anchors[anchor]) {
				t.Errorf("%s: the link %s leads to no heading of %s", p.name, link, name)
			}
		}
	}
}

var codePath = regexp.MustCompile("`((?:cmd|bridge|fusefs|mcpserver|diffwrap|tests)/[A-Za-z0-9_/.-]*)`")

// Every path of the code that a page names exists.
func TestPathsOfCode(t *testing.T) {
	t.Parallel()
	for name := range readPages(t) {
		if name == "CHANGELOG.md" {
			continue // names what was removed
		}
		for _, m := range codePath.FindAllStringSubmatch(harness.ReadFile(t, harness.Repo(name)), -1) {
			if _, err := os.Stat(harness.Repo(m[1])); err != nil {
				t.Errorf("%s names `%s`, which does not exist", name, m[1])
			}
		}
	}
}

// Every page is in README's list.
func TestREADMENamesEveryPage(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	linked := make(map[string]bool)
	for _, link := range pages["README.md"].links {
		linked[link] = true
	}
	for name := range pages {
		if name != "README.md" && !linked[name] {
			t.Errorf("README.md does not link %s", name)
		}
	}
}
