package page

import (
	"os"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The KaTeX of the page is the one that npm has.
func TestBundledKaTeX(t *testing.T) {
	t.Parallel()
	installed := harness.Repo("tests/review-page/node_modules/katex")
	if _, err := os.Stat(installed); err != nil {
		need.Missing(t, "tests/review-page is not installed: run npm ci there")
	}
	for bundled, file := range map[string]string{"katex.min.js": "dist/katex.min.js", "LICENSE": "LICENSE"} {
		if harness.ReadFile(t, harness.Repo("cmd/relayfs/internal/page/katex", bundled)) != harness.ReadFile(t, installed+"/"+file) {
			t.Errorf("%s is not %s of the package", bundled, file)
		}
	}
}
