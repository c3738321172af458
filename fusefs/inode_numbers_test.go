package fusefs

import (
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// A path has the same number in every process; what is renamed takes its number
// along, and no two files have the same.
func TestInodeNumbers(t *testing.T) {
	t.Parallel()
	one, other := newInodeNumbers(), newInodeNumbers()
	a := one.of("F/a.md", 10)
	if other := other.of("F/a.md", 77); other != a {
		t.Errorf("F/a.md is %d in one process and %d in another", a, other)
	}
	if moved := one.of("F/c.md", 10); moved != a {
		t.Errorf("F/a.md was %d, renamed it is %d", a, moved)
	}
	if next := one.of("F/a.md", 11); next == a || next == 0 {
		t.Errorf("a new F/a.md is %d, the old one still is %d", next, a)
	}
	for _, p := range []model.Path{"F/a.md", "x", "F/灯台.md"} {
		if n := fingerprint(p); n < 2 || n >= firstInode {
			t.Errorf("number of %q is %d", p, n)
		}
	}
}

// A number that one process has given to a new file is no number of the next process.
func TestNewInodeNumbersAreNew(t *testing.T) {
	t.Parallel()
	one := newInodeNumbers()
	last := one.next()
	for time.Now().UnixMicro() <= int64(last-firstInode) {
		time.Sleep(time.Microsecond)
	}
	other := newInodeNumbers()
	if next := other.next(); next <= last || next >= 1<<53 {
		t.Errorf("the last number was %d, the next is %d", last, next)
	}
}
