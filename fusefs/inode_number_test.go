package fusefs

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
)

// A path has the same number in every process; what is renamed takes its number
// along, and no two files have the same.
func TestInodeNumbers(t *testing.T) {
	files := map[string]string{"F/a.md": "a\n", "F/b.md": "b\n"}
	first, second := newTestTree(t, files), newTestTree(t, files)
	number := func(tr *tree, p model.Path, id uint64) uint64 {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return tr.inoOf(p, id)
	}
	a := number(first, "F/a.md", 10)
	if other := number(second, "F/a.md", 77); other != a {
		t.Errorf("F/a.md is %d in one process and %d in another", a, other)
	}
	if moved := number(first, "F/c.md", 10); moved != a {
		t.Errorf("F/a.md was %d, renamed it is %d", a, moved)
	}
	if next := number(first, "F/a.md", 11); next == a || next == 0 {
		t.Errorf("a new F/a.md is %d, the old one still is %d", next, a)
	}
	for _, p := range []model.Path{"F/a.md", "x", "F/灯台.md"} {
		if n := fingerprint(p); n < 2 || n >= firstIno {
			t.Errorf("number of %q is %d", p, n)
		}
	}
}
