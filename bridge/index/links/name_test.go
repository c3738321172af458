package links_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/links"
)

func TestNameWarning(t *testing.T) {
	for _, name := range []string{"Plan.md", "100 % sure.md", "Käse & Brot (neu), 日本 😀.md", "a_b-c+d=e;f'g!.md"} {
		if w := links.NameWarning(name); w != "" {
			t.Errorf("%q: %s", name, w)
		}
	}
	for name, char := range map[string]string{
		"a: b.md": ":", "Why?.md": "?", `a\b.md`: `\`, `"a".md`: `"`, "<a>.md": "<", "a*.md": "*", "a|b.md": "|",
		"C#.md": "#", "a^2.md": "^", "[a].md": "[", "100%%.md": "%%",
	} {
		if w := links.NameWarning(name); !strings.Contains(w, " "+char+" ") {
			t.Errorf("%q: %q", name, w)
		}
	}
	for _, name := range []string{" New.md", "New .md", "New.md ", "\u00a0New.md", " folder", "folder ", "x.md.md"} {
		if links.NameWarning(name) == "" {
			t.Errorf("%q has no warning", name)
		}
	}
	for _, name := range []string{"New plan.md", "a.b.md", ".md", "2026.01.01.md", "md.md"} {
		if w := links.NameWarning(name); w != "" {
			t.Errorf("%q: %s", name, w)
		}
	}
}
